"""The events of LangChain's protocol: their names, their keys, and where a message begins and ends.

Names and keys are those of `langchain-protocol` 0.0.20.
"""

from __future__ import annotations

from typing import Final

from conformance.core.json_values import Path
from conformance.dialects.event_table import EventTable
from conformance.dialects.history import vocabulary
from conformance.dialects.wire_keys import WireKeys

NAME: Final = "langchain.events"
PREFIX: Final = "lc."
"""What is before the name of an event here."""
LIFECYCLE: Final = "lc.lifecycle"
OTHER: Final = "lc.other"
ERROR: Final = "lc.error"
UNKNOWN: Final = "lc.unknown"
OVERFLOW: Final = "lc.overflow"
DATA: Final[Path] = ("params", "data")
"""Where the server's envelope holds the event."""
EVENTS: Final = EventTable(
    openings=("message-start",),
    starts=("content-block-start",),
    words={
        "reasoning-delta": {"thinking": ("delta", "reasoning")},
        "text-delta": {"text": ("delta", "text")},
        "tool-call-delta": {"arguments": ("delta", "args")},
    },
    text_ends={"content-block-delta": "content-block-finish"},
    ends=("content-block-finish",),
    finishes=("message-finish",),
    others=("error",),
    event_type=("event",),
    delta_type=("delta", "type"),
)
STREAMED: Final = EVENTS.types
OTHERS: Final = frozenset(
    {"values", "updates", "tools", "input.requested", "checkpoints", "custom", "tasks"}
)
"""Methods of the protocol that say nothing of a message."""
OF_JAVASCRIPT: Final = frozenset({"usage", "provider"})
"""Events of a message that only @langchain/core for JavaScript has: counts so far, and what a
provider sent that has no event of its own. `message-finish` says the counts again."""
VOCABULARY: Final = vocabulary(
    NAME, *(PREFIX + kind for kind in STREAMED), LIFECYCLE, OTHER, UNKNOWN, OVERFLOW
)
WIRE_KEYS: Final = WireKeys(
    texts=("text", "reasoning", "args"),
    shown=("text",),
    indices=("index",),
    opaque=("signature", "encrypted_content"),
    words=("type", "stop_reason", "finish_reason", "status", "role"),
    free=("args", "input", "metadata", "extras"),
)
