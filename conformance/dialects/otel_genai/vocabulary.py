"""What telemetry keeps of a call of a model: the names of messages and parts, and their keys."""

from __future__ import annotations

from typing import Final

from conformance.dialects.history import vocabulary
from conformance.dialects.wire_keys import WireKeys

NAME: Final = "otel.genai"
ANSWER: Final = "otel.answer"
MESSAGE: Final = "otel.message"
PART: Final = "otel.part"
UNKNOWN: Final = "otel.unknown"
OVERFLOW: Final = "otel.overflow"
GIVEN: Final = "input_messages"
ANSWERS: Final = "output_messages"
THOUGHTS: Final = frozenset({"reasoning", "thinking"})
"""Types of parts that hold thinking: the convention's, and the one of Pydantic AI."""
VOCABULARY: Final = vocabulary(NAME, ANSWER, MESSAGE, PART, UNKNOWN, OVERFLOW, "request.part")
WIRE_KEYS: Final = WireKeys(
    texts=("content", "arguments"),
    shown=("content",),
    opaque=("signature",),
    words=("type", "role", "finish_reason"),
    free=("arguments", "result", "parameters"),
    unrolled=("parts",),
    unrolling=("otel.",),
)
