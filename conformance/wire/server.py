"""A connection on which the toolkit answers: requests in, answers out, chunk by chunk."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from typing import Final, TypeVar

from conformance.core.chunked import LAST_CHUNK, ChunkedBodyReader, ChunkPart, part_bytes
from conformance.core.errors import UsageError
from conformance.wire.closing import reset_connection
from conformance.wire.heads import (
    Headers,
    end_to_end,
    json_response,
    response_head,
    without_headers,
)
from conformance.wire.passing_reader import READ_SIZE
from conformance.wire.requests import CONTINUE, HttpRequest, RequestReader, RequestRejected

_MOST_HEAD: Final = 256 * 1024
_MOST_EARLY: Final = 256 * 1024  # bytes of later requests that wait while one is answered
MOST_BODY: Final = 64 * 1024 * 1024
_REQUEST_S: Final = 60.0  # that a request may fall silent in its midst, or a reset wait for reading
_IDLE_S: Final = 600.0  # between two requests
_BACKLOG: Final = 256
_STARTS_S: Final = 30.0
_LINGER_S: Final = 2.0

Entered = TypeVar("Entered")


class PeerGoneError(Exception):
    """The client closed the connection."""


class BodyBudget:
    """What the bodies of all requests of a server may take together, in bytes."""

    def __init__(self, most: int) -> None:
        self._left = most

    def take(self, size: int) -> bool:
        """Whether there is room for so many more; a negative size gives back."""
        if size > self._left:
            return False
        self._left -= size
        return True


class ServerConnection:
    """One connection of a client.

    `gone` shows that the client has left, `silent` that it says no more: then it may have left, or
    wait for its answer all the same. `budget` is what the bodies of all connections share.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        most_body: int = MOST_BODY,
        budget: BodyBudget | None = None,
    ) -> None:
        self.budget = budget or BodyBudget(most_body)
        self._reserved = 0
        self._reader = reader
        self._writer = writer
        self._most_body = most_body
        self._rest = b""
        self._watch: asyncio.Task[None] | None = None
        self._chunked = False
        self._unsent = b""
        self._unframed: ChunkedBodyReader | None = None
        self.gone = False
        self.silent = False

    async def next_request(self) -> HttpRequest | None:
        """The next request; None when there is none. Raises RequestRejected, PeerGoneError.

        The one before it is not needed any more: its body's room is given back.
        """
        self._give_back()
        reader = RequestReader(_MOST_HEAD, self._most_body)
        data, self._rest = self._rest, b""
        is_continued = False
        while True:
            request = reader.feed(data)
            if not self.budget.take(reader.size - self._reserved):
                raise RequestRejected(503, "the bodies of all requests together are too large")
            self._reserved = reader.size
            if request is not None:
                self._rest = reader.rest
                return request
            if reader.awaits_continue and not is_continued:
                is_continued = True
                self._writer.write(CONTINUE)
            data = await self._read_within(_REQUEST_S if reader.begun else _IDLE_S)
            if not data:
                if reader.begun:
                    raise PeerGoneError
                return None

    def watch(self, on_gone: Callable[[], None], on_silent: Callable[[], None]) -> None:
        """Reports when the client leaves, or will send no more; bytes are its next request."""
        self._watch = asyncio.create_task(self._watch_reading(on_gone, on_silent))

    async def unwatch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait([self._watch])
            self._watch = None

    async def take_over(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]:
        """Both ways of the connection for who goes on without HTTP, and what came already."""
        await self.unwatch()
        rest, self._rest = self._rest, b""
        return self._reader, self._writer, rest

    def start_response(
        self,
        request: HttpRequest,
        status: int,
        headers: Headers,
        *,
        reason: str | None = None,
        chunked: bool = True,
        has_length: bool = False,
        alone: bool = True,
    ) -> bool:
        """Sends a head; where it is not `alone`, with what `write_framed` is given next.

        Whether the connection can serve another request after it.
        """
        headers = end_to_end(headers)
        self._chunked = chunked and request.http11
        self._unframed = ChunkedBodyReader() if chunked and not request.http11 else None
        if self._chunked:
            headers = without_headers(headers, "content-length")
            headers = (*headers, ("transfer-encoding", "chunked"))
        if not (self._chunked or has_length):
            headers = (*headers, ("connection", "close"))
        written = response_head(status, headers, reason=reason)
        if alone:
            self._writer.write(written)
        else:
            self._unsent = written
        return request.keeps_alive and (self._chunked or has_length)

    async def send_parts(self, parts: Iterable[ChunkPart]) -> None:
        """Passes on what came, cut as it came. Raises PeerGoneError."""
        plain = (part.data for part in parts)
        self._writer.write(part_bytes(parts) if self._chunked else b"".join(plain))
        await self.drain()

    def write_framed(self, data: bytes, *, ends: bool = False) -> None:
        """Passes on what came as it is framed on the wire, and its end; waits for nothing."""
        if self._unframed is not None:
            data = b"".join(part.data for part in self._unframed.feed(data))
        elif ends and self._chunked:
            data, self._chunked = data + LAST_CHUNK, False
        if self._unsent:
            data, self._unsent = self._unsent + data, b""
        self._writer.write(data)

    @property
    def has_room(self) -> bool:
        """Whether more may be written before `drain`, which also shows that the client has left."""
        transport = self._writer.transport
        _, most = transport.get_write_buffer_limits()
        return transport.get_write_buffer_size() <= most and not transport.is_closing()

    def write_end(self) -> None:
        """The body is whole; waits for nothing."""
        if self._chunked:
            self._writer.write(LAST_CHUNK)

    async def drain(self) -> None:
        """Waits until the client has room for more. Raises PeerGoneError."""
        try:
            await self._writer.drain()
        except OSError as err:
            self.gone = True
            raise PeerGoneError from err

    async def end_response(self) -> None:
        """The body is whole. Raises PeerGoneError."""
        self.write_end()
        await self.drain()

    async def refuse(self, status: int, body: bytes) -> None:
        """An answer in JSON; it is the last one on this connection.

        What the client still sends is read and dropped for a while: unread bytes would make the
        kernel send a reset, which can destroy the answer.
        """
        self._writer.write(json_response(status, body, keeps_alive=False))
        await self.drain()
        await self.unwatch()
        with suppress(OSError, TimeoutError):
            if self._writer.can_write_eof():
                self._writer.write_eof()
            async with asyncio.timeout(_LINGER_S):
                while await self._reader.read(READ_SIZE):
                    pass

    async def reset(self) -> None:
        """Ends the connection as a crash does, after the bytes sent before have arrived."""
        await reset_connection(self._writer, _REQUEST_S)

    async def close(self) -> None:
        self._give_back()
        await self.unwatch()
        self._writer.close()

    def _give_back(self) -> None:
        self.budget.take(-self._reserved)
        self._reserved = 0

    async def _watch_reading(
        self, on_gone: Callable[[], None], on_silent: Callable[[], None]
    ) -> None:
        try:
            while len(self._rest) <= _MOST_EARLY:
                data = await self._reader.read(READ_SIZE)
                if not data:
                    self.silent = True
                    on_silent()
                    return
                self._rest += data
        except OSError:
            self.gone = True
            on_gone()

    async def _read_within(self, seconds: float) -> bytes:
        try:
            async with asyncio.timeout(seconds):
                return await self._reader.read(READ_SIZE)
        except (OSError, TimeoutError):
            return b""


Accept = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]


@asynccontextmanager
async def listening(host: str, port: int, accept: Accept) -> AsyncIterator[int]:
    """Runs `accept` for each connection until the block is left, where the rest is cancelled.

    Gives the port. Raises UsageError where it cannot be had.
    """
    tasks: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(accept(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        # A task that is cancelled before its first step closes nothing itself.
        task.add_done_callback(lambda _: writer.close())

    try:
        server = await asyncio.start_server(connected, host, port, backlog=_BACKLOG)
    except OSError as err:
        raise cannot_listen(host, port, err) from err
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


def cannot_listen(host: str, port: int, error: OSError) -> UsageError:
    return UsageError(f"cannot listen on {host}:{port}: {(error.strerror or str(error)).lower()}")


@contextmanager
def running_in_thread(manager: AbstractAsyncContextManager[Entered]) -> Iterator[Entered]:
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
