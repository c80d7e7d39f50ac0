"""Keys of the events of the agent; a session holds several answers."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("delta",),
    shown=("delta",),
    words=("type",),
    free=("args", "result"),
)
