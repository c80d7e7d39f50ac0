"""The engine's thread: admit, step, tell, drop; it alone touches the model.

It sleeps only while there is nothing to do. A step that fails ends the generations that were in
it, each with the error; the thread goes on.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Final

import torch
from torch import Tensor

from .events import EngineError
from .slots import Batch
from .work import Outcome, Work, choose

PREFILL: Final = 8192
"""Cells (prompts times the longest of them) that one prefill may have, unless it is one prompt."""

Delivery = tuple[Work, int | None, Outcome]


class Loop:
    """Runs until `close`; `threads` is how many torch may use, None leaves it alone."""

    def __init__(
        self, batch: Batch, *, max_batch: int, step_delay_s: float = 0.0, threads: int | None = None
    ) -> None:
        self._batch = batch
        self._max_batch = max_batch
        self._step_delay_s = step_delay_s
        self._threads = threads
        self._arrivals: SimpleQueue[Work | None] = SimpleQueue()  # None wakes the thread to close
        self._waiting: deque[Work] = deque()
        self._rows: list[Work] = []
        self._open = 0  # submitted and not yet dropped
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    @property
    def idle(self) -> bool:
        return self._open == 0

    def wait_idle(self, timeout_s: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self.idle, timeout_s)

    def submit(self, work: Work) -> None:
        """Raises EngineError once the loop is closing."""
        with self._changed:
            if self._closing.is_set():
                raise EngineError("the engine is closed")
            self._open += 1
            self._arrivals.put(work)  # never after `close` has put its last

    def close(self) -> None:
        with self._changed:
            self._closing.set()
        self._arrivals.put(None)
        self._thread.join()

    def _run(self) -> None:
        if self._threads is not None:
            torch.set_num_threads(self._threads)
        error = EngineError("the engine was closed")
        try:
            with torch.inference_mode():
                while not self._closing.is_set():
                    self._turn()
        except BaseException as err:
            error = EngineError(f"the engine's thread ended: {type(err).__name__}: {err}")
            raise
        finally:
            self._fail_all(error)

    def _turn(self) -> None:
        self._receive()
        self._drop_cancelled()
        self._admit()
        if self._rows:
            self._step()
            if self._step_delay_s:
                self._closing.wait(self._step_delay_s)

    def _receive(self) -> None:
        """Take what has arrived; block only when there is nothing else to do."""
        if not self._rows and not self._waiting:
            arrived = self._arrivals.get()
            if arrived is not None:
                self._waiting.append(arrived)
        with suppress(Empty):
            while True:
                arrived = self._arrivals.get_nowait()
                if arrived is not None:
                    self._waiting.append(arrived)

    def _drop_cancelled(self) -> None:
        for row in range(len(self._rows) - 1, -1, -1):
            if self._rows[row].cancelled:
                self._leave(row)
        kept = [work for work in self._waiting if not work.cancelled]
        if len(kept) < len(self._waiting):
            self._dropped(len(self._waiting) - len(kept))
            self._waiting = deque(kept)

    def _admit(self) -> None:
        """Prefill as many of the waiting as there is room for, and give them their first token."""
        new: list[Work] = []
        longest = 0
        while self._waiting and len(self._rows) + len(new) < self._max_batch:
            longest = max(longest, len(self._waiting[0].ids))
            if new and longest * (len(new) + 1) > PREFILL:
                break
            new.append(self._waiting.popleft())
        if not new:
            return
        chosen = self._attempt(new, lambda: self._batch.admit([work.ids for work in new]))
        if chosen is None:
            self._batch.keep(len(self._rows))
        else:
            self._rows += new
            self._accept(len(self._rows) - len(new), chosen)

    def _step(self) -> None:
        chosen = self._attempt(
            self._rows, lambda: self._batch.step([work.last for work in self._rows])
        )
        if chosen is None:
            self._rows = []
            self._batch.keep(0)
        else:
            self._accept(0, chosen)

    def _attempt(self, works: Sequence[Work], forward: Callable[[], Tensor]) -> list[int] | None:
        """The tokens chosen from a forward; None if it failed, then all `works` were reported."""
        try:
            return choose(forward(), works)
        except Exception as err:  # noqa: BLE001 - whatever the model raises, callers must hear of it
            _deliver_all([(work, None, err) for work in works])
            self._dropped(len(works))
            return None

    def _accept(self, first: int, chosen: Sequence[int]) -> None:
        """Give the rows from `first` on their tokens, tell, and drop those that ended."""
        deliveries: list[Delivery] = []
        for work, token in zip(self._rows[first:], chosen, strict=True):
            outcome = work.accept(token)
            deliveries.append((work, work.last, outcome))
        _deliver_all(deliveries)
        for row in range(len(deliveries) - 1, -1, -1):
            if deliveries[row][2] is not None:
                self._leave(first + row)

    def _leave(self, row: int) -> None:
        self._batch.leave(row)
        last = self._rows.pop()
        if row < len(self._rows):
            self._rows[row] = last
        self._dropped(1)

    def _dropped(self, count: int) -> None:
        with self._changed:
            self._open -= count
            self._changed.notify_all()

    def _fail_all(self, error: EngineError) -> None:
        """The end of the thread: nobody is left to wait for a token that never comes."""
        with self._changed:
            self._closing.set()
            self._arrivals.put(None)
        self._waiting.extend(iter(self._arrivals.get, None))
        left = [*self._rows, *self._waiting]
        _deliver_all([(work, None, error) for work in left])
        self._rows, self._waiting = [], deque()
        self._batch.keep(0)
        self._dropped(len(left))


def _deliver_all(deliveries: Sequence[Delivery]) -> None:
    """One call into each event loop, not one per token."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Delivery]] = {}
    for entry in deliveries:
        by_loop.setdefault(entry[0].loop, []).append(entry)
    for loop, entries in by_loop.items():
        try:
            loop.call_soon_threadsafe(_hand_over, entries)
        except RuntimeError:  # that event loop is closed: nobody listens any more
            for work, _, _ in entries:
                work.cancelled = True


def _hand_over(deliveries: Sequence[Delivery]) -> None:
    for work, token, outcome in deliveries:
        work.deliver(token, outcome)
