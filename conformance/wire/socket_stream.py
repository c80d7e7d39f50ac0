"""One end of a WebSocket on a connection of asyncio: whole messages, pings answered by itself."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from conformance.core.events import Side
from conformance.wire.passing_reader import READ_SIZE
from conformance.wire.socket_parts import TRY_LATER, FrameKind, SocketFault, SocketPart
from conformance.wire.websocket import (
    MOST_MESSAGE,
    SocketReader,
    close_frame,
    control_frame,
    message_frames,
)

_NO_ROOM: Final = SocketFault(TRY_LATER, "the messages of all connections together are too large")


class SocketEndedError(Exception):
    """The connection ended without a close: by a FIN, or a reset."""

    def __init__(self, *, is_reset: bool) -> None:
        super().__init__("the connection was reset" if is_reset else "closed without a close")
        self.is_reset = is_reset


class SocketFaultError(Exception):
    """The other side broke the protocol; it has been answered by the close that this earns."""

    def __init__(self, fault: SocketFault) -> None:
        super().__init__(fault.why)
        self.fault = fault


class SocketStream:
    """Our end, on `side`.

    `early` are bytes that came with the head. `reserve` decides whether so many more bytes may be
    held; a negative number gives back. `is_over`: the other side has closed.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        side: Side,
        *,
        early: bytes = b"",
        most: int = MOST_MESSAGE,
        reserve: Callable[[int], bool] = lambda _: True,
    ) -> None:
        self.writer = writer
        self._reader = reader
        self._side = side
        other: Side = "server" if side == "client" else "client"
        self._frames = SocketReader(other, most=most, checks_text=True)
        self._parts: deque[SocketPart] = deque()
        self._reserve = reserve
        self._reserved = 0
        self._is_closing = False
        self._early = early
        self.is_over = False

    async def receive(self) -> SocketPart:
        """The next message, or the close that ends it.

        Raises SocketEndedError, SocketFaultError.
        """
        while True:
            while self._parts:
                part = self._parts.popleft()
                self.is_over = self.is_over or part.kind == "close"
                if part.is_message or part.kind == "close":
                    return part
                if part.kind == "ping" and not self._is_closing:
                    self.writer.write(control_frame("pong", part.data, self._side))
            if (fault := self._frames.fault) is not None:
                await self.close(fault.code, fault.why)
                raise SocketFaultError(fault)
            self._take(await self._read())

    async def send(self, kind: FrameKind, pieces: Iterable[bytes]) -> None:
        """One message, a frame for each piece. Raises SocketEndedError."""
        for frame in message_frames(kind, pieces, self._side):
            self.writer.write(frame)
            await self.drain()

    async def drain(self) -> None:
        """Waits for room. Raises SocketEndedError."""
        try:
            await self.writer.drain()
        except OSError as err:
            raise SocketEndedError(is_reset=True) from err

    async def close(self, code: int, reason: str = "") -> None:
        """Says that nothing more comes; a second call does nothing."""
        if not self._is_closing:
            self._is_closing = True
            self.writer.write(close_frame(code, reason, self._side))
            with suppress(SocketEndedError):
                await self.drain()

    def give_back(self) -> None:
        """Nothing more is read."""
        self._reserve(-self._reserved)
        self._reserved = 0

    def _take(self, data: bytes) -> None:
        self._parts.extend(self._frames.feed(data))
        held = self._frames.held
        if self._reserve(held - self._reserved):
            self._reserved = held
        else:
            self._frames.fault = _NO_ROOM

    async def _read(self) -> bytes:
        data, self._early = self._early, b""
        try:
            data = data or await self._reader.read(READ_SIZE)
        except OSError as err:
            raise SocketEndedError(is_reset=True) from err
        if not data:
            raise SocketEndedError(is_reset=False)
        return data
