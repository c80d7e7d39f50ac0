"""The thread that judges and draws, so that the relay never waits for either.

It may be stopped at any time: what waits is then shown for half a second of processor time at
most, and a terminal that does not read holds up this thread alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Event, Thread
from time import monotonic, perf_counter, thread_time
from typing import Final

from conformance.watching.feed import FeedMessage, KeyPressed, NoticeText, TrafficFeed, WatchEnded
from conformance.watching.judging import TrafficJudge
from conformance.watching.timed_view import TimedView, TrafficView
from conformance.watching.traffic import Traffic

if sys.platform == "linux":
    from time import clock_gettime, pthread_getcpuclockid

_STEP_S: Final = 0.1  # between two drawings
_REST_S: Final = 0.5  # of processor time, for what waits at the end
_STUCK_S: Final = 0.7  # after which what shows nothing is taken to read no more
_ENDS_S: Final = 10.0  # that the thread may take on a busy machine
_LOOK_S: Final = 0.05


class Watcher(Thread):
    """Takes what is fed until `stop`. `on_failure` is called where it cannot go on.

    `error` is then what stopped it. `is_cut`: not all that was fed was taken.
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
        self.is_cut = False
        self._view = TimedView(view)
        self.traffic = Traffic(judge, self._view, feed.new_number)
        self._feed = feed
        self._screen = screen
        self._on_failure = on_failure
        self._is_ending = Event()

    def run(self) -> None:
        try:
            with self._view.timed():
                self._screen.__enter__()
            try:
                self._watch_feed()
            finally:
                with self._view.timed():
                    self._screen.__exit__(None, None, None)
        except BaseException as err:  # noqa: BLE001  # whoever waits for the thread raises it
            self.error = err
            self._on_failure()

    @property
    def is_stuck(self) -> bool:
        """Whether the output has no reader."""
        return self._view.seconds_showing > _STUCK_S

    def stop(self) -> None:
        """Waits for the end of the thread, unless it is stuck, or busy with something long."""
        self._is_ending.set()
        self._feed.post(WatchEnded())
        until = monotonic() + _ENDS_S
        spent = _processor_time(self) + _REST_S
        while self.is_alive() and monotonic() < until:
            self.join(_LOOK_S)
            if self.is_stuck or _processor_time(self) > spent:
                break
        self.is_cut = self.is_cut or self.is_alive()

    def _watch_feed(self) -> None:
        draw_at = perf_counter()
        ends_at: float | None = None
        while True:
            message = self._feed.take(draw_at - perf_counter())
            if isinstance(message, WatchEnded):
                break
            if message is not None:
                self._take_message(message)
            if self._is_ending.is_set():
                ends_at = ends_at or thread_time() + _REST_S / 2
                if thread_time() > ends_at:
                    self.is_cut = True
                    break
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


def _processor_time(thread: Thread) -> float:
    """Seconds that a thread has used; on a machine that does not say so, none."""
    if sys.platform != "linux" or thread.ident is None or not thread.is_alive():
        return 0.0
    return clock_gettime(pthread_getcpuclockid(thread.ident))
