"""The events of a session of Copilot: their names, their keys, and what deltas differ in."""

from __future__ import annotations

from typing import Final

from conformance.dialects.event_table import EventTable
from conformance.dialects.history import vocabulary
from conformance.dialects.wire_keys import WireKeys

NAME: Final = "copilot.cli"
OVERFLOW: Final = "copilot.overflow"
DELTA: Final = ("data", "deltaContent")
EVENTS: Final = EventTable(
    openings=(),
    starts=("assistant.turn_start", "assistant.message_start", "tool.execution_start"),
    words={
        "assistant.reasoning_delta": {"thinking": DELTA},
        "assistant.message_delta": {"text": DELTA},
        "assistant.tool_call_delta": {"arguments": ("data", "inputDelta")},
    },
    text_ends={
        "assistant.reasoning_delta": "assistant.reasoning",
        "assistant.message_delta": "assistant.message",
        "assistant.tool_call_delta": "assistant.message",
    },
    ends=(
        *("assistant.reasoning", "assistant.message", "assistant.turn_end"),
        "tool.execution_complete",
    ),
    finishes=("assistant.idle",),
    others=(
        *("assistant.turn_retry", "session.error", "session.idle", "result", "user.message"),
        "session.start",  # of a log
        # What 1.0.102 writes around the calls of its model: most lines where they fail.
        *("model.call_start", "model.call_failure", "model.call_finished"),
        *("model.call_final_result", "session.info", "session.tools_updated"),
        *("session.skills_loaded", "session.mcp_servers_loaded"),
    ),
)
STREAMED: Final = EVENTS.types
VOCABULARY: Final = vocabulary(NAME, *STREAMED, "line.unknown", OVERFLOW)
WIRE_KEYS: Final = WireKeys(
    texts=("deltaContent", "inputDelta", "content", "reasoningText"),
    shown=("deltaContent", "content"),
    opaque=("reasoningOpaque", "encryptedContent", "signature"),
    words=("type", "errorType", "reason"),
    free=("arguments", "result"),
)
COLUMNS: Final = EVENTS.columns(lambda _fields: ("id", "timestamp"))
