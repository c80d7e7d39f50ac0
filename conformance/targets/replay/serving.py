"""A replay server in a thread of its own, for tests and programs that are not asynchronous."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial

from conformance.core.errors import ConformanceError
from conformance.targets.replay.options import Limits, ReplayOptions
from conformance.targets.replay.seen import SeenRequest
from conformance.targets.replay.server import ReplayServer
from conformance.targets.replay.tape import Source

_STARTS_S = 30.0


class ThreadedServer(ReplayServer):
    """A replay server that another thread runs."""

    def settle(self, timeout_s: float = 5.0) -> None:
        """Waits until no answer is under way. Raises TimeoutError after `timeout_s`."""
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(self.settled(), self._loop).result(timeout_s)


@contextmanager
def serving(
    cassettes: Iterable[Source] = (),
    *,
    options: ReplayOptions | None = None,
    on_exchange: Callable[[SeenRequest], None] | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    limits: Limits | None = None,
) -> Iterator[ThreadedServer]:
    """A ReplayServer that runs while the block does, for callers that do not await."""
    server = ThreadedServer(
        cassettes, options=options, on_exchange=on_exchange, host=host, port=port, limits=limits
    )
    ready: Future[Callable[[], object]] = Future()
    thread = threading.Thread(
        target=asyncio.run,
        args=(_run_server(server, ready),),
        name="conformance-replay",
        daemon=True,
    )
    thread.start()
    stop = ready.result(_STARTS_S)
    try:
        yield server
    finally:
        stop()
        thread.join()


async def _run_server(server: ReplayServer, ready: Future[Callable[[], object]]) -> None:
    loop, stopping = asyncio.get_running_loop(), asyncio.Event()
    try:
        await server.start()
    except (ConformanceError, OSError) as err:
        ready.set_exception(err)  # raised where the server was asked for
        return
    ready.set_result(partial(loop.call_soon_threadsafe, stopping.set))
    await stopping.wait()
    await server.close()
