"""Mutants of `wire/ui-message`: starts, ends, ids, steps and the end of a UI message."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, Step, Where, typed
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import DONE, Message, Piece
from tests.authoring.ui_message import part

TEXT: Final = "vercel.ui/ai-sdk/thinking-then-text"
PARTS: Final = "vercel.ui/ai-sdk/summary-two-parts"
COUNTED: Final = "vercel.ui/ai-sdk/ids-of-each-step"
SUITE: Final = "wire/ui-message"


THOUGHT: Final = typed("reasoning-delta")
THINKING: Final = typed("reasoning-start")
THOUGHT_OVER: Final = typed("reasoning-end")
SPEAKING: Final = typed("text-start")
SPOKEN_OVER: Final = typed("text-end")
STEP_OVER: Final = typed("finish-step")


def _end(kind: str, part_id: str) -> Message:
    return Message(part(f"{kind}-end", id=part_id))


def _text(part_id: str, said: str) -> tuple[Message, ...]:
    """A whole part of text, in one delta; without any where it says nothing."""
    delta = (Message(part("text-delta", id=part_id, delta=said)),) if said else ()
    return (Message(part("text-start", id=part_id)), *delta, _end("text", part_id))


def _again(part_id: str) -> tuple[Message, ...]:
    """A thought under an id that another one had."""
    begun = Message(part("reasoning-start", id=part_id))
    said = Message(part("reasoning-delta", id=part_id, delta="Or by bus."))
    return begun, said, _end("reasoning", part_id)


def _before(where: Where, *new: Message) -> tuple[Step, ...]:
    """Pieces before another, in this order."""
    return tuple(edits.insert(each, where) for each in new)


def _text_around_thinking(pieces: Pieces) -> list[Piece]:
    """The start of the text comes before the thinking."""
    first = edits.place(pieces, THINKING)
    opened = edits.place(pieces, SPEAKING)
    rest = [*pieces[:opened], *pieces[opened + 1 :]]
    return [*rest[:first], pieces[opened], *rest[first:]]


MUTANTS: Final = (
    Mutant(
        f"{SUITE}/answer-present",
        TEXT,
        (lambda _pieces: [Message(part("data-state", data={})), DONE],),
        also=(f"{SUITE}/finish-present",),
    ),
    Mutant(
        f"{SUITE}/text-id-unique-in-step",
        COUNTED,
        tuple(edits.insert(each, STEP_OVER, 1) for each in _text("txt-0", " Or by bus.")),
    ),
    Mutant(
        f"{SUITE}/reasoning-id-unique-in-step",
        COUNTED,
        _before(SPEAKING, *_again("reasoning-0")),
    ),
    Mutant(f"{SUITE}/header", TEXT, facts={"answer_headers": ()}),
    Mutant(f"{SUITE}/text-id-unique", TEXT, _before(STEP_OVER, *_text("txt-0", " Or onions."))),
    Mutant(f"{SUITE}/reasoning-apart-from-text", PARTS, (_text_around_thinking,)),
    # Thinking that was kept back until the model had finished.
    Mutant(
        f"{SUITE}/parts-in-step",
        TEXT,
        tuple(edits.insert(each, STEP_OVER, after=True) for each in reversed(_again("late"))),
    ),
)
