"""Mutants of `wire/agui`: runs, messages, spans and what is sealed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.authoring import edits
from tests.authoring.agui import event
from tests.authoring.edits import typed
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import DONE, Fields, Message, Piece, at

TEXT: Final = "agui/agent/thinking-then-text"
TOOLS: Final = "agui/agent/tool-and-snapshot"
SUITE: Final = "wire/agui"

SPAN: Final = typed("REASONING_START")
SNAPSHOT: Final = typed("MESSAGES_SNAPSHOT")


def _restated(edited: Callable[[Fields], Fields]) -> edits.Step:
    """The snapshot states the last message, the answer, in another way."""

    def step(pieces: edits.Pieces) -> list[Piece]:
        spot = edits.place(pieces, SNAPSHOT)
        snapshot = pieces[spot]
        assert isinstance(snapshot, Message)
        messages = at(snapshot.payload, "messages")
        changed = [*messages[:-1], edited(messages[-1])]
        return edits.change(SNAPSHOT, "messages", changed)(pieces)

    return step


def _text_around_reasoning(pieces: edits.Pieces) -> list[Piece]:
    """The text of the second step is opened before its reasoning."""
    opened, span = edits.place(pieces, typed("TEXT_MESSAGE_START")), edits.place(pieces, SPAN, 1)
    rest = [*pieces[:opened], *pieces[opened + 1 :]]
    return [*rest[:span], pieces[opened], *rest[span:]]


def _of(
    base: str,
    name: str,
    begins: str,
    goes_on: str,
    also: tuple[str, ...] = (),
    at_end: tuple[str, ...] = (),
) -> tuple[Mutant, ...]:
    """Mutants of the life of a message or a call; the words are those of its event types."""
    start, delta, end = typed(f"{begins}_START"), typed(goes_on), typed(f"{begins}_END")
    return (
        Mutant(f"{SUITE}/{name}-opened", base, (edits.drop(start),)),
        Mutant(f"{SUITE}/{name}-over", base, (edits.move(delta, -1, by=1),), also),
        # A start for every delta.
        Mutant(f"{SUITE}/{name}-open-once", base, (edits.duplicate(start),)),
        Mutant(f"{SUITE}/{name}-closed", base, (edits.drop(end),), at_end),
    )


MUTANTS: Final = (
    # Ended as Chat Completions end.
    Mutant(f"{SUITE}/no-sentinel", TEXT, (lambda pieces: [*pieces, DONE],)),
    Mutant(
        f"{SUITE}/answer-present",
        TEXT,
        (lambda _pieces: [Message(event("CUSTOM", name="state", value={}))],),
        (f"{SUITE}/run-first",),
    ),
    *_of(TEXT, "text", "TEXT_MESSAGE", "TEXT_MESSAGE_CONTENT"),
    *_of(TEXT, "reasoning", "REASONING_MESSAGE", "REASONING_MESSAGE_CONTENT"),
    # The text stays open while the model thinks on.
    Mutant(f"{SUITE}/reasoning-apart-from-text", TOOLS, (_text_around_reasoning,)),
    # A store that keeps what was said, and no results.
    Mutant(
        f"{SUITE}/snapshot-has-calls",
        TOOLS,
        (
            edits.change(
                SNAPSHOT,
                "messages",
                lambda all_of_them: [m for m in all_of_them if m["role"] != "tool"],
            ),
        ),
    ),
    # The store of messages joins the answer with what it knew before.
    Mutant(
        f"{SUITE}/snapshot-adds-nothing",
        TOOLS,
        (_restated(lambda message: {**message, "content": f"{message['content']} And on."}),),
    ),
    Mutant(
        f"{SUITE}/snapshot-keeps-ids",
        TOOLS,
        (_restated(lambda message: {**message, "id": "stored-1"}),),
    ),
    # The adapter keeps the reasoning of the last call alone.
    Mutant(
        f"{SUITE}/snapshot-has-thinking",
        TOOLS,
        (
            edits.change(
                SNAPSHOT,
                "messages",
                lambda all_of_them: [m for m in all_of_them if m["id"] != "r1"],
            ),
        ),
    ),
)
