"""The thread that judges and draws, so that the relay never waits for either."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Thread
from time import perf_counter
from typing import Final, Protocol

from conformance.watching.feed import FeedMessage, KeyPressed, NoticeText, TrafficFeed, WatchEnded
from conformance.watching.judging import TrafficJudge
from conformance.watching.traffic import Traffic, TrafficListener

_STEP_S: Final = 0.1  # between two drawings


class TrafficView(TrafficListener, Protocol):
    """Shows traffic; entered, used and left in one thread."""

    def show(self, traffic: Traffic) -> None: ...
    def note(self, text: str) -> None: ...
    def press(self, key: KeyPressed, traffic: Traffic) -> None: ...


class Watcher(Thread):
    """Takes what is fed until `WatchEnded`. `on_failure` is called where it cannot go on.

    `error` is then what stopped it. `quit` is called where the user wants to leave.
    """

    def __init__(
        self,
        feed: TrafficFeed,
        judge: TrafficJudge,
        view: TrafficView,
        screen: AbstractContextManager[object],
        on_failure: Callable[[], object],
    ) -> None:
        super().__init__(name="conformance-watch", daemon=True)
        self.error: BaseException | None = None
        self.traffic = Traffic(judge, view)
        self._feed = feed
        self._view = view
        self._screen = screen
        self._on_failure = on_failure

    def run(self) -> None:
        try:
            with self._screen:
                self._watch_feed()
        except BaseException as err:  # noqa: BLE001  # whoever waits for the thread raises it
            self.error = err
            self._on_failure()

    def _watch_feed(self) -> None:
        draw_at = perf_counter()
        while True:
            message = self._feed.take(draw_at - perf_counter())
            if isinstance(message, WatchEnded):
                break
            if message is not None:
                self._take_message(message)
            if perf_counter() >= draw_at:
                self.traffic.catch_up()
                self._view.show(self.traffic)
                draw_at = perf_counter() + _STEP_S

    def _take_message(self, message: FeedMessage) -> None:
        match message:
            case KeyPressed():
                self._view.press(message, self.traffic)
            case NoticeText():
                self._view.note(message.text)
            case WatchEnded():
                pass
            case _:
                self.traffic.take(message)
