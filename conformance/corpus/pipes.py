"""Messages between this process and its workers: a length of eight bytes, then the value."""

from __future__ import annotations

from typing import IO, Final, TypeVar

import msgspec

_LENGTH: Final = 8
Message = TypeVar("Message")


def send_message(stream: IO[bytes], value: object) -> None:
    """Writes a value. Raises OSError where nobody reads any more."""
    data = msgspec.msgpack.encode(value)
    stream.write(len(data).to_bytes(_LENGTH, "big"))
    stream.write(data)
    stream.flush()


def receive_message(stream: IO[bytes], kind: type[Message]) -> Message | None:
    """The next value; None where the other side is gone."""
    head = stream.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    size = int.from_bytes(head, "big")
    data = stream.read(size)
    return msgspec.msgpack.decode(data, type=kind) if len(data) == size else None
