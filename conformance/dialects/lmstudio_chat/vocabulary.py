"""The events of LM Studio's chat: their names, their keys, and where an answer begins and ends."""

from __future__ import annotations

from typing import Final

from conformance.dialects.event_table import EventTable
from conformance.dialects.history import vocabulary
from conformance.dialects.wire_keys import SseEnvelope, WireKeys

NAME: Final = "lmstudio.chat"
PREFIX: Final = "lm."
"""What is before the type of an event in its name here: some are those of semantic events."""
BODY: Final = "lm.body"
UNKNOWN: Final = "lm.unknown"
EVENTS: Final = EventTable(
    openings=("chat.start",),
    starts=("reasoning.start", "message.start", "tool_call.start"),
    words={
        "reasoning.delta": {"thinking": ("content",)},
        "message.delta": {"text": ("content",)},
    },
    text_ends={"reasoning.delta": "reasoning.end", "message.delta": "message.end"},
    ends=("reasoning.end", "message.end", "tool_call.success"),
    finishes=("chat.end",),
    others=(
        "error",
        *("model_load.start", "model_load.progress", "model_load.end"),
        *("prompt_processing.start", "prompt_processing.progress", "prompt_processing.end"),
        *("tool_call.name", "tool_call.arguments", "tool_call.failure"),
    ),
)
STREAMED: Final = EVENTS.types
VOCABULARY: Final = vocabulary(NAME, *(PREFIX + kind for kind in STREAMED), BODY, UNKNOWN)
WIRE_KEYS: Final = WireKeys(
    texts=("content",),
    shown=("content",),
    words=("type",),
    free=("arguments", "metadata", "provider_info", "stats"),
)
ENVELOPE: Final = SseEnvelope(is_named=STREAMED.__contains__)
BOUNDS: Final = EVENTS.bounds(PREFIX)
