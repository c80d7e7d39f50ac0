"""A view of which others may ask since when it shows something: a terminal may not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Protocol

from conformance.judging.result import Finding
from conformance.watching.exchange import WatchedExchange
from conformance.watching.feed import KeyPressed
from conformance.watching.traffic import Traffic, TrafficListener


class TrafficView(TrafficListener, Protocol):
    """Shows traffic; entered, used and left in one thread."""

    def show(self, traffic: Traffic) -> None: ...
    def note(self, text: str) -> None: ...
    def press(self, key: KeyPressed, traffic: Traffic) -> None: ...


class TimedView:
    """Another view; any thread may call `seconds_showing`."""

    def __init__(self, view: TrafficView) -> None:
        self._view = view
        self._since: float | None = None

    @property
    def seconds_showing(self) -> float:
        """How long what it shows now has not been taken; 0 where it shows nothing."""
        since = self._since
        return 0.0 if since is None else monotonic() - since

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Something is shown within the block."""
        self._since = monotonic()
        try:
            yield
        finally:
            self._since = None

    def began(self, exchange: WatchedExchange) -> None:
        """As `TrafficListener`, as those that follow."""
        with self.timed():
            self._view.began(exchange)

    def found(self, exchange: WatchedExchange, findings: Sequence[Finding]) -> None:
        with self.timed():
            self._view.found(exchange, findings)

    def ended(self, exchange: WatchedExchange) -> None:
        with self.timed():
            self._view.ended(exchange)

    def show(self, traffic: Traffic) -> None:
        """As `TrafficView`, as those that follow."""
        with self.timed():
            self._view.show(traffic)

    def note(self, text: str) -> None:
        with self.timed():
            self._view.note(text)

    def press(self, key: KeyPressed, traffic: Traffic) -> None:
        """What a key does may take its time, and is no output."""
        self._view.press(key, traffic)
