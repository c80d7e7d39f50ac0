"""Servers beside a test: an asynchronous context manager that runs in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Final, TypeVar

Entered = TypeVar("Entered")

_STARTS_S: Final = 30.0


@contextmanager
def running(manager: AbstractAsyncContextManager[Entered]) -> Iterator[Entered]:
    """What the manager gives, while its loop runs elsewhere; what it raises is raised here."""
    ready: Future[tuple[Entered, asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    done: Future[None] = Future()

    async def stay() -> None:
        stopping = asyncio.Event()
        async with manager as entered:
            ready.set_result((entered, asyncio.get_running_loop(), stopping))
            await stopping.wait()

    def work() -> None:
        try:
            asyncio.run(stay())
        except BaseException as err:  # noqa: BLE001  # it is raised in the thread that waits
            (done if ready.done() else ready).set_exception(err)
        else:
            done.set_result(None)

    thread = threading.Thread(target=work, name="conformance-server", daemon=True)
    thread.start()
    entered, loop, stopping = ready.result(_STARTS_S)
    try:
        yield entered
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join()
    done.result()
