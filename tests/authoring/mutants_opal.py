"""Mutants of `wire/opal-rpc`."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Where
from tests.authoring.mutant import Mutant
from tests.authoring.opal import event
from tests.authoring.pieces import at

TEXT: Final = "opal.rpc/opal/thinking-then-message"
TOOLS: Final = "opal.rpc/opal/tool-loop"
FAILED: Final = "opal.rpc/opal/error-in-message"
SUITE: Final = "wire/opal-rpc"


def told(kind: str) -> Where:
    """Events of the agent of that type."""
    return lambda message: bool(at(message.payload, "params.type") == kind)


BEGUN: Final = told("agent_start")
OVER: Final = told("agent_end")
THINKS: Final = told("thinking_start")
THOUGHT: Final = told("thinking_delta")
SPEAKS: Final = told("message_start")
TURN: Final = told("turn_end")
TOOL: Final = told("tool_start")
TOOL_OVER: Final = told("tool_end")
ERROR: Final = told("error")

LATER: Final = event("thinking_delta", delta="Hm.")

MUTANTS: Final = (
    Mutant(f"{SUITE}/carries", TEXT, (edits.change(THOUGHT, "params.type", "thinking-delta"),)),
    Mutant(f"{SUITE}/run-ended", TEXT, (edits.drop(OVER),)),
    Mutant(f"{SUITE}/run-first", TEXT, (edits.move(BEGUN, by=1),)),
    Mutant(f"{SUITE}/run-once", TEXT, (edits.duplicate(BEGUN),)),
    # Lines of the provider that came with the failing one.
    Mutant(
        f"{SUITE}/silent-after-run",
        FAILED,
        (edits.insert(event("message_delta", delta="Hm."), ERROR, after=True),),
        (f"{SUITE}/message-started",),
    ),
    Mutant(f"{SUITE}/thinking-opened", TEXT, (edits.drop(THINKS),)),
    Mutant(f"{SUITE}/thinking-started-once", TEXT, (edits.duplicate(THINKS),)),
    # A reasoning item without a summary.
    Mutant(f"{SUITE}/thinking-says-something", TEXT, (edits.drop_all(THOUGHT),)),
    Mutant(
        f"{SUITE}/thinking-before-message",
        TEXT,
        (edits.insert(event("thinking_start"), TURN), edits.insert(LATER, TURN)),
    ),
    Mutant(f"{SUITE}/delta-text", TEXT, (edits.remove(THOUGHT, "params.delta"),)),
    # The first chunk of the provider has role and text at once.
    Mutant(f"{SUITE}/message-started", TEXT, (edits.drop(SPEAKS),)),
    # The provider sends the role with every chunk.
    Mutant(f"{SUITE}/message-started-once", TEXT, (edits.duplicate(SPEAKS),)),
    Mutant(f"{SUITE}/text-agrees", TEXT, (edits.change(TURN, "params.message", "Hm."),)),
    Mutant(f"{SUITE}/tool-started", TOOLS, (edits.drop(TOOL),)),
    Mutant(f"{SUITE}/tool-started-once", TOOLS, (edits.duplicate(TOOL),)),
    Mutant(f"{SUITE}/tool-over", TOOLS, (edits.duplicate(TOOL_OVER),)),
    Mutant(f"{SUITE}/tool-ended", TOOLS, (edits.drop(TOOL_OVER),)),
    Mutant(f"{SUITE}/error-said", FAILED, (edits.change(ERROR, "params.reason", ""),)),
)
