"""Mutants of `hop`: what an application loses, doubles, delays or covers up of its provider's."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, Where, done, typed
from tests.authoring.messages_streams import BREAD
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_ui_message import (
    FINISH,
    SPEAKING,
    SPOKEN,
    SPOKEN_OVER,
    STEP_OVER,
    THINKING,
    THOUGHT,
    THOUGHT_OVER,
)
from tests.authoring.pieces import Message, Piece, opaque
from tests.authoring.turns import asks
from tests.authoring.ui_message import own, part

SIGNED: Final = "vercel.ui/ai-sdk/hops-signed"
LOOP: Final = "vercel.ui/ai-sdk/hops-tool-loop"
FAILED: Final = "vercel.ui/ai-sdk/hops-error"
HIDDEN: Final = "vercel.ui/ai-sdk/hops-hidden"
AGUI: Final = "agui/agent/hops-signed"
UI: Final = "wire/ui-message"
ERROR: Final = typed("error")


def _behind(where: Where, *moved: Where) -> edits.Step:
    """The pieces of some kinds go behind the last one of another."""

    def step(pieces: Pieces) -> list[Piece]:
        late = [p for p in pieces if isinstance(p, Message) and any(each(p) for each in moved)]
        rest = [p for p in pieces if not any(p is each for each in late)]
        spot = edits.place(rest, where, -1) + 1
        return [*rest[:spot], *late, *rest[spot:]]

    return step


def _empty(part_id: str) -> tuple[Message, Message]:
    """A part of reasoning that says nothing, and yet holds something for the provider."""
    sealed = own(itemId=part_id)
    return (
        Message(part("reasoning-start", id=part_id, **sealed)),
        Message(part("reasoning-end", id=part_id, **sealed)),
    )


MUTANTS: Final = (
    # A warning of the application's own is written into the answer.
    Mutant(
        "hop/text",
        SIGNED,
        (edits.insert(Message(part("text-delta", id="1", delta="[retrying] ")), SPOKEN),),
    ),
    Mutant("hop/tools", LOOP, (edits.change_all(edits.having("toolName"), "toolName", "tool"),)),
    Mutant("hop/thinking", SIGNED, (edits.drop(THOUGHT, 1),)),
    # One item of the provider becomes two parts, the first empty.
    Mutant(
        "hop/thinking-parts",
        SIGNED,
        (
            edits.insert(_empty("empty")[0], THINKING),
            edits.insert(_empty("empty")[1], THINKING, after=True),
        ),
    ),
    Mutant(
        "hop/thinking-apart",
        AGUI,
        (_behind(typed("TEXT_MESSAGE_CONTENT"), typed("REASONING_MESSAGE_END")),),
    ),
    Mutant(
        "hop/order",
        SIGNED,
        (_behind(SPOKEN_OVER, THINKING, THOUGHT, THOUGHT_OVER),),
    ),
    Mutant(
        "hop/opaque",
        SIGNED,
        (
            edits.change(
                edits.having("providerMetadata.provider.signature"),
                "providerMetadata.provider.signature",
                opaque("another signature"),
            ),
        ),
    ),
    # The loop goes on without what sealed the thought before the call; the interface has it.
    Mutant(
        "hop/opaque-returned",
        LOOP,
        turns={3: asks("input.1.encrypted_content", opaque("another item", 96))},
    ),
    # What is said to be hidden goes into data of the application's own.
    Mutant(
        "hop/thinking-hidden",
        HIDDEN,
        (edits.insert(Message(part("data-log", data={"model": BREAD})), SPEAKING),),
    ),
    Mutant(
        "stripping/hidden/nothing-sent",
        HIDDEN,
        tuple(edits.insert(each, SPEAKING) for each in _empty("0")),
    ),
    Mutant(
        "hop/failure-no-success",
        FAILED,
        (edits.drop(ERROR), edits.change(FINISH, "finishReason", "stop")),
    ),
    Mutant(
        "hop/failure-told",
        FAILED,
        (edits.drop(ERROR), edits.drop(STEP_OVER), edits.drop(FINISH), edits.drop(done)),
        also=(f"{UI}/done-present",),
    ),
    Mutant(
        "hop/answer-whole",
        SIGNED,
        (
            edits.insert(Message(part("error", errorText="An error occurred.")), STEP_OVER),
            edits.change(FINISH, "finishReason", "error"),
        ),
    ),
)
