"""Faults of the transport: lines, bytes, and how a stream ends.

Each function is the defect of its name.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from . import crossed
from .defect import FrameHook, Scene, each

Source = AsyncIterator[bytes]
crossed_chunks = crossed.chunks


class CutError(ConnectionError):
    """Raised so that the connection closes in the middle of the stream."""


def _other_event_line(line: bytes) -> FrameHook:
    def edit(frame: bytes) -> Iterator[bytes]:
        yield line + frame.partition(b"\n")[2] if frame.startswith(b"event: ") else frame

    return each(edit)


event_line_missing = _other_event_line(b"")
event_line_wrong = _other_event_line(b"event: message\n")


async def last_event_unfinished(frames: Source, _: Scene) -> Source:
    """The blank line after the last event is not sent."""
    held = b""
    async for frame in frames:
        if held:
            yield held
        held = frame
    yield held.removesuffix(b"\n")


@each
def torn_bytes(frame: bytes) -> Iterator[bytes]:
    """Characters of several bytes lose their last one, as if the end of an event cut them."""
    chars = (char.encode() for char in frame.decode())
    yield b"".join(char if char.isascii() else char[:-1] for char in chars)


async def error_line(frames: Source, _: Scene) -> Source:
    """Behind the last event stands a line `error: {...}`, which is no field of the standard."""
    async for frame in frames:
        yield frame
    yield b'error: {"message": "worker left"}\n\n'


async def comment_as_data(frames: Source, _: Scene) -> Source:
    """A comment that keeps the connection awake is sent as data."""
    is_first = True
    async for frame in frames:
        yield frame
        if is_first:
            is_first = False
            yield b"data: : keep-alive\n\n"


async def reset(frames: Source, _: Scene) -> Source:
    """The connection is closed after the fourth event."""
    left = 4
    async for frame in frames:
        yield frame
        left -= 1
        if not left:
            raise CutError("the defect `reset` closed the connection")


@each
def wrong_checksums(frame: bytes) -> Iterator[bytes]:
    """The checksum of every message is that of another one."""
    yield frame[:-1] + bytes([frame[-1] ^ 1])
