"""The events of ADK's server: their names here, and their keys."""

from __future__ import annotations

from typing import Final

from conformance.dialects.history import vocabulary
from conformance.dialects.wire_keys import WireKeys

NAME: Final = "google.adk"
PARTIAL: Final = "adk.partial"
EVENT: Final = "adk.event"
PART: Final = "adk.part"
ERROR: Final = "adk.error"
UNKNOWN: Final = "adk.unknown"
OVERFLOW: Final = "adk.overflow"
VOCABULARY: Final = vocabulary(
    NAME, PARTIAL, EVENT, PART, ERROR, UNKNOWN, OVERFLOW, "request.call", "request.result"
)
WIRE_KEYS: Final = WireKeys(
    texts=("text",),
    shown=("text",),
    opaque=("thoughtSignature",),
    words=("role", "finishReason", "errorCode", "author"),
    free=("args", "functionResponse", "stateDelta", "artifactDelta", "customMetadata"),
    unrolled=("parts",),
    unrolling=("adk.",),
)
