"""Mutants of `history`: thinking that a client sends back changed, misplaced, or at all."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring.history_streams import FERRY_THOUGHT
from tests.authoring.mutant import Mutant
from tests.authoring.turns import asks

CHAT_ROUND: Final = "openai.chat/deepseek/tool-round"
LEFT_OUT: Final = "openai.chat/openhands/thinking-left-out"
ROUND: Final = "openai.responses/openai/tool-round"


def _respaced(text: str) -> str:
    """The text as its deltas look when a blank joins them."""
    return text.replace(" ", "  ")


def _otherwise_sealed(text: str) -> str:
    return text[::-1]


def _with_thinking(message: dict[str, Any]) -> dict[str, Any]:
    return {**message, "reasoning_content": FERRY_THOUGHT}


MUTANTS: Final = (
    Mutant("history/chat/never-sent", LEFT_OUT, turns={1: asks("messages.1", _with_thinking)}),
    Mutant(
        "history/chat/text-unchanged",
        CHAT_ROUND,
        turns={2: asks("messages.1.reasoning_content", _respaced)},
    ),
    # The call is lost with its result.
    Mutant(
        "history/responses/before-its-turn",
        ROUND,
        turns={2: asks("input", lambda entries: entries[:2])},
    ),
    Mutant(
        "history/responses/sealed-unchanged",
        ROUND,
        turns={2: asks("input.1.encrypted_content", _otherwise_sealed)},
    ),
)
