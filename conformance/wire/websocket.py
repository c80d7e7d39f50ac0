"""Frames of a WebSocket: bytes of one side in, whole messages out, and the other way round.

https://www.rfc-editor.org/rfc/rfc6455#section-5. This module sends nothing: a relay passes messages
on, and a client or server answers pings and closes itself.
Rule 1: after a side breaks the protocol no more of it is read: `fault` describes the mistake, with
the close code for it. Earlier messages are still given out.
Rule 2: a message is held until it is complete, up to a bound; a frame that announces more is a
fault before any of it is held.
Rule 3: texts are checked for UTF-8 only with `checks_text`: a recorder keeps any bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Generator, Iterable, Iterator
from typing import Final

from websockets.exceptions import PayloadTooBig, ProtocolError
from websockets.frames import Close, Frame, Opcode
from websockets.streams import StreamReader

from conformance.core.events import Side
from conformance.wire.socket_parts import (
    INVALID_TEXT,
    NO_CODE,
    PROTOCOL_ERROR,
    TOO_BIG,
    FrameKind,
    SocketFault,
    SocketPart,
)

MOST_MESSAGE: Final = 100 * 1024 * 1024
_KINDS: Final[dict[Opcode, FrameKind]] = {
    Opcode.TEXT: "text",
    Opcode.BINARY: "binary",
    Opcode.PING: "ping",
    Opcode.PONG: "pong",
    Opcode.CLOSE: "close",
}
_OPCODES: Final = {kind: opcode for opcode, kind in _KINDS.items()}
_LONGEST_CONTROL: Final = 125
_LONGEST_REASON: Final = 123


class SocketReader:
    """Reads what one side sends: `came` counts its bytes, `framed` those of whole frames."""

    def __init__(self, side: Side, *, most: int = MOST_MESSAGE, checks_text: bool = False) -> None:
        self._masked = side == "client"
        self._most = most
        self._checks_text = checks_text
        self._stream = StreamReader()
        self._message = bytearray()  # joined at once: fragments may be a million
        self._kind: FrameKind | None = None  # of the message under way
        self._frame = self._next_frame()
        self._taken = 0  # bytes of the frame under way
        self.came = 0
        self.framed = 0
        self.fault: SocketFault | None = None
        self.is_closed = False

    @property
    def held(self) -> int:
        """Bytes that came and were not given out."""
        return len(self._stream.buffer) + len(self._message)

    @property
    def is_between_frames(self) -> bool:
        """Whether every frame that was begun is whole."""
        return self.came == self.framed

    def feed(self, data: bytes) -> Iterator[SocketPart]:
        """The parts that are complete now; read all. Nothing follows a close or a fault."""
        self.came += len(data)
        if not (self.is_closed or self.fault):
            self._stream.feed_data(data)
        while not (self.is_closed or self.fault):
            try:
                next(self._frame)
            except StopIteration as done:
                part = self._take_frame(done.value)
                if self.fault is None:
                    self.framed += self._taken
                self._taken, self._frame = 0, self._next_frame()
                if part is not None:
                    yield part
            except PayloadTooBig:
                self.fault = SocketFault(TOO_BIG, f"a message has more than {self._most:,} bytes")
            except ProtocolError as err:
                self.fault = SocketFault(PROTOCOL_ERROR, str(err))
            else:
                return
        self._stream.buffer.clear()
        self._message.clear()

    def _next_frame(self) -> Generator[None, None, Frame]:
        most = max(self._most - len(self._message), _LONGEST_CONTROL)
        return Frame.parse(self._read, mask=self._masked, max_size=most)

    def _read(self, size: int) -> Generator[None, None, bytes | bytearray]:
        data = yield from self._stream.read_exact(size)
        self._taken += size
        return data

    def _take_frame(self, frame: Frame) -> SocketPart | None:
        if frame.opcode is not Opcode.CONT and (kind := _KINDS[frame.opcode]) not in _MESSAGES:
            return self._take_control(kind, bytes(frame.data))
        if (frame.opcode is Opcode.CONT) is (self._kind is None):
            found = "goes on" if self._kind is None else "begins inside another"
            self.fault = SocketFault(PROTOCOL_ERROR, f"a message {found}, and none may")
            return None
        kind = self._kind or _KINDS[frame.opcode]
        self._kind = None if frame.fin else kind
        if frame.fin and not self._message:
            return self._whole_message(kind, bytes(frame.data))
        self._message += frame.data
        return self._whole_message(kind, bytes(self._message)) if frame.fin else None

    def _whole_message(self, kind: FrameKind, data: bytes) -> SocketPart | None:
        self._message.clear()
        if self._checks_text and kind == "text" and not _is_text(data):
            self.fault = SocketFault(INVALID_TEXT, "a text message is no UTF-8")
            return None
        return SocketPart(kind, data)

    def _take_control(self, kind: FrameKind, data: bytes) -> SocketPart | None:
        if kind != "close":
            return SocketPart(kind, data)
        try:
            close = Close.parse(data)
        except UnicodeDecodeError:
            self.fault = SocketFault(INVALID_TEXT, "the reason of a close is no UTF-8")
        except ProtocolError as err:
            self.fault = SocketFault(PROTOCOL_ERROR, f"a close: {err}")
        else:
            self.is_closed = True
            return SocketPart(kind, close.reason.encode(), int(close.code))
        return None


_MESSAGES: Final = frozenset({"text", "binary"})


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def message_frames(kind: FrameKind, pieces: Iterable[bytes], side: Side) -> Iterator[bytes]:
    """A message as frames, one for each piece."""
    waiting = iter(pieces)
    piece: bytes | None = next(waiting, b"")
    opcode = _OPCODES[kind]
    while piece is not None:
        after = next(waiting, None)
        yield Frame(opcode, piece, fin=after is None).serialize(mask=side == "client")
        piece, opcode = after, Opcode.CONT


def control_frame(kind: FrameKind, data: bytes, side: Side) -> bytes:
    """A ping or a pong."""
    return next(message_frames(kind, (data,), side))


def close_frame(code: int, reason: str, side: Side) -> bytes:
    """A close; one that names no code has neither that nor a reason."""
    short = reason.encode()[:_LONGEST_REASON].decode("utf-8", "ignore").encode()
    data = b"" if code == NO_CODE else struct.pack("!H", code) + short
    return control_frame("close", data, side)
