"""Mutants of `wire/codex-app-server`."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Where
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import at

TEXT: Final = "codex.app-server/codex/summary-then-message"
RAW: Final = "codex.app-server/codex/raw-then-message"
FAILED: Final = "codex.app-server/codex/turn-failed"
SUITE: Final = "wire/codex-app-server"


def sent(method: str, item: str = "") -> Where:
    """Notifications of that method, and if named only those about items of a type."""

    def where(message: object) -> bool:
        payload = getattr(message, "payload", None)
        if item and at(payload, "params.item.type") != item:
            return False
        return bool(at(payload, "method") == method)

    return where


BEGUN: Final = sent("turn/started")
OVER: Final = sent("turn/completed")
STARTED: Final = sent("item/started", "reasoning")
THOUGHT: Final = sent("item/completed", "reasoning")
MESSAGE: Final = sent("item/completed", "agentMessage")
PART: Final = sent("item/reasoning/summaryPartAdded")
SUMMARY: Final = sent("item/reasoning/summaryTextDelta")
PIECE: Final = sent("item/reasoning/textDelta")
SPOKEN: Final = sent("item/agentMessage/delta")
COUNTED: Final = sent("thread/tokenUsage/updated")
TOTAL: Final = "params.tokenUsage.total"

MUTANTS: Final = (
    Mutant(f"{SUITE}/turn-ended", TEXT, (edits.drop(OVER),), (f"{SUITE}/turn-finished",)),
    Mutant(f"{SUITE}/turn-first", TEXT, (edits.move(BEGUN, by=2),)),
    Mutant(f"{SUITE}/turn-closed", TEXT, (edits.duplicate(BEGUN),)),
    Mutant(f"{SUITE}/turn-last", TEXT, (edits.duplicate(OVER),)),
    Mutant(
        f"{SUITE}/turn-finished",
        TEXT,
        (edits.change(OVER, "params.threadId", "thread-2"),),
    ),
    Mutant(f"{SUITE}/turn-named", TEXT, (edits.change(OVER, "params.turn.id", "turn-2"),)),
    Mutant(
        f"{SUITE}/item-in-turn",
        TEXT,
        (edits.change(STARTED, "params.turnId", "turn-0"),),
        (f"{SUITE}/item-stays",),
    ),
    Mutant(
        f"{SUITE}/item-type-agrees",
        "codex.app-server/codex/command-run",
        (edits.change(sent("item/completed", "commandExecution"), "params.item.type", "command"),),
    ),
    Mutant(f"{SUITE}/item-stays", TEXT, (edits.change(MESSAGE, "params.turnId", "turn-0"),)),
    Mutant(f"{SUITE}/item-in-thread", TEXT, (edits.change(SPOKEN, "params.threadId", "other"),)),
    Mutant(f"{SUITE}/message-typed", TEXT, (edits.remove(COUNTED, "method"),)),
    Mutant(f"{SUITE}/item-fields", TEXT, (edits.remove(STARTED, "params.item.type"),)),
    Mutant(f"{SUITE}/turn-fields", TEXT, (edits.remove(BEGUN, "params.turn.items"),)),
    Mutant(f"{SUITE}/error-fields", FAILED, (edits.remove(sent("error"), "params.willRetry"),)),
    Mutant(f"{SUITE}/status-known", TEXT, (edits.change(OVER, "params.turn.status", "done"),)),
    Mutant(f"{SUITE}/failure-said", FAILED, (edits.change(OVER, "params.turn.error", None),)),
    Mutant(f"{SUITE}/item-opened", TEXT, (edits.drop(STARTED),)),
    # The item was given up when another one was completed.
    Mutant(f"{SUITE}/item-open-once", TEXT, (edits.duplicate(STARTED),)),
    # The turn broke off in the thinking.
    Mutant(
        f"{SUITE}/item-closed",
        FAILED,
        (edits.drop(THOUGHT),),
    ),
    Mutant(
        f"{SUITE}/item-over", TEXT, (edits.move(SPOKEN, -1, by=1),), (f"{SUITE}/message-agrees",)
    ),
    Mutant(f"{SUITE}/ids-stated", TEXT, (edits.remove(MESSAGE, "params.turnId"),)),
    Mutant(f"{SUITE}/part-opened", TEXT, (edits.drop(PART, -1),), (f"{SUITE}/parts-kept",)),
    Mutant(
        f"{SUITE}/part-contiguous",
        TEXT,
        (edits.change(PART, "params.summaryIndex", 4),),
        (f"{SUITE}/part-opened",),
    ),
    Mutant(f"{SUITE}/summary-agrees", TEXT, (edits.drop(SUMMARY),)),
    Mutant(f"{SUITE}/raw-agrees", RAW, (edits.drop(PIECE),)),
    # Of several parts the first one is kept.
    Mutant(
        f"{SUITE}/parts-kept",
        TEXT,
        (edits.change(THOUGHT, "params.item.summary", lambda parts: parts[:1]),),
    ),
    # The item is given up, and its text with it.
    Mutant(f"{SUITE}/reasoning-kept", RAW, (edits.change(THOUGHT, "params.item.content", []),)),
    Mutant(f"{SUITE}/message-agrees", TEXT, (edits.drop(SPOKEN),)),
    Mutant(
        f"{SUITE}/turn-agrees", TEXT, (edits.change(OVER, "params.turn.items.0.text", "Moss."),)
    ),
    Mutant(f"{SUITE}/usage-fields", TEXT, (edits.remove(COUNTED, f"{TOTAL}.outputTokens"),)),
    # The reasoning is counted beside the output.
    Mutant(
        f"{SUITE}/reasoning-within-output",
        TEXT,
        (edits.change(COUNTED, f"{TOTAL}.reasoningOutputTokens", 31),),
    ),
    Mutant(f"{SUITE}/total-is-sum", TEXT, (edits.change(COUNTED, f"{TOTAL}.totalTokens", 88),)),
)
