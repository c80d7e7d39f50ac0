"""A reset arrives as one, behind everything that was written before it."""

from __future__ import annotations

import asyncio

import pytest

from conformance.wire.closing import reset_connection
from conformance.wire.server import listening

SIZE = 4 * 1024 * 1024  # more than a kernel takes at once


async def test_what_was_written_before_a_reset_arrives() -> None:
    async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"x" * SIZE)
        await reset_connection(writer, 10.0)

    async with listening("127.0.0.1", 0, accept) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.readexactly(SIZE) == b"x" * SIZE
        with pytest.raises(ConnectionResetError):
            await reader.read()
        writer.close()


async def test_a_reset_does_not_wait_for_ever_for_a_peer_that_does_not_read() -> None:
    async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"x" * 8 * SIZE)
        await reset_connection(writer, 0.05)
        ended.set()

    ended = asyncio.Event()
    async with listening("127.0.0.1", 0, accept) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
        await asyncio.wait_for(ended.wait(), 10)
        writer.close()
