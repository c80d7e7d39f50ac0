"""The process that writes: no exchange takes the others' time or room."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from conformance.cassette import BodyRedactor, Cassette, read
from conformance.core.events import Response
from conformance.targets.recording import (
    ExchangeOutcome,
    Origin,
    RecordingOptions,
    RecordingProxy,
    RecordingQueue,
)
from conformance.targets.recording import worker as worker_module
from conformance.targets.recording.messages import (
    BodyCame,
    ExchangeEnded,
    FailureMessage,
    HeadCame,
    Message,
    MessageReader,
    NoMore,
    OutcomeMessage,
    RequestCame,
    WorkerDone,
    WorkerOrders,
    encode_message,
)
from conformance.targets.recording.queued import QueueLimits
from conformance.targets.recording.time_limit import OverTimeError, ProcessorClock
from conformance.targets.recording.worker import RecordingWorker, WorkerLimits
from conformance.wire.requests import HttpRequest
from tests.targets.record_peers import END, HEAD, Script, ask, chunked, origin, post

EVENT = b'data: {"n":1}\n\n'
PATH = "/v1/chat/completions"
STREAM = Response(200, "1.1", (("content-type", "text/event-stream"),))
JSON = Response(200, "1.1", (("content-type", "application/json"),))


@pytest.fixture(autouse=True)
def _own_signals() -> Iterator[None]:
    taken = (signal.SIGVTALRM, signal.SIGALRM)
    before = [(number, signal.getsignal(number)) for number in taken]
    yield
    for number, handler in before:
        signal.signal(number, handler)


def test_no_timer_is_left_where_the_time_is_over_already() -> None:
    clock = ProcessorClock()
    clock.end_by(perf_counter() - 1)
    with pytest.raises(OverTimeError), clock.limit_time(60):
        sum(range(10_000_000))
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    signal.raise_signal(signal.SIGVTALRM)  # what comes late finds nobody


def begun(number: int, head: Response = STREAM) -> list[Message]:
    request = HttpRequest("POST", PATH, (("host", "x"),), b'{"model":"m"}')
    return [RequestCame(number, 1.0, PATH, request), HeadCame(number, 1.5, head, chunked=False)]


def worked(
    folder: Path, *messages: Message, limits: WorkerLimits | None = None, ends: bool = True
) -> tuple[list[ExchangeOutcome], list[str], list[Cassette]]:
    """What is told of these messages, outcomes and failures, and what is recorded."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        orders = WorkerOrders(str(folder), RecordingOptions())
        for message in (orders, *messages, *((NoMore(),) if ends else ())):
            ours.sendall(encode_message(message))
        ours.shutdown(socket.SHUT_WR)
        RecordingWorker(theirs, limits).run()
        theirs.shutdown(socket.SHUT_WR)
        answered = b"".join(iter(lambda: ours.recv(65536), b""))
    found: list[Any] = [message for message, _ in MessageReader().feed(answered)]
    assert isinstance(found.pop(), WorkerDone)
    outcomes = [each.outcome for each in found if isinstance(each, OutcomeMessage)]
    failures = [each.why for each in found if isinstance(each, FailureMessage)]
    return outcomes, failures, [read(path) for path in sorted(folder.iterdir())]


def noted(cassette: Cassette, folder: Path) -> str:
    """The ending of the first exchange, and what its line says of it."""
    lines = [line for path in sorted(folder.iterdir()) for line in path.read_text().splitlines()]
    assert cassette.exchanges[0].end == "open"
    return next(line for line in lines if '"end":"open"' in line)


def test_times_are_those_of_the_relay(tmp_path: Path) -> None:
    messages = (*begun(1), BodyCame(1, 2.0, EVENT), ExchangeEnded(1, 4.0, "eof", ""))
    (outcome,), failures, (cassette,) = worked(tmp_path, *messages)
    assert (outcome.end, outcome.chunks, outcome.size, failures) == ("eof", 1, len(EVENT), [])
    assert cassette.clocks[1].head == 500
    assert [chunk.ms for chunk in cassette.exchanges[0].chunks] == [500]
    assert cassette.clocks[1].end == 2000
    assert cassette.sealed


def test_what_a_relay_that_is_gone_had_sent_is_recorded(tmp_path: Path) -> None:
    messages = (*begun(1), *(BodyCame(1, 2.0, EVENT) for _ in range(50)))
    outcomes, failures, (cassette,) = worked(tmp_path, *messages, ends=False)
    assert (outcomes, failures, cassette.torn) == ([], [], True)
    assert [chunk.data for chunk in cassette.exchanges[0].chunks] == [EVENT] * 50


def slow_redaction(monkeypatch: pytest.MonkeyPatch, cost: Callable[[], object]) -> None:
    """Redaction of chunks with SLOW in it costs that."""
    plain = BodyRedactor.feed_all

    def feed_all(self: Any, chunks: Any) -> Any:
        if any(b"SLOW" in chunk.data for chunk in chunks):
            cost()
        return plain(self, chunks)

    monkeypatch.setattr(BodyRedactor, "feed_all", feed_all)


