"""Mutants of `wire/codex-exec`."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import typed
from tests.authoring.mutant import Mutant

TEXT: Final = "codex.exec/codex/reasoning-then-message"
SHOWN: Final = "codex.exec/codex/reasoning-shown"
RUN: Final = "codex.exec/codex/command-run"
FAILED: Final = "codex.exec/codex/turn-failed"
SUITE: Final = "wire/codex-exec"

THREAD: Final = typed("thread.started")
TURN: Final = typed("turn.started")
OVER: Final = typed("turn.completed")
FAILURE: Final = typed("turn.failed")
THOUGHT: Final = typed("item.completed", "reasoning")
MESSAGE: Final = typed("item.completed", "agent_message")
COMMAND: Final = typed("item.completed", "command_execution")

MUTANTS: Final = (
    Mutant(f"{SUITE}/turn-ended", TEXT, (edits.drop(OVER),)),
    # A prompt that came in between is taken up at once.
    Mutant(f"{SUITE}/turn-closed", TEXT, (edits.duplicate(TURN),)),
    Mutant(f"{SUITE}/thread-first", TEXT, (edits.move(THREAD, by=1),)),
    Mutant(f"{SUITE}/thread-once", TEXT, (edits.duplicate(THREAD),)),
    Mutant(f"{SUITE}/items-in-turn", TEXT, (edits.move(TURN, by=1),)),
    Mutant(
        f"{SUITE}/turn-last",
        TEXT,
        (edits.move(MESSAGE, by=1),),
    ),
    Mutant(f"{SUITE}/line-typed", RUN, (edits.remove(typed("item.started"), "type"),)),
    Mutant(f"{SUITE}/line-fields", TEXT, (edits.remove(THREAD, "thread_id"),)),
    Mutant(f"{SUITE}/item-fields", TEXT, (edits.remove(THOUGHT, "item.id"),)),
    Mutant(f"{SUITE}/item-once", TEXT, (edits.duplicate(MESSAGE),)),
    Mutant(f"{SUITE}/item-completed", RUN, (edits.drop(COMMAND),)),
    Mutant(f"{SUITE}/item-says-something", TEXT, (edits.change(THOUGHT, "item.text", ""),)),
    Mutant(f"{SUITE}/usage-counted", TEXT, (edits.remove(OVER, "usage.output_tokens"),)),
    Mutant(
        f"{SUITE}/reasoning-within-output",
        TEXT,
        (edits.change(OVER, "usage.reasoning_output_tokens", 400),),
    ),
    # Raw reasoning, which the lines leave out.
    Mutant(f"{SUITE}/counted-reasoning-shown", SHOWN, (edits.drop(THOUGHT),)),
    Mutant(f"{SUITE}/failure-said", FAILED, (edits.remove(FAILURE, "error.message"),)),
)
