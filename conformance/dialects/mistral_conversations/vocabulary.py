"""The events of a conversation: their names, their keys, and what the deltas of a run differ in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects.event_table import EventTable
from conformance.dialects.history import vocabulary
from conformance.dialects.json_edge import elements
from conformance.dialects.wire_keys import SseEnvelope, WireKeys

NAME: Final = "mistral.conversations"
APPENDS: Final = "/conversations/{thread}"
"""The end of the path of a request that appends to a conversation."""
BODY: Final = "conversation.response"
PART: Final = "conversation.part"
ENTRY: Final = "conversation.entry"
SENT: Final = "conversation.sent"
UNKNOWN: Final = "conversation.unknown"
OVERFLOW: Final = "conversation.overflow"
THOUGHT: Final = ("content", "thinking", 0, "text")
"""Where a delta has its thinking: a part of thinking is a list of parts itself."""
EVENTS: Final = EventTable(
    openings=("conversation.response.started",),
    starts=("tool.execution.started", "agent.handoff.started"),
    words={
        "message.output.delta": {"thinking": THOUGHT, "text": ("content",)},
        "function.call.delta": {"arguments": ("arguments",)},
        "tool.execution.delta": {"arguments": ("arguments",)},
    },
    ends=("tool.execution.done", "agent.handoff.done"),
    finishes=("conversation.response.done",),
    others=("conversation.response.error",),
)
STREAMED: Final = EVENTS.types
ENTRIES: Final = frozenset({"message.output", "function.call", "tool.execution", "agent.handoff"})
"""What a whole answer lists."""
VOCABULARY: Final = vocabulary(
    NAME,
    *(*STREAMED, *ENTRIES, BODY, ENTRY, PART, SENT, UNKNOWN, OVERFLOW),
    *("request.call", "request.result"),
)
WIRE_KEYS: Final = WireKeys(
    texts=("content", "text", "thinking", "arguments"),
    shown=("content", "text"),
    indices=("output_index", "content_index"),
    opaque=("signature",),
    words=("type", "role", "object"),
    free=("arguments", "info"),
)
ENVELOPE: Final = SseEnvelope(is_named=STREAMED.__contains__)


def _other_columns(fields: Mapping[str, Any]) -> tuple[str, ...] | None:
    """A part with more than one text, or a signature, goes with no other."""
    part = fields.get("content")
    if isinstance(part, dict):
        pieces = elements(part.get("thinking"))
        if len(pieces) != 1 or part.get("signature") or part.get("type") != "thinking":
            return None
    return ("created_at",) if isinstance(fields.get("created_at"), str) else ()


COLUMNS: Final = EVENTS.columns(_other_columns, {PART: "content"})
