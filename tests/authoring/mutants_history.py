"""Mutants of `history`: thinking that a client sends back changed, misplaced, or at all."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring.history_streams import FERRY_THOUGHT
from tests.authoring.mutant import Mutant
from tests.authoring.turns import asks

LEFT_OUT: Final = "openai.chat/openhands/thinking-left-out"


def _with_thinking(message: dict[str, Any]) -> dict[str, Any]:
    return {**message, "reasoning_content": FERRY_THOUGHT}


MUTANTS: Final = (
    Mutant("history/chat/never-sent", LEFT_OUT, turns={1: asks("messages.1", _with_thinking)}),
)
