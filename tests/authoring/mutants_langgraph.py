"""Mutants of the suite of LangGraph's server."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring.edits import Step, Where
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Message, Piece, at

_BASES: Final = "langgraph/langgraph"
THINKS, ROUND, CHAT, PLAIN = "thinking-then-text", "tool-round", "chat", "no-thinking"
FAILED, PARTIAL, SUBGRAPH = "error-in-text", "partial", "subgraph"


def _named(name: str) -> Where:
    return lambda message: message.event.partition("|")[0] == name


def _chunk(holds: Where) -> Where:
    """Chunks of messages of which this holds."""
    named = _named("messages")
    return lambda m: named(m) and at(m.payload, "0.type") == "AIMessageChunk" and holds(m)


def _of_wire(
    rule: str, base: str, *steps: Step, also: tuple[str, ...] = (), name: str = ""
) -> Mutant:
    broken = tuple(f"wire/langgraph/{each}" if "/" not in each else each for each in also)
    named = f"wire/langgraph/{name}" if name else ""
    return Mutant(f"wire/langgraph/{rule}", f"{_BASES}/{base}", steps, also=broken, name=named)


def _unnamed(pieces: Any) -> list[Piece]:
    """Only the data lines."""
    return [Message(piece.payload) for piece in pieces]


def _in_both(pieces: Any) -> list[Piece]:
    """The graph around a graph streams what that does."""
    both: list[Piece] = []
    for piece in pieces:
        both.append(piece)
        if _chunk(lambda _message: True)(piece):
            both.append(Message(piece.payload, "messages"))
    return both


MUTANTS: Final = (
    # A proxy that writes anew what it read.
    _of_wire("event-line", PLAIN, _unnamed),
    # What a subgraph streams, the graph around it streams, too.
    _of_wire("one-namespace", SUBGRAPH, _in_both),
)
