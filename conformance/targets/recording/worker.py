"""The process that redacts and writes, so that the relay waits for neither.

Rule 1: messages are taken from the socket before they are acted on, every few milliseconds: what
the relay sent is here, and written even if the relay is killed. Then the exchanges that were under
way have no end.
Rule 2: no exchange may keep the others waiting: redaction has a limit of processor time, what waits
is bounded in bytes and age, and so is what redaction holds back. The exchange whose messages would
take longest is given up first; its recording says so.
Rule 3: files are flushed when nothing waits, or after some milliseconds.
Rule 4: what came is written first. Which rules redaction touched takes many times as long to find
out: that is judged when nothing waits, and the end of the exchange is written then. Where there is
no time at the end, or too much waits to be judged, every rule counts as touched.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections import Counter, deque
from contextlib import suppress
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

from msgspec import Struct

from conformance.cassette.redaction.own_keys import remember_keys
from conformance.core.errors import ConformanceError
from conformance.core.own_keys import NAMES
from conformance.targets.recording.exchange import ExchangeOutcome
from conformance.targets.recording.folder import RecordingFolder
from conformance.targets.recording.guarded import GuardedRecorder
from conformance.targets.recording.messages import (
    BodyCame,
    ExchangeEnded,
    FailureMessage,
    FromWorker,
    HeadCame,
    MessageReader,
    NoMore,
    OutcomeMessage,
    PartCame,
    RequestCame,
    WorkerDone,
    WorkerOrders,
    encode_message,
)
from conformance.targets.recording.time_limit import ProcessorClock

_READ_SIZE: Final = 1024 * 1024
_FLUSH_S: Final = 0.02
_CONTENT: Final = (BodyCame, PartCame)


class WorkerLimits(Struct, frozen=True):
    """Bytes and seconds that messages may wait, and bytes that redaction may hold back, in all.

    Messages wait for this process, not for a machine that has no time for it: seconds are those of
    its processor time, unless they say otherwise.
    """

    waiting: int = 64 * 1024 * 1024
    waiting_s: float = 5.0
    held: int = 256 * 1024 * 1024
    unjudged: int = 512  # exchanges whose end waits to be judged
    unjudged_bytes: int = 64 * 1024 * 1024  # that these keep
    judging_s: float = 15.0  # on the wall: for one end, and for all that are left at last
    step_s: float = 0.005  # of acting, between two looks at the socket


class _WorkedExchange(Struct, eq=False):
    recorder: GuardedRecorder
    acted: int = 0  # bytes of messages
    spent: float = 0.0  # seconds that they took
    held: int = 0

    def due_s(self, waiting: int) -> float:
        """How long so many bytes of messages would take."""
        return waiting * (self.spent + 1e-6) / (self.acted + 1)


class RecordingWorker:
    """Acts on the messages of one relay, until it says that there are no more, or is gone."""

    def __init__(self, sock: socket.socket, limits: WorkerLimits | None = None) -> None:
        self._sock = sock
        self._limits = limits or WorkerLimits()
        self._reader = MessageReader()
        self._messages: deque[tuple[Any, int, float]] = deque()
        self._exchanges: dict[int, _WorkedExchange] = {}
        self._unjudged: deque[tuple[int, GuardedRecorder]] = deque()
        self._number = 0  # of the exchange that is worked on
        self._unflushed: set[int] = set()
        self._flushed = 0.0
        self._waiting = self._held = 0
        self._bodies: Counter[int] = Counter()  # bytes of bodies that wait, by exchange
        self._patient_until = 0.0
        self._folder: RecordingFolder | None = None
        self._clock = ProcessorClock()
        self._connected = True
        self._finished = False

    def run(self) -> None:
        """Returns when everything is written."""
        while not self._finished and (self._connected or self._messages or self._unjudged):
            self._take_messages()
            self._shed_load()
            self._act_on_messages()
            if not self._messages or perf_counter() - self._flushed > _FLUSH_S:
                self._flush_files()
            if not self._messages and self._unjudged:
                self._judge_oldest()
        self._judge_rest()
        # Without a word of the relay, exchanges that are under way stay open: their files are torn.
        if self._folder is not None:
            try:
                self._folder.close()
            except OSError as err:
                self._tell_failure(err)
        self._send_message(WorkerDone())

    def _act_on_messages(self) -> None:
        until = perf_counter() + self._limits.step_s
        while self._messages:
            message, size, _ = self._messages.popleft()
            self._account_waiting(message, -size)
            self._act_timed(message, size)
            if perf_counter() > until:
                break

    def _take_messages(self) -> None:
        """Take the messages that have come; waits only where there is nothing to do."""
        if not self._connected:
            return
        self._sock.settimeout(0 if self._messages or self._unjudged else None)
        try:
            data = self._sock.recv(_READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._connected = bool(data)
        now = process_time()
        for message, size in self._reader.feed(data):
            self._messages.append((message, size, now))
            self._account_waiting(message, size)

    def _account_waiting(self, message: Any, size: int) -> None:
        self._waiting += size
        if isinstance(message, _CONTENT):
            self._bodies[message.number] += size

    def _act_timed(self, message: Any, size: int) -> None:
        self._number = number = getattr(message, "number", 0)
        begun = perf_counter()
        self._act_on_message(message, number)
        exchange = self._exchanges.get(number)
        if exchange is None:
            return
        exchange.spent += perf_counter() - begun
        exchange.acted += size
        self._account_held(exchange)

    def _act_on_message(self, message: Any, number: int) -> None:
        match message:
            case WorkerOrders():
                self._open_folder(message)
            case RequestCame():
                self._begin_exchange(message)
            case NoMore():
                self._finished = True
        exchange = self._exchanges.get(number)
        if exchange is None:
            return
        match message:
            case HeadCame():
                exchange.recorder.record_head(
                    message.response, message.came, chunked=message.chunked
                )
            case BodyCame():
                exchange.recorder.record_body(message.data, message.came)
                self._unflushed.add(number)
            case PartCame():
                exchange.recorder.record_part(message.side, message.part, message.came)
                self._unflushed.add(number)
            case ExchangeEnded():
                self._end_exchange(exchange, message)

    def _open_folder(self, orders: WorkerOrders) -> None:
        remember_keys(orders.keys)
        NAMES.update(dict.fromkeys(orders.names))
        try:
            self._folder = RecordingFolder(
                Path(orders.folder),
                orders.options,
                tell=self._tell_outcome,
                limit_time=self._clock.limit_time,
            )
        except ConformanceError as err:
            self._tell_failure(err)

    def _begin_exchange(self, message: RequestCame) -> None:
        if self._folder is not None:
            recorder = GuardedRecorder(self._folder, self._tell_failure, flushes=False)
            self._exchanges[message.number] = _WorkedExchange(recorder)
            recorder.record_request(message.request, message.target, message.came)

    def _end_exchange(self, exchange: _WorkedExchange, message: ExchangeEnded) -> None:
        if message.lost:
            exchange.recorder.give_up(message.lost)
        if exchange.recorder.record_rest(message.how, message.came, message.note):
            self._unjudged.append((message.number, exchange.recorder))
            self._shed_judging()
        else:
            exchange.recorder.finish()
        self._held -= exchange.held
        del self._exchanges[message.number], self._bodies[message.number]
        self._unflushed.discard(message.number)

    def _shed_judging(self) -> None:
        limits = self._limits
        while len(self._unjudged) > limits.unjudged or (
            sum(each.kept_bytes for _, each in self._unjudged) > limits.unjudged_bytes
        ):
            self._finish_oldest(judges=False)

    def _judge_oldest(self) -> None:
        self._clock.end_by(perf_counter() + self._limits.judging_s)
        self._finish_oldest()
        self._clock.end_by(None)  # for redaction only processor time counts

    def _finish_oldest(self, *, judges: bool = True) -> None:
        self._number, recorder = self._unjudged.popleft()
        recorder.finish(judges=judges)

    def _judge_rest(self) -> None:
        until = perf_counter() + self._limits.judging_s
        self._clock.end_by(until)
        while self._unjudged:
            self._finish_oldest(judges=perf_counter() < until)

    def _account_held(self, exchange: _WorkedExchange) -> None:
        held = exchange.recorder.held_bytes
        self._held += held - exchange.held
        exchange.held = held
        if self._held > self._limits.held:
            largest = max(self._exchanges.values(), key=lambda each: each.held)
            largest.recorder.give_up(f"redaction holds back more than {self._limits.held:,} bytes")
            self._held -= largest.held
            largest.held = 0

    def _shed_load(self) -> None:
        most, latest = self._limits.waiting, self._limits.waiting_s
        while self._waiting > most and self._give_up_slowest(
            f"more than {most:,} bytes wait to be recorded"
        ):
            pass
        now = process_time()
        if self._messages and now > max(self._patient_until, self._messages[0][2] + latest):
            self._patient_until = now + latest
            self._give_up_slowest(f"recording is {latest:g} s late")

    def _give_up_slowest(self, why: str) -> bool:
        """Whether there was an exchange to be given up."""
        due = {n: each.due_s(self._bodies[n]) for n, each in self._exchanges.items()}
        number = max(due, key=due.__getitem__, default=0)
        if not self._bodies[number]:
            return False
        self._exchanges[number].recorder.give_up(why)
        self._messages = deque(
            each
            for each in self._messages
            if not (isinstance(each[0], _CONTENT) and each[0].number == number)
        )
        self._waiting -= self._bodies.pop(number)
        return True

    def _flush_files(self) -> None:
        self._flushed = perf_counter()
        for number in self._unflushed:
            self._exchanges[number].recorder.flush()
        self._unflushed.clear()

    def _tell_outcome(self, file: str, outcome: ExchangeOutcome) -> None:
        self._send_message(OutcomeMessage(self._number, file, outcome))

    def _tell_failure(self, error: BaseException) -> None:
        why = str(error) if isinstance(error, ConformanceError) else repr(error)
        self._send_message(FailureMessage(self._number, why))

    def _send_message(self, message: FromWorker) -> None:
        self._sock.settimeout(None)
        with suppress(OSError):  # the relay is gone, and what it sent is still to be read
            self._sock.sendall(encode_message(message))


def _yield_processor() -> None:
    """Who relays comes first: nothing that wakes this process breaks into the relay's turn.

    No more than that: on a busy machine a process of low priority would not keep up.
    """
    if sys.platform == "linux":
        with suppress(OSError):  # a container may forbid it
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def run_worker(sock: socket.socket) -> None:
    """The main function of the process: signals are the relay's, whose end is ours."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _yield_processor()
    RecordingWorker(sock).run()
