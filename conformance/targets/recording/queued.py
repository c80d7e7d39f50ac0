"""The relay's side of recording: what is reported goes to a separate process, without waiting.

Rule 1: messages are collected for some milliseconds and then written to a socket. What is still
here when the recorder is killed is lost; what is in the socket is written by the other process.
Rule 2: where more waits than the bound, the exchange that would add to it is recorded no further.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol

from msgspec import Struct

from conformance.cassette.redaction.own_keys import own_keys
from conformance.core.errors import HarnessError
from conformance.core.events import Ending, Response, Side
from conformance.core.own_keys import NAMES
from conformance.dialects import ENDPOINTS, dialect_at
from conformance.targets.recording.cassette_file import RecordingOptions
from conformance.targets.recording.exchange import ExchangeOutcome
from conformance.targets.recording.folder import RecordingFolder
from conformance.targets.recording.guarded import OnFailure
from conformance.targets.recording.messages import (
    BodyCame,
    ExchangeEnded,
    FailureMessage,
    HeadCame,
    MessageReader,
    NoMore,
    OutcomeMessage,
    PartCame,
    RequestCame,
    ToWorker,
    WorkerDone,
    WorkerOrders,
    encode_message,
)
from conformance.targets.recording.worker import run_worker
from conformance.wire.requests import HttpRequest
from conformance.wire.socket_parts import SocketPart

_COLLECT_S: Final = 0.02
_COLLECT_BYTES: Final = 256 * 1024
_CLOSE_S: Final = 60.0
_MOST_NAMED: Final = 5


class QueueLimits(Struct, frozen=True):
    """Bytes that may wait for the process that writes, and seconds in which it does nothing.

    At the end it is waited for as long as it goes on.
    """

    waiting: int = 64 * 1024 * 1024
    close_s: float = _CLOSE_S


class MessageSink(Protocol):
    """Takes messages about exchanges for somebody else."""

    def has_room(self, size: int) -> bool:
        """Whether so many bytes may wait, too."""

    def put(self, message: ToWorker) -> None:
        """Sends a message soon."""

    def refuse_exchange(self) -> None:
        """There is no room for an exchange: nothing will be reported of it."""


class RecordingQueue:
    """Records in a folder by a separate process, from `start` to `close`.

    `tell` hears of every exchange once it is written. Raises CassetteError where the folder
    cannot be made.
    """

    def __init__(
        self,
        folder: Path,
        options: RecordingOptions,
        *,
        tell: Callable[[str, ExchangeOutcome], None] | None = None,
        limits: QueueLimits | None = None,
    ) -> None:
        RecordingFolder(folder, options)  # whoever made the queue learns that it cannot be
        self._orders = WorkerOrders(str(folder.absolute()), options, own_keys(), tuple(NAMES))
        self._tell = tell or (lambda _, __: None)
        self._limits = limits or QueueLimits()
        self._fail: OnFailure = lambda _: None
        self._numbers = 0
        self._unwritten: dict[int, str] = {}  # how to name exchanges that are not written yet
        self._frames: list[bytes] = []
        self._waiting = 0
        self._timer: asyncio.TimerHandle | None = None
        self._link: _WorkerLink | None = None
        self._process: Any = None

    async def start(self, fail: OnFailure) -> None:
        """Starts the process; `fail` learns what cannot be recorded."""
        self._fail = fail
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = multiprocessing.get_context("spawn").Process(
                target=run_worker, args=(theirs,), name="conformance-recorder", daemon=True
            )
            self._process.start()
        loop = asyncio.get_running_loop()
        link = _WorkerLink(self._take_message)
        await loop.create_connection(lambda: link, sock=ours)
        self._link = link
        self.put(self._orders)

    async def close(self) -> None:
        """Everything is written, as long as the process goes on; what is not is named."""
        if self._link is None:
            return
        self.put(NoMore())
        self._write_collected()
        self._link.went_on()
        while not await self._link.has_ended(self._limits.close_s):
            if not self._link.went_on():
                why = f"nothing was written for {self._limits.close_s:g} s"
                self._fail(HarnessError(f"{why}: given up{self._unwritten_names()}"))
                self.kill()
                break
        self._link.drop()
        self._link = None
        await asyncio.to_thread(self._process.join)

    def kill(self) -> None:
        """Ends the process in its midst; nothing more is recorded."""
        if self._process is not None:
            self._process.kill()

    def new_log(self) -> QueuedRecorder:
        """Return the recorder of the next exchange."""
        self._numbers += 1
        return QueuedRecorder(self, self._numbers)

    def refuse_exchange(self) -> None:
        """An exchange is not recorded at all."""
        if self._link is not None and not self._link.ended.is_set():
            self._fail(HarnessError("too much waits to be recorded: an exchange is left out"))

    def has_room(self, size: int) -> bool:
        """Whether so many bytes may wait, too."""
        return self._link is not None and (
            self._waiting + self._link.waiting + size <= self._limits.waiting
        )

    def put(self, message: ToWorker) -> None:
        """Sends a message soon."""
        if self._link is None or self._link.ended.is_set():
            return
        if isinstance(message, RequestCame):
            self._unwritten[message.number] = _exchange_name(message)
        frame = encode_message(message)
        self._frames.append(frame)
        self._waiting += len(frame)
        if self._waiting > _COLLECT_BYTES:
            self._write_collected()
        elif self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_COLLECT_S, self._write_collected)

    def _write_collected(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._link is not None and self._frames:
            self._link.write(b"".join(self._frames))
        self._frames, self._waiting = [], 0

    def _take_message(self, message: Any) -> None:
        match message:
            case OutcomeMessage():
                self._unwritten.pop(message.number, None)
                self._tell(message.file, message.outcome)
            case FailureMessage():
                self._unwritten.pop(message.number, None)
                self._fail(HarnessError(message.why))
            case None:
                why = "the process that writes recordings is gone"
                self._fail(HarnessError(f"{why}{self._unwritten_names()}"))

    def _unwritten_names(self) -> str:
        """Exchanges whose recordings are missing or torn, after a message."""
        names = list(self._unwritten.values())
        more = [f"{len(names) - _MOST_NAMED} more"] if names[_MOST_NAMED:] else []
        named = ", ".join([*names[:_MOST_NAMED], *more])
        return f"; missing or torn: {named}" if named else ""


def _exchange_name(message: RequestCame) -> str:
    """The parts of a request that hold no secret."""
    dialect = dialect_at(message.target)
    endpoint = ENDPOINTS[dialect] if dialect else None
    path = f" {endpoint.base}{endpoint.path}" if endpoint else ""
    return f"#{message.number} {message.request.method}{path}"


class _WorkerLink(asyncio.Protocol):
    """The socket to the process; `take` gets its messages, and None where it ends too early."""

    def __init__(self, take: Callable[[Any], None]) -> None:
        self.ended = asyncio.Event()
        self._take = take
        self._reader = MessageReader()
        self._transport: asyncio.Transport
        self._received = self._known = 0
        self._waited = 0

    @property
    def waiting(self) -> int:
        """Bytes that the socket does not take yet."""
        return self._transport.get_write_buffer_size()

    async def has_ended(self, seconds: float) -> bool:
        """Whether the process ends within so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.ended.wait()
        return self.ended.is_set()

    def went_on(self) -> bool:
        """Whether it took or reported anything since the last call."""
        before = self._known, self._waited
        self._known, self._waited = self._received, self.waiting
        return before != (self._known, self._waited)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        for message, _ in self._reader.feed(data):
            if isinstance(message, WorkerDone):
                self.ended.set()
            else:
                self._take(message)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc  # the process was killed, one way or the other
        if not self.ended.is_set():
            self.ended.set()
            self._take(None)

    def write(self, data: bytes) -> None:
        if not self.ended.is_set():
            self._transport.write(data)

    def drop(self) -> None:
        self.ended.set()
        self._transport.abort()


