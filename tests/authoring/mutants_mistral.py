"""Mutants of the suites of Mistral's chat."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import edits
from tests.authoring.edits import having
from tests.authoring.mistral import parts, thinking
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Message, at
from tests.authoring.turns import asks

MARKED: Final = "mistral.chat/mistral/end-mark"
ROUND: Final = "mistral.chat/mistral/tool-round"
LEFT_OUT: Final = "mistral.chat/never-sends-back/second-turn"
SUITE: Final = "wire/mistral"

CONTENT: Final = "choices.0.delta.content"
PART: Final = f"{CONTENT}.0"
TURN: Final = "messages.1"
THOUGHT: Final = having(f"{PART}.thinking")


def _ends_thinking(sent: Message) -> bool:
    return bool(at(sent.payload, f"{PART}.thinking") == [])


def _joined(pieces: Any) -> str:
    return "".join(piece["text"] for piece in pieces)


MUTANTS: Final = (
    Mutant(
        f"{SUITE}/thinking-in-parts",
        MARKED,
        (edits.change(THOUGHT, f"{PART}.thinking", _joined),),
    ),
    Mutant(
        f"{SUITE}/end-mark-last",
        MARKED,
        (edits.insert(parts(thinking("So it is.")), _ends_thinking, after=True),),
    ),
    Mutant(
        "history/mistral/part-known",
        ROUND,
        turns={
            2: asks(
                f"{TURN}.content",
                lambda content: [*content, {"type": "reasoning", "text": "So it is."}],
            )
        },
    ),
    Mutant(
        "history/mistral/never-sent",
        LEFT_OUT,
        turns={
            1: asks(
                f"{TURN}.content",
                lambda text: [thinking("High water.", closed=True), {"type": "text", "text": text}],
            )
        },
    ),
)