def test_slow_redaction_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never_end() -> None:
        while True:
            pass

    slow_redaction(monkeypatch, never_end)
    slow = b'data: {"n":"SLOW"}\n\n'
    messages = (
        *(*begun(1), BodyCame(1, 2.0, EVENT), BodyCame(1, 2.1, b"data: {"), *begun(2)),
        *(BodyCame(1, 2.2, slow), BodyCame(2, 2.3, EVENT), BodyCame(1, 2.4, EVENT)),
        *(ExchangeEnded(1, 3.0, "eof", ""), ExchangeEnded(2, 3.0, "eof", "")),
    )
    (first, second), failures, (given_up, whole) = worked(tmp_path, *messages)
    assert not failures
    assert first.note == "redaction took more than 0.1 s: the rest was not recorded"
    assert (first.end, second.end, second.note) == ("open", "eof", "")
    assert [chunk.data for chunk in given_up.exchanges[0].chunks] == [EVENT]
    assert first.note in noted(given_up, tmp_path)
    assert [chunk.data for chunk in whole.exchanges[0].chunks] == [EVENT]


def test_where_too_much_waits_the_slowest_exchange_is_given_up(tmp_path: Path) -> None:
    large = b"data: " + b"x" * 20_000 + b"\n\n"
    messages = (
        *(*begun(1), *begun(2), BodyCame(1, 2.0, large), BodyCame(1, 2.0, large)),
        *(BodyCame(2, 2.0, EVENT), BodyCame(1, 2.0, large)),
        *(ExchangeEnded(1, 3.0, "eof", ""), ExchangeEnded(2, 3.0, "eof", "")),
    )
    outcomes, _, (given_up, whole) = worked(
        tmp_path, *messages, limits=WorkerLimits(waiting=1000, step_s=0)
    )
    why = "more than 1,000 bytes wait to be recorded: the rest was not recorded"
    assert sorted((each.end, each.note) for each in outcomes) == [("eof", ""), ("open", why)]
    assert why in noted(given_up, tmp_path)
    assert whole.exchanges[0].end == "eof"


def test_slowest_exchange_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def pass_time() -> float:
        now[0] += 0.001
        return now[0]

    for clock in ("perf_counter", "process_time"):
        monkeypatch.setattr(worker_module, clock, pass_time)
    slow_redaction(monkeypatch, lambda: now.__setitem__(0, now[0] + 1))
    slow = [BodyCame(1, 2.0, b'data: {"n":"SLOW"}\n\n') for _ in range(30)]
    others = [BodyCame(2, 2.0, EVENT) for _ in range(30)]
    mixed = [one for pair in zip(slow, others, strict=True) for one in pair]
    ends = (ExchangeEnded(1, 3.0, "eof", ""), ExchangeEnded(2, 3.0, "eof", ""))
    outcomes, _, (given_up, whole) = worked(tmp_path, *begun(1), *begun(2), *mixed, *ends)
    assert [each.note for each in outcomes] == [
        "recording is 5 s late: the rest was not recorded",
        "",
    ]
    assert 0 < len(given_up.exchanges[0].chunks) < 30
    assert len(whole.exchanges[0].chunks) == 30


def test_what_redaction_holds_back_is_bounded_over_all_exchanges(tmp_path: Path) -> None:
    opened = [message for number in (1, 2, 3) for message in begun(number, JSON)]
    bodies = [BodyCame(number, 4.0, b'{"a":"' + b"x" * 400 * number) for number in (1, 2, 3)]
    rests = [BodyCame(number, 4.0, b'"}') for number in (1, 2, 3)]
    ends = [ExchangeEnded(number, 5.0, "eof", "") for number in (1, 2, 3)]
    outcomes, _, cassettes = worked(
        tmp_path, *opened, *bodies, *rests, *ends, limits=WorkerLimits(held=2000)
    )
    assert [each.end for each in outcomes] == ["eof", "eof", "open"]
    assert "holds back more than 2,000 bytes" in outcomes[2].note
    assert [len(each.exchanges[0].chunks) for each in cassettes] == [2, 2, 0]


def through_queue(
    folder: Path,
    action: Callable[[RecordingProxy, RecordingQueue], Any],
    *,
    limits: QueueLimits | None = None,
    body: bytes = chunked(EVENT),
) -> tuple[list[ExchangeOutcome], list[str]]:
    """Outcomes and warnings of a proxy with a process that writes."""
    outcomes: list[ExchangeOutcome] = []
    warnings: list[str] = []

    async def run() -> None:
        async with origin(Script([HEAD, body, END])) as server:
            queue = RecordingQueue(
                folder,
                RecordingOptions(),
                tell=lambda _, outcome: outcomes.append(outcome),
                limits=limits,
            )
            upstream = Origin.parse(server.url)
            async with RecordingProxy(upstream, queue, warn=warnings.append) as proxy:
                await action(proxy, queue)

    asyncio.run(run())
    return outcomes, warnings