class QueuedRecorder:
    """Records one exchange by the queue, as `ExchangeLog`."""

    def __init__(self, queue: MessageSink, number: int) -> None:
        self._queue = queue
        self._number = number
        self._lost = ""
        self._open = False

    def record_request(self, request: HttpRequest, target: str, came: float) -> None:
        if self._queue.has_room(len(request.body)):
            self._open = True
            self._queue.put(RequestCame(self._number, came, target, request))
        else:
            self._queue.refuse_exchange()

    def record_head(self, response: Response, came: float, *, chunked: bool) -> None:
        if self._open:
            self._queue.put(HeadCame(self._number, came, response, chunked))

    def record_body(self, data: bytes, came: float) -> None:
        if self._may_put(len(data)):
            self._queue.put(BodyCame(self._number, came, data))

    def record_part(self, side: Side, part: SocketPart, came: float) -> None:
        if self._may_put(len(part.data)):
            self._queue.put(PartCame(self._number, came, side, part))

    def _may_put(self, size: int) -> bool:
        if self._open and not self._lost and not self._queue.has_room(size):
            self._lost = "too much waits to be recorded"
        return self._open and not self._lost

    def record_end(self, how: Ending, came: float, note: str = "") -> None:
        if self._open:
            self._open = False
            self._queue.put(ExchangeEnded(self._number, came, how, note, self._lost))
