"""The events of LM Studio's chat: their names, their keys, and where an answer begins and ends."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.events import Vocabulary
from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.json_edge import mapping, string
from conformance.dialects.wire_keys import AnswerBounds, SseEnvelope, WireKeys

NAME: Final = "lmstudio.chat"
PREFIX: Final = "lm."
"""What stands before the type of an event in its name here: some are those of semantic events."""
BODY: Final = "lm.body"
UNKNOWN: Final = "lm.unknown"
DELTAS: Final = ("reasoning.delta", "message.delta")
STREAMED: Final = frozenset(
    {
        *("chat.start", "chat.end", "error", *DELTAS),
        *("model_load.start", "model_load.progress", "model_load.end"),
        *("prompt_processing.start", "prompt_processing.progress", "prompt_processing.end"),
        *("reasoning.start", "reasoning.end", "message.start", "message.end"),
        *("tool_call.start", "tool_call.name", "tool_call.arguments"),
        *("tool_call.success", "tool_call.failure"),
    }
)
VOCABULARY: Final = Vocabulary(
    NAME,
    frozenset(
        {*(PREFIX + kind for kind in STREAMED), BODY, UNKNOWN, "request", "request.item", "[DONE]"}
    ),
)
WIRE_KEYS: Final = WireKeys(
    texts=("content",),
    shown=("content",),
    words=("type",),
    free=("arguments", "metadata", "provider_info", "stats"),
)
ENVELOPE: Final = SseEnvelope(is_named=STREAMED.__contains__)
BOUNDS: Final = AnswerBounds(
    first=frozenset({"lm.chat.start"}),
    once=frozenset({"lm.chat.start"}),
    last=frozenset({"lm.chat.end"}),
)
_COLUMNS: Final = DeltaColumns(("content",), "content")


def delta_columns(payload: Any, _reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    is_delta = fields.get("type") in DELTAS and string(fields.get("content"))
    return _COLUMNS if is_delta else None
