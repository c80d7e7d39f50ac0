"""Messages of the relay to the process that writes, and back: MessagePack frames over a socket.

A frame is its length in four bytes, and then one message.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct

from conformance.core.events import Ending, Response, Side
from conformance.targets.recording.cassette_file import RecordingOptions
from conformance.targets.recording.exchange import ExchangeOutcome
from conformance.wire.requests import HttpRequest
from conformance.wire.socket_parts import SocketPart


class WorkerOrders(Struct, frozen=True, array_like=True, tag=0):
    """The first message: where to record, and how."""

    folder: str
    options: RecordingOptions
    keys: tuple[str, ...] = ()  # of the user, and headers that hold some
    names: tuple[str, ...] = ()


class RequestCame(Struct, frozen=True, array_like=True, tag=1):
    """A request for this target came then, by `perf_counter`, as all `came`.

    `head` is there where the head came first: that of the WebSocket on which a message asks.
    """

    number: int
    came: float
    target: str
    request: HttpRequest
    head: Response | None = None


class HeadCame(Struct, frozen=True, array_like=True, tag=2):
    """The response head; whether the body is in chunked coding."""

    number: int
    came: float
    response: Response
    chunked: bool


class BodyCame(Struct, frozen=True, array_like=True, tag=3):
    """The bytes of the body that one read returned."""

    number: int
    came: float
    data: bytes


class PartCame(Struct, frozen=True, array_like=True, tag=9):
    """A message of a WebSocket, or a close."""

    number: int
    came: float
    side: Side
    part: SocketPart


class ExchangeEnded(Struct, frozen=True, array_like=True, tag=4):
    """It is over. `lost`: why the rest of the body is not recorded."""

    number: int
    came: float
    how: Ending
    note: str
    lost: str = ""


class NoMore(Struct, frozen=True, array_like=True, tag=5):
    """Nothing follows: complete what is open, and say `WorkerDone`."""


class OutcomeMessage(Struct, frozen=True, array_like=True, tag=6):
    """An exchange is recorded, in the file of this name."""

    number: int
    file: str
    outcome: ExchangeOutcome


class FailureMessage(Struct, frozen=True, array_like=True, tag=7):
    """An exchange, or its rest, cannot be recorded; 0 where it is not one alone."""

    number: int
    why: str


class WorkerDone(Struct, frozen=True, array_like=True, tag=8):
    """Everything is written and closed."""


ToWorker = WorkerOrders | RequestCame | HeadCame | BodyCame | PartCame | ExchangeEnded | NoMore
FromWorker = OutcomeMessage | FailureMessage | WorkerDone
Message = ToWorker | FromWorker

_LENGTH: Final = struct.Struct("!I")
_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final[msgspec.msgpack.Decoder[Any]] = msgspec.msgpack.Decoder(Message)


def encode_message(message: Message) -> bytes:
    body = _ENCODER.encode(message)
    return _LENGTH.pack(len(body)) + body


class MessageReader:
    """Bytes in, messages out with the size of their frames."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[Any, int]]:
        """The messages that are whole now. To be read to its end."""
        held, at = self._held, 0
        held += data
        while at + _LENGTH.size <= len(held):
            (length,) = _LENGTH.unpack_from(held, at)
            end = at + _LENGTH.size + length
            if end > len(held):
                break
            with memoryview(held) as view:
                message = _DECODER.decode(view[at + _LENGTH.size : end])
            yield message, end - at
            at = end
        del held[:at]
