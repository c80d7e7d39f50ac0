"""Keys of the parts of a UI message, and which of them begin and end an answer."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.json_edge import mapping
from conformance.dialects.vercel_ui.parts import OPAQUE_KEYS
from conformance.dialects.wire_keys import AnswerBounds, SseEnvelope, WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("delta", "inputTextDelta"),
    shown=("delta",),
    indices=("toolCallId",),
    opaque=tuple(OPAQUE_KEYS),
    words=("type", "finishReason"),
    free=("input", "output", "messageMetadata", "providerMetadata", "data"),
)


def _finishes(payload: Any) -> bool:
    return mapping(payload).get("type") in ("finish", "abort")


ENVELOPE: Final = SseEnvelope(finishes=_finishes)
BOUNDS: Final = AnswerBounds(
    first=frozenset({"start"}), once=frozenset({"start"}), last=frozenset({"[DONE]"})
)
