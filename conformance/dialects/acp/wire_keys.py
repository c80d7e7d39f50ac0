"""Keys of the messages of a session, and which of them begin and end an answer."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import AnswerBounds, WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("text",),
    shown=("text",),
    indices=("messageId", "toolCallId"),
    words=("sessionUpdate", "stopReason", "kind", "status"),
    free=("rawInput", "rawOutput", "_meta"),
)
BOUNDS: Final = AnswerBounds(
    first=frozenset({"session/prompt"}), last=frozenset({"prompt.response"})
)
