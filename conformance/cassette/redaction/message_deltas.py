"""Redacts binary messages: their texts as lines of JSON, then lengths and checksums anew.

Rule 1: what a message says is redacted as one line, so secrets in several messages are found; its
        headers, and what is next to an event that it wraps, each for itself.
Rule 2: stand-ins are as long as what they stand for, so a message keeps its length. Its checksums
        are made again; a wrong one stays wrong by the same bits. What is no whole message is one
        line too.
Rule 3: messages without a secret keep their bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from conformance.cassette.redaction.deltas import Deltas
from conformance.core.binary import (
    event_text,
    message_length,
    with_clean_frame,
    with_event_text,
)

_LINE_END: Final = b"\n"
_MOST_PLAIN: Final = 64


class MessageDeltas:
    """As `Deltas`, for whole messages; `lines` redacts lines, `clean` any text."""

    def __init__(self, lines: Deltas, clean: Callable[[bytes], bytes]) -> None:
        self._lines = lines
        self._clean_text = clean
        self._plain: set[bytes] = set()
        self._waiting: deque[tuple[bytes, bytes]] = deque()
        self._clean = b""

    @property
    def waits(self) -> bool:
        """Always: a message that wraps another event shows nothing to who looks at its bytes."""
        return True

    def feed(self, frames: bytes) -> bytes:
        """Takes whole messages; gives those that wait for nothing, clean."""
        start = 0
        while start < len(frames):
            length = message_length(frames, start)
            message = frames[start : start + (length or len(frames))]
            text = message
            if length == len(message):
                message = with_clean_frame(message, self._clean_part)
                text = event_text(message)
            self._waiting.append((message, text))
            self._clean += self._lines.feed(text.replace(_LINE_END, b" ") + _LINE_END)
            start += len(message)
        return self._ready_messages()

    def close(self) -> bytes:
        self._clean += self._lines.close()
        return self._ready_messages()

    def _clean_part(self, text: bytes) -> bytes:
        """The text around an event: nearly always the same few words."""
        if text in self._plain:
            return text
        clean = self._clean_text(text)
        if clean == text and len(self._plain) < _MOST_PLAIN:
            self._plain.add(text)
        return clean

    def _ready_messages(self) -> bytes:
        done, at = [], 0
        while self._waiting and len(self._clean) - at > len(self._waiting[0][1]):
            message, text = self._waiting.popleft()
            clean = self._clean[at : at + len(text)]
            at += len(text) + len(_LINE_END)
            done.append(_with_clean_text(message, text, clean))
        self._clean = self._clean[at:]
        return b"".join(done)


def last_message_end(data: bytes) -> int:
    """The place after the last message that is whole; data that is none counts as one."""
    at = 0
    while length := message_length(data, at):
        if at + length > len(data):
            return at
        at += length
    return at


def _with_clean_text(message: bytes, text: bytes, clean: bytes) -> bytes:
    if clean == text.replace(_LINE_END, b" "):
        return message
    breaks = [at for at, byte in enumerate(text) if byte == _LINE_END[0]]
    restored = bytearray(clean)
    for at in breaks:
        restored[at] = _LINE_END[0]
    return bytes(restored) if text is message else with_event_text(message, bytes(restored))
