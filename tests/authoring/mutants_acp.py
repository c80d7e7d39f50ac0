"""Mutants of `wire/acp`."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.acp import chunks
from tests.authoring.edits import Where, having
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import at

TEXT: Final = "acp/agent/thought-then-message"
NAMED: Final = "acp/agent/messages-told-apart"
BOTH: Final = "acp/agent/both-directions"
TWO: Final = "acp/agent/two-sessions"
CANCELLED: Final = "acp/agent/cancelled"
FAILED: Final = "acp/agent/failed-in-message"
SUITE: Final = "wire/acp"
UPDATE: Final = "params.update"
WARNING: Final = (
    "Model metadata not found. Defaulting to fallback metadata; this can degrade performance."
)


def told(kind: str) -> Where:
    """Updates of that kind."""
    return lambda message: bool(at(message.payload, f"{UPDATE}.sessionUpdate") == kind)


THOUGHT: Final = told("agent_thought_chunk")
MESSAGE: Final = told("agent_message_chunk")
CALL: Final = told("tool_call")
NEWS: Final = told("tool_call_update")
READ: Final = having("params.path")
STOPPED: Final = having("result.stopReason")
ERROR: Final = having("error")

MUTANTS: Final = (
    # The kind of another version of the protocol.
    Mutant(
        f"{SUITE}/carries",
        TEXT,
        (edits.change(THOUGHT, f"{UPDATE}.sessionUpdate", "agent_thinking_chunk"),),
    ),
    Mutant(f"{SUITE}/prompt-answered", TEXT, (edits.drop(STOPPED),)),
    Mutant(f"{SUITE}/answered-once", TEXT, (edits.duplicate(STOPPED),)),
    Mutant(f"{SUITE}/message-typed", TEXT, (edits.remove(THOUGHT, "method"),)),
    Mutant(f"{SUITE}/update-typed", TEXT, (edits.remove(THOUGHT, f"{UPDATE}.sessionUpdate"),)),
    Mutant(f"{SUITE}/call-named", BOTH, (edits.remove(NEWS, f"{UPDATE}.toolCallId"),)),
    # The agent counts its responses.
    Mutant(f"{SUITE}/answer-to-request", BOTH, (edits.change(STOPPED, "id", 99),)),
    # Two sessions share the function that reports.
    Mutant(
        f"{SUITE}/update-of-session", BOTH, (edits.change(MESSAGE, "params.sessionId", "other"),)
    ),
    Mutant(
        f"{SUITE}/update-of-session",
        TEXT,
        (edits.change(MESSAGE, "params.sessionId", "other"),),
        name=f"{SUITE}/update-of-session-without-client",
    ),
    Mutant(
        f"{SUITE}/update-of-session",
        BOTH,
        (edits.change(READ, "params.sessionId", "other"),),
        name=f"{SUITE}/update-of-session-of-a-request",
    ),
    # The responses to two prompts are swapped.
    Mutant(
        f"{SUITE}/silent-after-response",
        TWO,
        (edits.change(STOPPED, "id", 3), edits.change(STOPPED, "id", 2, 1)),
        name=f"{SUITE}/silent-after-response-of-another-session",
    ),
    # The agent reports the end of the turn as the response to another request.
    Mutant(
        f"{SUITE}/answer-to-request",
        BOTH,
        (edits.drop(having("result.sessionId")), edits.change(STOPPED, "id", 1)),
        name=f"{SUITE}/answer-to-request-of-another-kind",
    ),
    Mutant(
        f"{SUITE}/silent-after-response",
        BOTH,
        (edits.move(MESSAGE, -1, by=1),),
    ),
    # The reason of a provider of Chat Completions is passed on.
    Mutant(
        f"{SUITE}/stop-reason-known", TEXT, (edits.change(STOPPED, "result.stopReason", "stop"),)
    ),
    Mutant(
        f"{SUITE}/cancelled-told",
        CANCELLED,
        (edits.change(STOPPED, "result.stopReason", "end_turn"),),
    ),
    Mutant(f"{SUITE}/version-stated", TEXT, (edits.remove(THOUGHT, "jsonrpc", 1),)),
    Mutant(f"{SUITE}/session-stated", TEXT, (edits.remove(THOUGHT, "params.sessionId"),)),
    Mutant(
        f"{SUITE}/session-stated",
        BOTH,
        (edits.remove(READ, "params.sessionId"),),
        name=f"{SUITE}/session-stated-by-a-request",
    ),
    # The library writes both members.
    Mutant(
        f"{SUITE}/result-or-error",
        FAILED,
        (edits.change(ERROR, "result", None),),
        name=f"{SUITE}/result-or-error-of-null",
    ),
    Mutant(f"{SUITE}/chunk-content", TEXT, (edits.remove(MESSAGE, f"{UPDATE}.content.text"),)),
    Mutant(
        f"{SUITE}/thought-is-text",
        TEXT,
        (edits.change(THOUGHT, f"{UPDATE}.content.type", "thinking"),),
    ),
    # The id of the provider's answer is given to thought and message alike.
    Mutant(
        f"{SUITE}/id-of-one-message",
        NAMED,
        (edits.change_all(told("agent_thought_chunk"), f"{UPDATE}.messageId", "message-1"),),
    ),
    Mutant(f"{SUITE}/messages-told-apart", NAMED, (edits.remove(THOUGHT, f"{UPDATE}.messageId"),)),
    Mutant(
        f"{SUITE}/diagnostics-apart",
        TEXT,
        tuple(edits.insert(piece, THOUGHT) for piece in chunks("message", WARNING)),
    ),
    Mutant(f"{SUITE}/call-told-first", BOTH, (edits.drop(CALL),)),
    Mutant(f"{SUITE}/call-told-once", BOTH, (edits.duplicate(CALL),)),
    Mutant(f"{SUITE}/error-fields", FAILED, (edits.change(ERROR, "error.code", "internal"),)),
)
