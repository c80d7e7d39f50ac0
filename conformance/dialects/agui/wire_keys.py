"""Keys of the events of a run, and which of them begin and end an answer."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import AnswerBounds, WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("delta", "content"),
    shown=("delta", "content"),
    indices=("messageId", "toolCallId"),
    opaque=("encryptedValue",),
    words=("type", "role", "subtype", "stepName"),
    free=("rawEvent", "forwardedProps", "outcome"),
)
BOUNDS: Final = AnswerBounds(
    first=frozenset({"RUN_STARTED"}),
    once=frozenset({"RUN_STARTED"}),
    last=frozenset({"RUN_FINISHED", "RUN_ERROR"}),
)
