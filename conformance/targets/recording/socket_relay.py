"""Both ways of a WebSocket that is passed on, byte for byte, and read while it passes.

Rule 1: frames go on as they came, with their masks, fragments, pings and codes: each side sees what
it would see directly. Only extensions are never negotiated, as what passes would be unreadable.
Rule 2: what is no WebSocket is not passed on. The side that sent it gets a close with the code that
its fault earns (1002, or 1009 for a message over the bound), the other one a close that says so.
Rule 3: a message is recorded when it is whole. Whether a text is UTF-8 is the other side's to say.
Rule 4: a FIN is passed on as one, a reset as one; where a side does not end its connection after
both closes, or nothing comes from either for too long, both are dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Final, Literal, NamedTuple, Protocol

from conformance.cassette.importers.socket_messages import closed_by
from conformance.core.events import Ending, Side
from conformance.wire.closing import reset_connection
from conformance.wire.passing_reader import READ_SIZE
from conformance.wire.server import BodyBudget
from conformance.wire.socket_parts import (
    BAD_GATEWAY,
    GOING_AWAY,
    TRY_LATER,
    SocketFault,
    SocketPart,
)
from conformance.wire.websocket import SocketReader, close_frame

_AFTER_CLOSE_S: Final = 5.0  # that a connection may stay open after both closes
_RESET_S: Final = 2.0
_LINGER_S: Final = 1.0  # of each side, after a fault
TakenOver = tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]


class _Stop(NamedTuple):
    """Who sends no more, and how that came."""

    side: Side
    how: Literal["fin", "reset", "idle", "fault"]


class PartLog(Protocol):
    """Is given each message and close, and how it ended."""

    def record_part(self, side: Side, part: SocketPart) -> None: ...
    def record_end(self, how: Ending, note: str = "") -> None: ...


class _RelayedSide:
    """One side: what it sends, and what is sent to it. `shown` are its whole frames' parts."""

    def __init__(self, side: Side, taken: TakenOver, budget: BodyBudget) -> None:
        self.side = side
        self.reader, self.writer, self.early = taken
        self.frames = SocketReader(side)
        self.fault: SocketFault | None = None
        self.is_cut = False  # what was passed on ends in the middle of a frame
        self._budget = budget
        self._reserved = 0

    def take(self, data: bytes, show: Callable[[SocketPart], None]) -> bytes:
        """How much of the bytes may be passed on."""
        before = self.frames.came
        for part in self.frames.feed(data):
            show(part)
        self.fault = self.frames.fault
        if self._budget.take(self.frames.held - self._reserved):
            self._reserved = self.frames.held
        else:
            self.fault = SocketFault(TRY_LATER, "the messages of all connections are too large")
        if self.fault is None:
            self.is_cut = not self.frames.is_between_frames
            return data
        self.is_cut = self.frames.framed < before
        return data[: max(self.frames.framed - before, 0)]

    def end_writing(self) -> None:
        """Says that no more comes; TLS cannot say so."""
        with suppress(OSError):
            if self.writer.can_write_eof():
                self.writer.write_eof()

    async def linger(self) -> None:
        """Drops what still comes: a reset would overtake the close."""
        self.end_writing()
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(_LINGER_S):
                while await self.reader.read(READ_SIZE):
                    pass

    def close(self) -> None:
        self._budget.take(-self._reserved)
        self._reserved = 0
        self.writer.close()


