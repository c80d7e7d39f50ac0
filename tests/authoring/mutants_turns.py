"""Mutants with the fault in the second answer of a connection, or in the end of the first."""

from __future__ import annotations

from typing import Final

from tests.authoring import acp, agui, edits
from tests.authoring.edits import Where, typed
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_acp import STOPPED
from tests.authoring.pieces import Message, at
from tests.authoring.turn_streams import BOTH, TIDE, TWO

ACP: Final = f"acp/agent/{TWO}"
BOTH_SIDES: Final = f"acp/agent/{BOTH}"
AGUI: Final = f"agui/agent/{TWO}"
EXEC: Final = f"codex.exec/codex/{TWO}"
SERVER: Final = f"codex.app-server/codex/{TWO}"
CLAUDE: Final = f"claude.stream-json/claude-code/{TWO}"


def method(name: str) -> Where:
    """Notifications of that method."""
    return lambda message: bool(at(message.payload, "method") == name)


def of_item(kind: str) -> Where:
    """What is said when an item of that type is completed."""
    return lambda message: bool(
        at(message.payload, "method") == "item/completed"
        and at(message.payload, "params.item.type") == kind
    )


LATE_THOUGHT: Final = acp.chunks("thought", TIDE)[0]
LATE_CHUNK: Final = Message(agui.event("REASONING_MESSAGE_CHUNK", messageId="r9", delta="Late."))
FINISHED: Final = typed("RUN_FINISHED")
OVER: Final = method("turn/completed")

IN_SECOND: Final = (
    Mutant(
        "wire/acp/silent-after-response",
        BOTH_SIDES,
        (edits.insert(LATE_THOUGHT, STOPPED, -1, after=True),),
        name="turns/acp/thought-after-finish",
    ),
    Mutant(
        "wire/acp/prompt-answered",
        BOTH_SIDES,
        (edits.drop(STOPPED, -1),),
        name="turns/acp/not-answered",
    ),
    Mutant(
        "wire/acp/prompt-answered",
        ACP,
        (edits.drop(STOPPED, -1),),
        name="turns/acp/not-answered-by-agent",
    ),
    Mutant(
        "wire/acp/stop-reason-known",
        BOTH_SIDES,
        (edits.remove(STOPPED, "result.stopReason", -1),),
        name="turns/acp/no-stop-reason",
    ),
    Mutant(
        "wire/agui/silent-after-run",
        AGUI,
        (edits.insert(LATE_CHUNK, FINISHED, -1, after=True),),
        name="turns/agui/thought-after-finish",
    ),
    Mutant(
        "wire/agui/run-ended", AGUI, (edits.drop(FINISHED, -1),), name="turns/agui/not-finished"
    ),
    Mutant(
        "wire/agui/reasoning-closed",
        AGUI,
        (edits.drop(typed("REASONING_MESSAGE_END"), -1),),
        name="turns/agui/thought-left-open",
    ),
    Mutant(
        "wire/codex-exec/turn-last",
        EXEC,
        (edits.move(typed("item.completed", "agent_message"), -1, by=1),),
        name="turns/codex-exec/message-after-finish",
    ),
    Mutant(
        "wire/codex-exec/turn-ended",
        EXEC,
        (edits.drop(typed("turn.completed"), -1),),
        name="turns/codex-exec/not-completed",
    ),
    Mutant(
        "wire/codex-exec/reasoning-within-output",
        EXEC,
        (edits.change(typed("turn.completed"), "usage.reasoning_output_tokens", 31, -1),),
        name="turns/codex-exec/overcounted",
    ),
    Mutant(
        "wire/codex-app-server/turn-ended",
        SERVER,
        (edits.drop(OVER, -1),),
        ("wire/codex-app-server/turn-finished",),
        name="turns/codex-app-server/not-completed",
    ),
    Mutant(
        "wire/codex-app-server/message-agrees",
        SERVER,
        (edits.change(of_item("agentMessage"), "params.item.text", "Because of the sun.", -1),),
        ("wire/codex-app-server/turn-agrees",),
        name="turns/codex-app-server/message-differs",
    ),
    Mutant(
        "wire/stream-json/result-present",
        CLAUDE,
        (edits.drop(typed("result"), -1),),
        name="turns/claude/no-result",
    ),
    Mutant(
        "wire/stream-json/thinking-within-output",
        CLAUDE,
        (edits.change(typed("result"), "usage.output_tokens_details.thinking_tokens", 41, -1),),
        name="turns/claude/overcounted",
    ),
)
IN_FIRST: Final = (
    Mutant(
        "wire/acp/prompt-answered",
        BOTH_SIDES,
        (edits.drop(STOPPED),),
        name="turns/acp/first-not-answered",
    ),
    Mutant(
        "wire/agui/run-ended", AGUI, (edits.drop(FINISHED),), name="turns/agui/first-not-finished"
    ),
    Mutant(
        "wire/codex-exec/turn-ended",
        EXEC,
        (edits.drop(typed("turn.completed")),),
        name="turns/codex-exec/first-not-completed",
    ),
    Mutant(
        "wire/codex-app-server/turn-ended",
        SERVER,
        (edits.drop(OVER),),
        ("wire/codex-app-server/turn-finished",),
        name="turns/codex-app-server/first-not-completed",
    ),
    Mutant(
        "wire/stream-json/result-present",
        CLAUDE,
        (edits.drop(typed("result")),),
        name="turns/claude/first-without-result",
    ),
)
MUTANTS: Final = (*IN_SECOND, *IN_FIRST)
