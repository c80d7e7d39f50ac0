"""Redaction of a whole WebSocket: each answer as the stream that it is, all else by itself.

A key may be spelled out over the deltas of one answer, while messages of another come between. A
message keeps its length, so its line ends go back to where they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from conformance.cassette.connections import as_line, message_groups
from conformance.cassette.redaction.body_redaction import BodyRedactor, FrameRedactor
from conformance.core.events import UPGRADED, Chunk, Exchange, Response, SocketMessage

_LINES: Final = Response(status=UPGRADED)


def redact_messages(redactor: FrameRedactor, connection: Exchange) -> tuple[SocketMessage, ...]:
    """The messages of both sides without secrets, as many and as long as before."""
    messages = [each for each in connection.chunks if isinstance(each, SocketMessage)]
    clean: dict[int, bytes] = {}
    for group in message_groups(connection):
        clean |= zip(group, _redact_answer(redactor, [messages[at] for at in group]), strict=True)
    return tuple(
        replace(each, data=clean[at] if at in clean else redactor.body(each.data))
        for at, each in enumerate(messages)
    )


def _redact_answer(redactor: FrameRedactor, messages: Sequence[SocketMessage]) -> list[bytes]:
    lines = [Chunk(as_line(each.data)) for each in messages]
    streaming = BodyRedactor(redactor, _LINES, longest=sum(len(each.data) for each in lines))
    found = (*streaming.feed_all(lines), *streaming.close())
    return [_with_ends(each.data, new.data) for each, new in zip(messages, found, strict=True)]


def _with_ends(came: bytes, clean: bytes) -> bytes:
    """The clean line as the message that it was."""
    text = bytearray(clean[:-1])
    if b"\n" in came or b"\r" in came:
        for at, byte in enumerate(came):
            if byte in b"\r\n":
                text[at] = byte
    return bytes(text)