class SocketRelay:
    """Passes one WebSocket on; `client` and `server` are the ways to either."""

    def __init__(
        self,
        client: TakenOver,
        server: TakenOver,
        log: PartLog,
        idle_s: float,
        budget: BodyBudget,
    ) -> None:
        self._client = _RelayedSide("client", client, budget)
        self._server = _RelayedSide("server", server, budget)
        self._log = log
        self._idle_s = idle_s
        self._latest = monotonic()
        self._closed: tuple[Side, int] | None = None  # by whom first, and with which code

    async def pass_on(self, head: bytes) -> None:
        """Until it is over, and both sides know."""
        self._client.writer.write(head)
        asking = asyncio.create_task(self._pass_side(self._client, self._server))
        answering = asyncio.create_task(self._pass_side(self._server, self._client))
        try:
            await asyncio.wait((asking, answering), return_when=asyncio.FIRST_COMPLETED)
            first = last = (asking if asking.done() else answering).result()
            if first == _Stop("client", "fin"):
                self._server.end_writing()
                last = await answering
            for task in (asking, answering):
                task.cancel()
            await asyncio.wait((asking, answering))
            self._log.record_end(*self._ending(first))
            await self._leave(last)
        finally:
            asking.cancel()
            answering.cancel()
            if self._closed is not None:  # and whoever stops us then changes nothing
                self._log.record_end(closed_by(*self._closed))
            self._client.close()
            self._server.close()

    async def _pass_side(self, source: _RelayedSide, target: _RelayedSide) -> _Stop:
        try:
            while data := await self._read_within(source):
                passed = source.take(data, lambda part: self._show(source.side, part))
                try:
                    target.writer.write(passed)
                    await target.writer.drain()
                except OSError:
                    return _Stop(target.side, "reset")
                if source.fault is not None:
                    return _Stop(source.side, "fault")
        except TimeoutError:
            return _Stop(source.side, "idle")
        except OSError:
            return _Stop(source.side, "reset")
        return _Stop(source.side, "fin")

    async def _read_within(self, source: _RelayedSide) -> bytes:
        """Raises TimeoutError where nothing comes from either side, OSError for a reset."""
        early, source.early = source.early, b""
        while not early:
            are_closed = self._client.frames.is_closed and self._server.frames.is_closed
            most = _AFTER_CLOSE_S if are_closed else self._idle_s
            try:
                async with asyncio.timeout(most):
                    early = await source.reader.read(READ_SIZE)
                break
            except TimeoutError:
                if monotonic() - self._latest >= most:
                    raise
        self._latest = monotonic()
        return early

    def _show(self, side: Side, part: SocketPart) -> None:
        if part.kind == "close" and self._closed is None:
            self._closed = side, part.code
        if part.is_message or part.kind == "close":
            self._log.record_part(side, part)

    async def _leave(self, stop: _Stop) -> None:
        """Each side learns how the other one ended."""
        sides = (self._client, self._server)
        source, target = sides if stop.side == "client" else sides[::-1]
        if source.fault is not None:
            code = GOING_AWAY if stop.side == "client" else BAD_GATEWAY
            _say_close(source, target, source.fault.code, source.fault.why)
            _say_close(target, source, code, _broke(source.side, source.fault))
            await asyncio.gather(target.linger(), source.linger())
        elif stop.how == "reset":
            await reset_connection(target.writer, _RESET_S)

    def _ending(self, stop: _Stop) -> tuple[Ending, str]:
        is_client = stop.side == "client"
        fault = (self._client if is_client else self._server).fault
        if fault is not None:
            return "client-closed" if is_client else "protocol-error", _broke(stop.side, fault)
        if self._closed is not None:
            return closed_by(*self._closed), ""
        if stop.how == "idle":
            return "idle-timeout", f"nothing came for {self._idle_s:g} s"
        if is_client:
            return "client-closed", ""
        if stop.how == "reset":
            return "reset", "the connection was reset"
        return "protocol-error", "the server ended the connection without a close"


def _broke(side: Side, fault: SocketFault) -> str:
    return f"the {side} broke the protocol: {fault.why}"


def _say_close(side: _RelayedSide, other: _RelayedSide, code: int, why: str) -> None:
    """A close to one side, in the other's name, unless that is amid a frame or has closed."""
    if not (other.is_cut or other.frames.is_closed):
        side.writer.write(close_frame(code, why, other.side))
