"""Mutants of the suites of Ollama's chat."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, having
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Message, Piece

TEXT: Final = "ollama.chat/ollama/thinking-then-text"
SUITE: Final = "wire/ollama"

SPOKEN: Final = having("message.content")


def _as_events(pieces: Pieces) -> list[Piece]:
    """What a gateway makes of lines that speaks event streams in all its APIs."""
    return [Message(p.payload) if isinstance(p, Message) else p for p in pieces]


MUTANTS: Final = (
    Mutant(
        f"{SUITE}/framed-as-lines",
        TEXT,
        (_as_events,),
        facts={"content_type": "text/event-stream"},
        also=(f"{SUITE}/content-type",),
    ),
    Mutant(
        f"{SUITE}/utf8",
        TEXT,
        (edits.raw(SPOKEN, b"About", b"Ab\xc3out"),),
        also=("thinking/stream/characters-whole",),
    ),
)
