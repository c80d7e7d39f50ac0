"""Frames: the pieces into which the bytes of a stream fall, whatever their framing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

MOST_BYTES: Final = 16 * 1024 * 1024
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


class FrameReader(ABC):
    """Reads one stream. `most` bounds the bytes of a frame."""

    def __init__(self, *, most: int = MOST_BYTES) -> None:
        self._most = most

    @abstractmethod
    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The frames that these bytes complete. Raises BrokenStream after those before it."""

    def close(self) -> Iterator[Frame]:
        """What the end of the bytes completes; most often nothing: a torn frame says nothing."""
        yield from ()

    def _bound(self, size: int, what: str) -> None:
        if size > self._most:
            raise TooLong(f"{what} of the stream is longer than {self._most} bytes")
