"""Keys of the events of a run, and what these do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from conformance.dialects.event_table import EventTable
from conformance.dialects.wire_keys import WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("delta", "content"),
    shown=("delta", "content"),
    indices=("messageId", "toolCallId"),
    opaque=("encryptedValue",),
    words=("type", "role", "subtype", "stepName"),
    free=("rawEvent", "forwardedProps", "outcome"),
)
EVENTS: Final = EventTable(
    openings=("RUN_STARTED",),
    starts=(
        *("STEP_STARTED", "REASONING_START"),
        *("REASONING_MESSAGE_START", "TEXT_MESSAGE_START", "TOOL_CALL_START"),
    ),
    words={
        "REASONING_MESSAGE_CONTENT": {"thinking": ("delta",)},
        "THINKING_TEXT_MESSAGE_CONTENT": {"thinking": ("delta",)},
        "TEXT_MESSAGE_CONTENT": {"text": ("delta",)},
        "TOOL_CALL_ARGS": {"arguments": ("delta",)},
    },
    text_ends={
        "REASONING_MESSAGE_CONTENT": "REASONING_MESSAGE_END",
        "TEXT_MESSAGE_CONTENT": "TEXT_MESSAGE_END",
        "TOOL_CALL_ARGS": "TOOL_CALL_END",
    },
    ends=(
        *("STEP_FINISHED", "REASONING_END"),
        *("REASONING_MESSAGE_END", "TEXT_MESSAGE_END", "TOOL_CALL_END"),
    ),
    finishes=("RUN_FINISHED",),
    others=(
        *("RUN_ERROR", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "STATE_DELTA", "RAW", "CUSTOM"),
        *("TEXT_MESSAGE_CHUNK", "TOOL_CALL_CHUNK", "REASONING_MESSAGE_CHUNK"),
        *("REASONING_ENCRYPTED_VALUE", "TOOL_CALL_RESULT", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA"),
        *("SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR"),
        *("THINKING_START", "THINKING_END"),  # like the next two, of 0.1.10 and before
        *("THINKING_TEXT_MESSAGE_START", "THINKING_TEXT_MESSAGE_END"),
    ),
)
BOUNDS: Final = replace(EVENTS.bounds(), last=frozenset({"RUN_FINISHED", "RUN_ERROR"}))


def sent_at(fields: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Times differ from event to event; what repeats another framework's event is read alone."""
    if "rawEvent" in fields:
        return None
    return ("timestamp",) if type(fields.get("timestamp")) is int else ()
