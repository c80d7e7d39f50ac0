"""What the server was started with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from .effort import LEVELS
from .engine import Generates

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
    """What becomes of thinking that stays hidden; the switch of the chat template wins."""
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


class Model(Generates, Protocol):
    """An engine that can say which model it runs."""

    @property
    def model_id(self) -> str: ...

    @property
    def context(self) -> int: ...
