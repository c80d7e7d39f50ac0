"""Ends a connection so that the other side sees exactly that: a FIN or a RST.

Closing a socket while unread bytes wait in it makes the kernel send a RST, which can destroy what
was written before: so a FIN is a half-close, and what the other side still sends is read and
dropped for a while. A RST drops what the kernel has not delivered: so it waits until all is
acknowledged.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from contextlib import suppress
from typing import Any, Final

if sys.platform == "linux":
    import fcntl
    import termios

_LINGER_S: Final = 2.0
_LOOKS_S: Final = (0.001, 0.05)  # between two checks of pending bytes, at first and at last
_RESET: Final = struct.pack("ii", 1, 0)  # linger on, for no time: closing sends RST


class ConnectionCloser:
    """Ends one connection, once. `patience_s` is for a peer that has not read all yet."""

    __slots__ = ("_deadline", "_look", "_loop", "_timer", "_transport")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, transport: asyncio.WriteTransport, patience_s: float
    ) -> None:
        self._loop = loop
        self._transport = transport
        self._deadline = loop.time() + patience_s
        self._look = _LOOKS_S[0]
        self._timer: asyncio.Handle | None = None

    def send_fin(self) -> None:
        """No more bytes from us; the connection goes when the peer's end does, or soon."""
        if self._transport.can_write_eof() and not self._timer:
            with suppress(OSError):  # the peer was quicker
                self._transport.write_eof()
        pending = self._transport.get_write_buffer_size() and self._loop.time() < self._deadline
        then = self.send_fin if pending else self._transport.abort
        self._timer = self._loop.call_later(_LINGER_S, then)

    def send_rst(self) -> None:
        """A reset, once all that was written has arrived."""
        sock = self._transport.get_extra_info("socket")
        if sock is None or sock.fileno() < 0:
            return  # the peer was quicker
        if _unacknowledged_bytes(self._transport, sock) and self._loop.time() < self._deadline:
            self._timer = self._loop.call_later(self._look, self.send_rst)
            self._look = min(2 * self._look, _LOOKS_S[1])
            return
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._transport.abort()

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


async def reset_connection(writer: asyncio.StreamWriter, patience_s: float) -> None:
    """A reset, once all that was written has arrived, or the patience is over."""
    ConnectionCloser(asyncio.get_running_loop(), writer.transport, patience_s).send_rst()
    with suppress(OSError):  # the peer was quicker
        await writer.wait_closed()


def _unacknowledged_bytes(transport: asyncio.WriteTransport, sock: Any) -> int:
    """Bytes that the peer's kernel has not acknowledged yet, as far as this system shows."""
    waiting = transport.get_write_buffer_size()
    if waiting or sys.platform != "linux":
        return waiting
    count = fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, struct.pack("i", 0))
    return int(struct.unpack("i", count)[0])
