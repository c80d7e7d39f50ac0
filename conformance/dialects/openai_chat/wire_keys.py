"""Keys of Chat Completions payloads, and what their events say of where an answer ends."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.events import Event
from conformance.dialects.json_edge import mapping, objects
from conformance.dialects.wire_keys import AnswerBounds, SseEnvelope, WireKeys

_CHUNK: Final = "chat.completion.chunk"

WIRE_KEYS: Final = WireKeys(
    texts=(
        *("content", "reasoning_content", "reasoning", "reasoning_text", "text", "thinking"),
        *("arguments", "refusal", "summary"),
    ),
    shown=("content", "reasoning", "reasoning_content", "text", "thinking"),
    indices=("index",),
    opaque=("reasoning_opaque", "signature", "thoughtSignature", "thought_signature"),
    words=("finish_reason", "format", "object", "role", "type"),
    free=(
        *("arguments", "metadata", "parameters", "properties", "schema", "logit_bias", "safety"),
    ),
    unrolled=("choices", "tool_calls", "reasoning_details", "data"),
    unrolling=("chat.", "models"),
)


def _finishes(payload: Any) -> bool:
    # Copilot's chunks have no `object`.
    fields = mapping(payload)
    is_chunk = bool(fields) and fields.get("object", _CHUNK) == _CHUNK
    return is_chunk and any(one.get("finish_reason") for one in objects(fields.get("choices")))


def _speaks(event: Event) -> bool:
    delta = mapping(event.data.get("delta")) if event.type == "chat.choice" else {}
    return any(delta.get(key) for key in ("role", "content"))


ENVELOPE: Final = SseEnvelope(finishes=_finishes)
BOUNDS: Final = AnswerBounds(
    first=frozenset({"chat.chunk"}),
    last=frozenset({"[DONE]"}),
    identified="chat.chunk",
    speaks=_speaks,
)
