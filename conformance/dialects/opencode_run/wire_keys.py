"""Keys of the lines of `opencode run`; a session holds several runs."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("text",),
    shown=("text",),
    words=("type", "status", "reason"),
    free=("input", "output", "metadata"),
)
