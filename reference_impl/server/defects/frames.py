"""Faults of the transport: lines, bytes, and how a stream ends.

Each function is the defect of its name.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from . import crossed
from .defect import Scene

Source = AsyncIterator[bytes]
crossed_chunks = crossed.chunks


class CutError(ConnectionError):
    """Raised so that the connection closes in the middle of the stream."""


async def event_line_missing(frames: Source, scene: Scene) -> Source:
    """No event has its event line."""
    del scene
    async for frame in frames:
        yield frame.partition(b"\n")[2] if frame.startswith(b"event: ") else frame


async def event_line_wrong(frames: Source, scene: Scene) -> Source:
    """Every event line says `message`."""
    del scene
    async for frame in frames:
        if frame.startswith(b"event: "):
            yield b"event: message\n" + frame.partition(b"\n")[2]
        else:
            yield frame


async def last_event_unfinished(frames: Source, scene: Scene) -> Source:
    """The blank line after the last event is not sent."""
    del scene
    held = b""
    async for frame in frames:
        if held:
            yield held
        held = frame
    yield held.removesuffix(b"\n")


async def torn_bytes(frames: Source, scene: Scene) -> Source:
    """Characters of several bytes are cut in two by the end of an event."""
    del scene
    async for frame in frames:
        yield frame if frame.isascii() else _torn(frame)


def _torn(frame: bytes) -> bytes:
    """Without the last byte of every character of several."""
    return b"".join(
        char.encode() if char.isascii() else char.encode()[:-1] for char in frame.decode()
    )


async def error_line(frames: Source, scene: Scene) -> Source:
    """Behind the last event stands a line `error: {...}`, which is no field of the standard."""
    del scene
    async for frame in frames:
        yield frame
    yield b'error: {"message": "worker left"}\n\n'


async def comment_as_data(frames: Source, scene: Scene) -> Source:
    """A comment that keeps the connection awake is sent as data."""
    del scene
    is_first = True
    async for frame in frames:
        yield frame
        if is_first:
            is_first = False
            yield b"data: : keep-alive\n\n"


async def reset(frames: Source, scene: Scene) -> Source:
    """The connection is closed after the fourth event."""
    del scene
    left = 4
    async for frame in frames:
        yield frame
        left -= 1
        if not left:
            raise CutError("the defect `reset` closed the connection")


async def wrong_checksums(frames: Source, scene: Scene) -> Source:
    """The checksum of every message is that of another one."""
    del scene
    async for frame in frames:
        yield frame[:-1] + bytes([frame[-1] ^ 1])
