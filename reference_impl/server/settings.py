"""The settings that the server was started with.

Presets are what other servers are documented to do, as choices over this one. Each is a model of a
system at one time, after its documents and its published tests. Its known bugs are no choices:
where one is wanted, there is a named defect. A choice that no document names is that of the
reference.

`neuron-may`     helexa neuron from 2026-05-31 on: thinking is stripped unless a header asks for it.
`neuron-august`  helexa neuron from 2026-08-19 on: thinking in `reasoning_content` by default.
`ogx-streamed`   OGX PR #5451 as it stood on 2026-04-09: summaries as a streamed lifecycle.
`ogx-merged`     OGX PR #5451 as merged on 2026-04-21, to 1.5.0: the summary in the closed item.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from .effort import LEVELS

ChatReasoning = Literal["strip", "wrap", "reasoning_content", "reasoning", "parts"]
SummaryStyle = Literal["auto", "concise", "detailed"]
SummaryCarrier = Literal["events", "item_done", "none"]
SummaryParts = Literal["paragraphs", "whole"]
SummaryFailure = Literal["failed", "empty"]
MessagesThinking = Literal["shown", "redacted"]
Unseen = Literal["thought", "skipped"]
ResponsesThinking = Literal["content", "summary"]
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """Choices of the command line and of a preset (`likeness`); `max_body` is in bytes.

    The opt-in to see thinking in Chat Completions is the header `include_header`, or, where it is
    not empty, the field at the dotted path `include_field` of the request. `model_name` is what
    the model is called, empty for the name that the engine gives it.
    """

    model_name: str = ""
    api_key: str = ""
    include_header: str = "x-include-thinking"
    include_field: str = ""
    max_body: int = 4 * MIB
    levels: tuple[str, ...] = LEVELS
    """Levels of effort, beside `none`, that are not refused."""

    # Chat Completions
    chat_reasoning: ChatReasoning = "strip"
    opt_in_wraps: bool = False
    """The opt-in wraps thinking in markers also where it has a field of its own."""
    unseen: Unseen = "thought"
    """The treatment of hidden thinking; the switch of the chat template wins."""
    usage_unasked: bool = False
    zero_details: bool = True
    """Usage counts reasoning and cached tokens also where there are none."""
    chat_done: bool = True

    # Responses
    responses_thinking: ResponsesThinking = "content"
    """Raw thinking has a content part, or is published as if it were a summary."""
    needs_effort: bool = False
    """Thinking is shown only where the request sets an effort."""
    thinks_once: bool = False
    """Thinking that comes after text or calls is left out."""
    always_a_message: bool = False
    """A turn of nothing but thinking and calls has a message too, an empty one."""
    event_lines: bool = True
    remembers: bool = True
    """Earlier responses can be named by `previous_response_id`."""
    reads_reasoning: bool = True
    """Reasoning items of the input become part of the conversation."""
    seals: bool = True
    """`reasoning.encrypted_content` can be included; else the wish is skipped in silence."""

    # Summaries
    summary_carrier: SummaryCarrier = "events"
    summary_parts: SummaryParts = "paragraphs"
    summary_text_done: bool = True
    """A part of a summary states its text (`reasoning_summary_text.done`) before it closes."""
    summary_failure: SummaryFailure = "failed"

    # Messages
    messages_thinking: MessagesThinking = "shown"


REFERENCE: Final = "reference"

_NEURON: Final = Settings(
    opt_in_wraps=True,
    usage_unasked=True,
    zero_details=False,
    responses_thinking="summary",
    summary_carrier="none",  # there is no second call
    thinks_once=True,
    always_a_message=True,
    remembers=False,
    reads_reasoning=False,
)
_OGX: Final = Settings(
    levels=("minimal", "low", "medium", "high", "xhigh"),
    chat_reasoning="reasoning",
    chat_done=False,
    needs_effort=True,
    event_lines=False,
    seals=False,
)

LIKENESSES: Final[Mapping[str, Settings]] = {
    REFERENCE: Settings(),
    "neuron-may": replace(_NEURON, chat_reasoning="strip", unseen="skipped"),
    "neuron-august": replace(_NEURON, chat_reasoning="reasoning_content"),
    # The thread lists parts without and with `reasoning_summary_text.done`; the code had it.
    "ogx-streamed": replace(_OGX, summary_carrier="events", summary_text_done=True),
    "ogx-merged": replace(_OGX, summary_carrier="item_done", summary_parts="whole"),
}
"""Name -> choices; those of the command line are laid over them."""
