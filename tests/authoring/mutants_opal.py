"""Mutants of `wire/opal-rpc`."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Where
from tests.authoring.mutant import Mutant
from tests.authoring.opal import event
from tests.authoring.pieces import at

TEXT: Final = "opal.rpc/opal/thinking-then-message"
FAILED: Final = "opal.rpc/opal/error-in-message"
SUITE: Final = "wire/opal-rpc"


def told(kind: str) -> Where:
    """Events of the agent of that type."""
    return lambda message: bool(at(message.payload, "params.type") == kind)


TURN: Final = told("turn_end")
ERROR: Final = told("error")

LATER: Final = event("thinking_delta", delta="Hm.")

MUTANTS: Final = (
    # Lines of the provider that came with the failing one.
    Mutant(
        f"{SUITE}/silent-after-run",
        FAILED,
        (edits.insert(event("message_delta", delta="Hm."), ERROR, after=True),),
        (f"{SUITE}/message-started",),
    ),
    Mutant(
        f"{SUITE}/thinking-before-message",
        TEXT,
        (edits.insert(event("thinking_start"), TURN), edits.insert(LATER, TURN)),
    ),
)