def test_full_queue_costs_the_client_nothing(
    tmp_path: Path,
) -> None:
    body = chunked(b"x" * 500)

    async def action(proxy: RecordingProxy, _: RecordingQueue) -> None:
        got = await ask(proxy.url, post(PATH))
        assert (got.chunks, got.end) == ((b"x" * 500,), "complete")

    (outcome,), warnings = through_queue(
        tmp_path, action, limits=QueueLimits(waiting=400), body=body
    )
    why = "too much waits to be recorded: the rest was not recorded"
    assert (outcome.end, outcome.note, warnings) == ("open", why, [])
    (path,) = tmp_path.iterdir()
    assert why in noted(read(path), tmp_path)


def test_where_no_request_has_room_that_is_reported(tmp_path: Path) -> None:
    async def action(proxy: RecordingProxy, _: RecordingQueue) -> None:
        assert (await ask(proxy.url, post(PATH))).chunks == (EVENT,)

    outcomes, warnings = through_queue(tmp_path, action, limits=QueueLimits(waiting=-1))
    assert not outcomes
    why = "not recorded: too much waits to be recorded: an exchange is left out"
    assert warnings == [why]


def test_clients_are_served_without_the_process_that_writes(tmp_path: Path) -> None:
    async def action(proxy: RecordingProxy, queue: RecordingQueue) -> None:
        queue.kill()
        for _ in range(3):
            assert (await ask(proxy.url, post(PATH))).chunks == (EVENT,)

    _, warnings = through_queue(tmp_path, action)
    (warning,) = warnings
    assert warning.startswith("not recorded: the process that writes recordings is gone")


def test_what_could_not_be_written_is_named(tmp_path: Path) -> None:
    """Where the process that writes does nothing any more, nobody waits for ever."""

    async def action(proxy: RecordingProxy, queue: RecordingQueue) -> None:
        os.kill(queue._process.pid, signal.SIGSTOP)
        for _ in range(7):
            await ask(proxy.url, post(f"{PATH}?key=a-key-of-somebody"))

    outcomes, warnings = through_queue(tmp_path, action, limits=QueueLimits(close_s=0.3))
    assert not outcomes
    names = ", ".join(f"#{number} POST {PATH}" for number in range(1, 6))
    why = "nothing was written for 0.3 s: given up; missing or torn:"
    assert warnings == [f"not recorded: {why} {names}, 2 more"]


def keyed(number: int) -> list[Message]:
    """An exchange whose answer repeats the key that its request has."""
    key = "Zk9Qm3vX7Lr5tYpW8sBn"
    headers = (("host", "x"), ("authorization", f"Bearer {key}"))
    request = HttpRequest("POST", PATH, headers, b'{"model":"m","stream":true}')
    delta = {"index": 0, "delta": {"content": f"it is {key}"}, "finish_reason": None}
    chunk = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    data = b"data: " + json.dumps({**chunk, "choices": [delta]}).encode() + b"\n\n"
    return [
        RequestCame(number, 1.0, PATH, request),
        HeadCame(number, 1.5, STREAM, chunked=False),
        BodyCame(number, 2.0, data),
        ExchangeEnded(number, 4.0, "eof", ""),
    ]


UNJUDGED = "there was no time to judge which rules redaction touched: all are untestable"


@pytest.mark.parametrize(
    ("limits", "touched", "note"),
    [
        (WorkerLimits(judging_s=60), [(), ()], ""),
        (WorkerLimits(judging_s=0), [("*",), ("*",)], UNJUDGED),
        (WorkerLimits(unjudged=0), [("*",), ("*",)], UNJUDGED),
        (WorkerLimits(unjudged_bytes=0), [("*",), ("*",)], UNJUDGED),
    ],
    ids=["judged", "no time", "too many", "too large"],
)
def test_what_was_touched_is_judged_where_there_is_time(
    limits: WorkerLimits, touched: list[tuple[str, ...]], note: str, tmp_path: Path
) -> None:
    outcomes, failures, cassettes = worked(tmp_path, *keyed(1), *keyed(2), limits=limits)
    assert [each.exchanges[0].touched for each in cassettes] == touched
    assert [(each.end, each.note) for each in outcomes] == [("eof", note)] * 2
    assert failures == []
    assert all(each.sealed for each in cassettes)


def test_writing_comes_before_judging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = list[int]()

    def judged(*_: object) -> tuple[str, ...]:
        files = [path.read_text() for path in sorted(tmp_path.iterdir())]
        written.append(sum("it is " in each for each in files))
        return ()

    monkeypatch.setattr("conformance.targets.recording.exchange.rules_touched", judged)
    worked(tmp_path, *keyed(1), *keyed(2), *keyed(3))
    assert written == [3, 3, 3]
