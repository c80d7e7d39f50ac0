"""Keys of the lines of Claude Code; a session holds several answers."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("text", "thinking", "partial_json", "result"),
    shown=("text", "thinking", "result"),
    indices=("index",),
    opaque=("signature",),
    words=("type", "subtype", "role", "stop_reason", "status"),
    free=("input", "modelUsage", "tool_use_result"),
)
