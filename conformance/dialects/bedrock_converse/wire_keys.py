"""Keys of Converse payloads, and what its events do."""

from __future__ import annotations

from typing import Final

from conformance.dialects.event_table import EventTable
from conformance.dialects.wire_keys import WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("content", "text", "input"),
    shown=("content", "text"),
    indices=("contentBlockIndex",),
    opaque=("signature", "redactedContent"),
    words=("role", "stopReason"),
    free=("input", "additionalModelRequestFields", "additionalModelResponseFields"),
)
EVENTS: Final = EventTable(
    openings=("messageStart",),
    starts=("contentBlockStart",),
    words={
        "contentBlockDelta": {
            "thinking": ("delta", "reasoningContent", "text"),
            "text": ("delta", "text"),
            "arguments": ("delta", "toolUse", "input"),
        }
    },
    text_ends={"contentBlockDelta": "contentBlockStop"},
    ends=("contentBlockStop", "messageStop"),
    finishes=("metadata",),
)
STREAMED: Final = EVENTS.types
BOUNDS: Final = EVENTS.bounds()
