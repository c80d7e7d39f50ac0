"""Frames: the pieces into which the bytes of a stream fall, whatever their framing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

Framing = Literal["events", "lines", "binary"]


class BrokenStream(Exception):  # noqa: N818  # it names what is wrong with the stream
    """The bytes cannot be read any further."""


class TooLong(BrokenStream):
    """One frame is longer than a client wants to hold."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One dispatched event; `name` is `message` where the stream gave none.

    It is `raised` where its framing marks it as an error.
    """

    name: str
    data: str
    raised: bool = False


class FrameReader(Protocol):
    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The frames that these bytes complete. Raises BrokenStream after those before it."""

    def close(self) -> Iterator[Frame]:
        """What the end of the bytes completes."""
