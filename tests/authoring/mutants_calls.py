"""Mutants of `history/calls`: a turn stopped before its result, a history cut inside a turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tests.authoring.mutant import Mutant
from tests.authoring.turns import asks

ANSWERED: Final = "history/calls/answered"
ASKED: Final = "history/calls/asked"
DISTINCT: Final = "history/calls/ids-distinct"
LEFT_OPEN: Final = "history/calls/none-left-open"
STOPPED: Final = "Leave it, and say what you know."
WORDS: Final[Mapping[str, Any]] = {"role": "user", "content": STOPPED}
# Base, field of its history, what the user says instead of the result that is last in it.
ROUNDS: Final = (
    ("openai.chat/deepseek/tool-round", "messages", WORDS),
    ("mistral.chat/mistral/tool-round", "messages", WORDS),
    ("openai.responses/openai/tool-round", "input", WORDS),
    ("anthropic.messages/anthropic/tool-round", "messages", WORDS),
    (
        "bedrock.converse/claude/tool-round",
        "messages",
        {"role": "user", "content": [{"text": STOPPED}]},
    ),
    (
        "gemini.generate/gemini/tool-round",
        "contents",
        {"role": "user", "parts": [{"text": STOPPED}]},
    ),
)


def _unanswered(base: str) -> str:
    """The rule that a call without its result breaks."""
    return LEFT_OPEN if base.startswith("gemini.generate/") else ANSWERED


def _named(rule: str, base: str) -> str:
    """Of the first base the mutant has the name of its rule."""
    return (
        rule
        if base == ROUNDS[0][0] or rule == LEFT_OPEN
        else f"{rule}-{base.partition('/')[0].replace('.', '-')}"
    )


def _called_twice(entries: list[Any]) -> list[Any]:
    """A history whose turn of the model has its last part, the call, once more."""
    *before, turn, result = entries
    return [*before, {**turn, "content": [*turn["content"], turn["content"][-1]]}, result]


MUTANTS: Final = (
    *(
        Mutant(DISTINCT, base, name=name, turns={2: asks("messages", _called_twice)})
        for base, name in (
            ("anthropic.messages/anthropic/tool-round", DISTINCT),
            ("bedrock.converse/claude/tool-round", f"{DISTINCT}-bedrock-converse"),
        )
    ),
    *(
        Mutant(
            _unanswered(base),
            base,
            name=_named(_unanswered(base), base),
            turns={2: asks(history, lambda entries, said=said: [*entries[:-1], said])},
        )
        for base, history, said in ROUNDS
    ),
    *(
        Mutant(
            ASKED,
            base,
            name=_named(ASKED, base),
            turns={2: asks(history, lambda entries: entries[-1:])},
        )
        for base, history, _ in ROUNDS
    ),
)
