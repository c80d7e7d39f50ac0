"""A target that is still starting is waited for, and one that never starts not for long."""

from __future__ import annotations

import asyncio
import socket

import httpx

from conformance.targets.waiting import wait_until_listening


async def test_who_listens_late_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = httpx.URL(f"http://127.0.0.1:{port}/v1")
    waiting = asyncio.create_task(wait_until_listening(url, 30))
    await asyncio.sleep(0)
    assert not waiting.done()
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", port)
    was_seen = await waiting
    server.close()
    assert was_seen


def test_nobody_is_waited_for_where_no_time_is_given() -> None:
    assert not asyncio.run(wait_until_listening(httpx.URL("http://127.0.0.1:9"), 0))
