"""A hostile server in a thread of its own, while the process under test talks to it."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from tests.fakes.hostile import Behaviour, Heard, built, serving


@contextmanager
def hosting(behave: Behaviour, tls: ssl.SSLContext | None = None) -> Iterator[Heard]:
    """Serves until the block is left."""
    if isinstance(behave, built):
        behave.prepare()
    ready: Future[Heard] = Future()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve() -> None:
        async with serving(behave, tls) as heard:
            ready.set_result(heard)
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        yield ready.result(timeout=20)
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()
