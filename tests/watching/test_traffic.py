"""Exchanges that pass are judged as `check` judges a recording of them, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import pytest

from conformance.cassette import read
from conformance.core.events import Exchange, Request, Response
from conformance.judging.result import Finding
from conformance.recordings.check import check_paths
from conformance.targets.recording.messages import BodyCame, ExchangeEnded, HeadCame
from conformance.watching import exchange as watched_exchange
from conformance.watching import traffic as watched_traffic
from conformance.watching.exchange import WatchedExchange
from conformance.watching.judging import TrafficJudge
from conformance.watching.wording import outcome_line
from tests.each import each_in_blocks
from tests.sampled import of_every_kind
from tests.watching.relayed import SSE, answers_to, came, new_traffic, relayed

JUDGE = TrafficJudge(rules=["stripping/*", "wire/sse/*"])
LEAK = "stripping/visible-text/no-markers"


class Listener:
    """Keeps what it is notified of."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def began(self, exchange: WatchedExchange) -> None:
        self.lines.append(f"{exchange.number} began")

    def found(self, exchange: WatchedExchange, findings: Sequence[Finding]) -> None:
        self.lines += [f"{exchange.number} {each.rule}" for each in findings]

    def ended(self, exchange: WatchedExchange) -> None:
        self.lines.append(f"{exchange.number} ended")


@pytest.mark.one_in(24)
@each_in_blocks(60, of_every_kind)
def test_at_the_end_stands_what_check_says(path: Path) -> None:
    cassette = read(path)
    exchange = cassette.exchanges[0]
    extra = exchange.seen is not None or exchange.user_choices is not None
    if len(cassette.exchanges) > 1 or exchange.request is None or extra:
        return  # rules over several exchanges, and over what a client says, need the recording
    if exchange.is_connection:
        return  # a WebSocket is passed on, and not judged while it passes
    (wanted,) = check_paths([path]).streams
    # What is relayed here has times of its own.
    found = {
        (each.rule, each.event)
        for each in wanted.findings
        if not each.rule.startswith("wire/timing/")
    }
    judge = TrafficJudge(
        dialect=exchange.dialect or cassette.header.dialect, profile=cassette.header.profile
    )
    traffic = new_traffic(judge, Listener())
    # Half of the files are packed: what is unpacked is the same bytes, whatever they say.
    for message in relayed(exchange, packed=crc32(path.name.encode()) % 2 == 1):
        traffic.take(message)
        traffic.catch_up()
    (watched,) = traffic.exchanges.values()
    if watched.result is None:  # such a path is no API's, and the answer shows none
        assert exchange.request.method != "POST" or not exchange.body
        return
    # What a recording says of itself beside its bytes is not known of what passes.
    assert {(each.rule, each.event) for each in watched.findings} >= found


def test_findings_come_while_the_answer_is_under_way() -> None:
    watcher = Listener()
    traffic = new_traffic(JUDGE, watcher)
    for message in (answers_to(1), HeadCame(1, 1.5, SSE, chunked=False)):
        traffic.take(message)
    for _ in range(30):
        traffic.take(came(1, b"reasoning_content", b"word "))
    traffic.take(came(1, b"content", b"a</think>b"))
    traffic.catch_up()
    assert watcher.lines == ["1 began", f"1 {LEAK}"]
    (watched,) = traffic.exchanges.values()
    assert (watched.lanes.lanes["thinking"].size, watched.lanes.lanes["text"].size) == (150, 10)
    traffic.take(ExchangeEnded(1, 3.0, "reset", ""))
    assert watcher.lines[2:] == ["1 wire/sse/ends-cleanly", "1 ended"]
    assert {each.rule for each in watched.findings} == {LEAK, "wire/sse/ends-cleanly"}


def test_streams_next_to_each_other_are_kept_apart() -> None:
    watcher = Listener()
    traffic = new_traffic(JUDGE, watcher)
    for number in range(1, 21):
        traffic.take(answers_to(number))
        traffic.take(HeadCame(number, 1.5, SSE, chunked=False))
    for _ in range(5):
        for number in range(1, 21):
            traffic.take(
                came(number, b"content", b"<think>" if number == 7 else b"word %d" % number)
            )
    traffic.catch_up()
    assert {line for line in watcher.lines if LEAK in line} == {f"7 {LEAK}"}
    assert traffic.exchanges[20].lanes.lanes["text"].text == "word 20" * 5


def test_what_is_no_answer_is_not_judged_as_one() -> None:
    watcher = Listener()
    traffic = new_traffic(JUDGE, watcher)
    error = b'{"error": {"message": "no key", "type": "auth"}}'
    request = Request("POST", "/v1/chat/completions", (), {"model": "m", "stream": True})
    refused = Response(401, "1.1", (("content-type", "application/json"),))
    for message in relayed(Exchange(request=request, response=refused)):
        if isinstance(message, ExchangeEnded):
            traffic.take(BodyCame(1, 2.0, b"%x\r\n%s\r\n" % (len(error), error)))
        traffic.take(message)
    assert watcher.lines == ["1 began", "1 ended"]


def test_a_redirect_says_where_to() -> None:
    traffic = new_traffic(JUDGE, Listener())
    to = ("location", "https://me:secret@h.invalid/in?key=1")
    for message in (answers_to(1), HeadCame(1, 1.5, Response(302, "1.1", (to,)), chunked=False)):
        traffic.take(message)
    assert outcome_line(traffic.exchanges[1]) == "redirects to https://h.invalid/in"


def test_a_dialect_is_recognised_where_the_path_does_not_show_it() -> None:
    traffic = new_traffic(JUDGE, Listener())
    for message in (answers_to(1, "/chat", b"{}"), HeadCame(1, 1.5, SSE, chunked=False)):
        traffic.take(message)
    traffic.take(BodyCame(1, 2.0, b": ping\n\n"))
    traffic.take(came(1, b"content", b"<think>"))
    traffic.catch_up()
    assert [each.rule for each in traffic.exchanges[1].findings] == [LEAK]


def test_oldest_exchanges_go_and_long_ones_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watched_traffic, "MOST_EXCHANGES", 3)
    monkeypatch.setattr(watched_traffic, "MOST_BYTES", 20_000)
    monkeypatch.setattr(watched_exchange, "MOST_KEPT", 10_000)
    traffic = new_traffic(JUDGE, Listener())
    for number in range(1, 9):
        traffic.take(answers_to(number))
        traffic.take(HeadCame(number, 1.5, SSE, chunked=False))
        for _ in range(20 if number < 8 else 200):
            traffic.take(came(number, b"content", b"word"))
        if number != 2:
            traffic.take(ExchangeEnded(number, 3.0, "eof", ""))
    assert list(traffic.exchanges) == [2, 7, 8]
    assert (traffic.total, traffic.running, traffic.faulty) == (8, 1, 0)
    assert [each.is_kept for each in traffic.exchanges.values()] == [True, True, False]
    assert sum(each.kept_bytes for each in traffic.exchanges.values()) <= 20_000
    assert traffic.exchanges[8].result is not None
