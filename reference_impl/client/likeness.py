"""Whom to be like: the choices in which clients differ, as one value that the other modules ask.

A system that cannot be run here is this client with other choices. A choice is what a document, the
source or a published test of that system says; what is known there as a bug is no choice.

opal                the current reasoning effort document of Opal, and its provider tests; direct
                    providers as in the earlier document
opal-earlier        the same by its earlier document: off is offered, and the default
openhands-document  the reasoning_content document of OpenHands: extract, show, store, never send
openhands-sdk       the agent SDK of OpenHands, which sends thinking back by model

A policy says whether thinking goes back to the model in the next request:

`send-back`  always: tool loops lose their thread without it, and some APIs answer 400.
`never`      never: what the OpenHands document asks for.
`by-model`   as the model is known to want it; models that nobody knows get none.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from .event import TYPES
from .wire import EVERY_API, Api

Policy = Literal["send-back", "never", "by-model"]
POLICIES: Final[tuple[Policy, ...]] = ("send-back", "never", "by-model")

# Known to want it; a vendor may be in front of a slash. The R1 API answered 400.
MODELS: Final = (
    r"(^|/)(deepseek-(?!r1)|kimi-k2-thinking|kimi-k2\.[56]|kimi-k3|minimax-m2|glm-4\.[67]|glm-5"
    r"|claude-|gpt-5|o[134])[^/]*$"
)


def sends(policy: Policy, model: str, models: str = MODELS) -> bool:
    """Whether requests to a model carry its earlier thinking."""
    if policy != "by-model":
        return policy == "send-back"
    return re.search(models, model, re.IGNORECASE) is not None


LEVELS: Final = ("off", "low", "medium", "high", "max")
SUMMARIES: Final = ("auto", "concise", "detailed")
BUDGETS: Final = {"low": 2_048, "medium": 8_192, "high": 16_384, "max": 16_384}
ANY: Final = ""
FIELD: Final = "reasoning_content"

Instructions = Literal["system", "developer", "instructions"]
Form = Literal["whole", "flat", "thinking", "message"]
Unthought = Literal["empty", "null", "absent"]


def _policy_everywhere(policy: Policy) -> dict[Api, Policy]:
    return dict.fromkeys(EVERY_API, policy)


@dataclass(frozen=True, slots=True)
class Likeness:
    """One client's choices; the values here are those of the reference client.

    Models are regular expressions, searched in the name whatever its case.
    """

    name: str = "reference"
    # What there is: APIs, ops of the harness beside start and stop, events that users see.
    apis: tuple[Api, ...] = EVERY_API
    ops: tuple[str, ...] = ()  # all of them
    events: tuple[str, ...] = TYPES
    # Thinking inside the text is found, and may be asked for by header.
    reads_markers: bool = True
    # Later thinking that the wire does not announce goes on in the first block of the answer.
    starts_once: bool = False
    # The message starts with its first text; an answer without text starts none.
    message_with_text: bool = False
    # Effort: what a user may choose, and for which models it goes out.
    levels: tuple[str, ...] = LEVELS
    default_level: str = "off"  # of models that take effort; others are off
    offers_off: bool = True  # for models that take effort
    effort_models: str = ANY
    clamps_max: bool = True  # on chat and Responses
    budgets: Mapping[str, int] = field(default_factory=lambda: BUDGETS)  # Messages, in tokens
    fits_budget: bool = False  # the budget is cut below max_tokens; else max_tokens is raised
    summary: str = "auto"  # goes beside every effort unless another is chosen
    summaries: tuple[str, ...] = (*SUMMARIES, "none")
    # Where the system prompt goes on Responses while the model thinks.
    instructions: Instructions = "developer"
    # Earlier thinking in the next request.
    history: Mapping[Api, Policy] = field(default_factory=lambda: _policy_everywhere("send-back"))
    offers_history: bool = True
    history_models: str = MODELS
    unthought_calls: Unthought = "empty"  # chat: the field of thinking where a call had none
    opaque_fields: tuple[str, ...] = ("reasoning_opaque", "reasoning_details")  # chat
    opaque_always: bool = False  # those fields go back whatever the policy says
    keeps_items: bool = True  # Responses: ids, parts and sealed content; else the text alone
    thinking_first: bool = False  # Responses, Messages: in front of all else that the turn said
    # A turn on disk, see record.py.
    stored: Form = "whole"

    def takes_effort(self, model: str) -> bool:
        """Whether a level goes out to a model."""
        return bool(self.levels) and re.search(self.effort_models, model, re.IGNORECASE) is not None

    @property
    def unthought_fields(self) -> dict[str, str | None]:
        """The fields of a chat message with calls and without thinking."""
        if self.unthought_calls == "absent":
            return {}
        return {FIELD: "" if self.unthought_calls == "empty" else None}

    def level(self, model: str) -> str:
        """The level where the user chose none."""
        return self.default_level if self.takes_effort(model) else "off"

    def offers(self, level: str, model: str) -> bool:
        """Whether a user may choose a level for a model."""
        return level != "off" or self.offers_off or not self.takes_effort(model)


REFERENCE: Final = Likeness()


def _read_likenesses() -> Iterator[Likeness]:
    """Those of the file; one that is `like` another has its choices beside its own."""
    text = Path(__file__).with_name("likenesses.toml").read_text(encoding="utf-8")
    stated = tomllib.loads(text)
    for name, own in stated.items():
        choices = {**stated.get(own.pop("like", ""), {}), **own}
        if isinstance(choices.get("history"), str):
            choices["history"] = _policy_everywhere(choices["history"])
        lists = {key: tuple(value) for key, value in choices.items() if isinstance(value, list)}
        yield Likeness(name, **{**choices, **lists})


LIKENESSES: Final = {each.name: each for each in _read_likenesses()}
