"""The events of LangGraph's server: their names here, and their keys."""

from __future__ import annotations

from typing import Final

from conformance.dialects.history import vocabulary
from conformance.dialects.wire_keys import WireKeys

NAME: Final = "langgraph"
IN_THREAD: Final = "/threads/{thread}/runs/{how}"
"""The end of the path of a request for a run in a thread."""
METADATA: Final = "graph.metadata"
MESSAGE: Final = "graph.message"
PARTIAL: Final = "graph.partial"
VALUES: Final = "graph.values"
UPDATES: Final = "graph.updates"
RESTATED: Final = "graph.restated"
SENT: Final = "graph.sent"
KEPT: Final = "graph.kept"
HELD: Final = "graph.held"
ERROR: Final = "graph.error"
END: Final = "graph.end"
OTHER: Final = "graph.other"
UNKNOWN: Final = "graph.unknown"
OVERFLOW: Final = "graph.overflow"
VOCABULARY: Final = vocabulary(
    NAME,
    *(METADATA, MESSAGE, PARTIAL, VALUES, UPDATES, RESTATED, ERROR, END, OTHER, UNKNOWN),
    *(SENT, KEPT, HELD, OVERFLOW, "request.call", "request.result"),
)
WIRE_KEYS: Final = WireKeys(
    texts=("text", "thinking", "reasoning", "reasoning_content", "partial_json", "content", "args"),
    shown=("text", "content"),
    opaque=("signature", "encrypted_content"),
    words=("type", "stop_reason", "finish_reason", "chunk_position", "status"),
    free=("args", "input", "additional_kwargs", "metadata", "artifact"),
)
OTHERS: Final = frozenset(
    {
        *("tasks", "checkpoints", "debug", "custom", "events", "tools", "lifecycle", "feedback"),
        "messages/metadata",
    }
)
"""Events that say nothing to a user."""
