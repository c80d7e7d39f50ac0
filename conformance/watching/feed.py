"""From the relay's loop to the thread that watches: messages, of which so many bytes may wait."""

from __future__ import annotations

from itertools import count
from queue import Empty, SimpleQueue
from typing import Final

from msgspec import Struct

from conformance.targets.recording.messages import (
    BodyCame,
    ExchangeEnded,
    HeadCame,
    PartCame,
    RequestCame,
    ToWorker,
)
from conformance.targets.recording.queued import QueuedRecorder

MOST_WAITING: Final = 64 * 1024 * 1024

ExchangeMessage = RequestCame | HeadCame | BodyCame | PartCame | ExchangeEnded


class KeyPressed(Struct, frozen=True):
    """A key, by its name: `up`, `down`, `enter`, `escape`, or the character itself."""

    name: str


class NoticeText(Struct, frozen=True):
    """A line for the user that belongs to no exchange."""

    text: str


class WatchEnded(Struct, frozen=True):
    """Nothing follows."""


FeedMessage = ExchangeMessage | KeyPressed | NoticeText | WatchEnded


class TrafficFeed:
    """Put to by one thread, taken from by another one.

    Where more than `most` bytes of bodies wait, the exchange that would add to them gets no
    more.
    """

    def __init__(self, most: int = MOST_WAITING) -> None:
        self._messages: SimpleQueue[FeedMessage] = SimpleQueue()
        self._numbers = count(1)
        self._most = most
        # Each is written by one thread only, so that no lock is needed.
        self._put = self._taken = 0

    def new_log(self) -> QueuedRecorder:
        """What takes the next exchange."""
        return QueuedRecorder(self, self.new_number())

    def new_number(self) -> int:
        """The number of the next exchange; any thread may ask."""
        return next(self._numbers)

    def has_room(self, size: int) -> bool:
        """Whether so many bytes may wait, too."""
        return self._put - self._taken + size <= self._most

    def refuse_exchange(self) -> None:
        """There is no room for an exchange."""
        self.post(NoticeText("too much waits to be judged: an exchange is not shown"))

    def put(self, message: ToWorker) -> None:
        if isinstance(message, ExchangeMessage):
            self._put += message_size(message)
            self.post(message)

    def post(self, message: FeedMessage) -> None:
        """Puts what takes no room."""
        self._messages.put(message)

    def take(self, timeout: float) -> FeedMessage | None:
        """The next message; None where none comes within so many seconds."""
        try:
            message = self._messages.get(timeout=max(timeout, 0.0))
        except Empty:
            return None
        if isinstance(message, ExchangeMessage):
            self._taken += message_size(message)
        return message


def message_size(message: ExchangeMessage) -> int:
    """Bytes of a body in it."""
    if isinstance(message, BodyCame):
        return len(message.data)
    if isinstance(message, PartCame):
        return len(message.part.data)
    return len(message.request.body) if isinstance(message, RequestCame) else 0
