"""Mutants that users reported: words said twice, pieces that go back, counts of nothing."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.chat import Server
from tests.authoring.edits import Pieces, Step, Where
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_wire import FINGERPRINT, TEXT
from tests.authoring.pieces import Message, Piece

SAID: Final = edits.delta("content")
THOUGHT: Final = edits.delta("reasoning_content")

SHOWN: Final = ("They are ", "lit in ", "the evening, ", "a little ", "after sunset.")


def _each_twice(where: Where) -> Step:
    """Two readers of one chunk pass it on."""

    def step(pieces: Pieces) -> list[Piece]:
        twice = [[p, p] if isinstance(p, Message) and where(p) else [p] for p in pieces]
        return [piece for pair in twice for piece in pair]

    return step


MUTANTS: Final = (
    Mutant(
        "thinking/stream/said-once",
        TEXT,
        (_each_twice(THOUGHT),),
        name="thinking/stream/said-once-each-delta",
    ),
    Mutant(
        "thinking/stream/text-said-once",
        TEXT,
        (
            edits.drop(SAID),
            *(edits.insert(Server(extra=FINGERPRINT).said(content=t), SAID) for t in SHOWN),
            _each_twice(SAID),
        ),
        name="thinking/stream/text-said-once-each-delta",
    ),
)
