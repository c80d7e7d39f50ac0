from __future__ import annotations

import socket
from collections import deque
from itertools import repeat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.targets.replay import ReplayLimits, ReplayOptions, serving
from tests.targets.replay_wire import EVENTS, answer, cassette, client, exchange, request

TIGHT = ReplayLimits(
    head=1024, body=2048, requests=4096, request_s=0.05, idle_s=0.05, connections=3
)


@pytest.fixture(scope="module")
def strict() -> Any:
    """A server with tight limits that answers again and again."""
    options = ReplayOptions(repeat=True)
    with serving([cassette(exchange())], options=options, limits=TIGHT) as server:
        yield server


@pytest.fixture(scope="module")
def calm() -> Any:
    with serving([cassette(exchange())], options=ReplayOptions(repeat=True)) as server:
        yield server


BROKEN = [
    ("no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400, "no HTTP"),
    ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "no HTTP"),
    ("two lengths", request(headers=["content-length: 1"]), 400, "no HTTP"),
    (
        "a negative length",
        b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
        400,
        "no HTTP",
    ),
    ("no host", b"GET / HTTP/1.1\r\n\r\n", 400, "no HTTP"),
    ("a long head", b"GET / HTTP/1.1\r\nhost: a\r\nx: " + b"y" * 2000, 431, "no HTTP"),
    ("endless headers", b"GET / HTTP/1.1\r\nhost: a\r\n" + b"x: y\r\n" * 400, 431, "no HTTP"),
    ("a long line", b"GET /" + b"y" * 2000, 431, "no HTTP"),
    ("a long body", request(b"x" * 3000), 413, "more than 2,048 bytes"),
    (
        "an endless chunked body",
        b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 3000,
        413,
        "more than 2,048 bytes",
    ),
    (
        "a broken chunk",
        b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        400,
        "no HTTP",
    ),
]


@pytest.mark.parametrize(
    ("name", "data", "status", "why"), BROKEN, ids=[each[0] for each in BROKEN]
)
def test_bad_request_is_ended(strict: Any, name: str, data: bytes, status: int, why: str) -> None:
    with client(strict.port) as connected:
        got = connected.ask(data)
        assert got.status == status, name
        assert why in got.body.decode()
        assert connected.at_end()
    strict.settle()
    assert (strict.seen[-1].outcome, strict.seen[-1].status) == ("rejected", status)


HALVES = [b"P", b"POST / HTTP/1.1\r\nhost: a\r\n", request()[:-1]]


@pytest.mark.parametrize("half", HALVES)
def test_half_a_request_has_its_time(strict: Any, half: bytes) -> None:
    with client(strict.port) as connected:
        got = connected.ask(half)
        assert (got.status, "in time" in got.body.decode()) == (408, True)
        assert connected.at_end()


@pytest.mark.parametrize("half", HALVES)
def test_who_leaves_in_the_middle_of_a_request_is_noted(calm: Any, half: bytes) -> None:
    before = calm.requests
    with client(calm.port) as connected:
        connected.send(half)
        connected.socket.shutdown(socket.SHUT_WR)
        assert connected.answer().status == 400
    assert calm.requests == before + 1
    assert "left in the middle" in calm.seen[-1].why


def test_who_asks_nothing_is_let_go(strict: Any) -> None:
    before = strict.requests
    with client(strict.port) as connected:
        assert connected.at_end()
    assert strict.requests == before


def test_blank_lines_are_no_request(calm: Any) -> None:
    with client(calm.port) as connected:
        connected.send(b"\r\n")
        assert connected.ask(request()).status == 200


def test_one_connection_too_many_is_reported_so() -> None:
    limits = ReplayLimits(connections=2)
    with serving([cassette(exchange())], limits=limits) as server:
        with client(server.port) as one, client(server.port) as two, client(server.port) as more:
            assert more.answer().status == 503
            assert more.at_end()
            assert one.ask(request()).status == 200
            assert two.ask(request()).status == 404
        server.settle()


def test_bodies_of_all_connections_share_a_bound(strict: Any) -> None:
    half = request(b"x" * 2000)[:-1]
    with client(strict.port) as one, client(strict.port) as two, client(strict.port) as three:
        for each in (one, two, three):
            each.send(half)
        answers = {each.answer().status for each in (one, two, three)}
    assert 503 in answers
    assert answers <= {408, 503}


def test_a_client_that_waits_to_send_its_body_is_reported_to_go_on(calm: Any) -> None:
    whole = request(headers=["expect: 100-continue"])
    head, _, body = whole.partition(b"\r\n\r\n")
    with client(calm.port) as connected:
        connected.send(head + b"\r\n\r\n")
        assert connected.socket.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert connected.ask(body).body == b"".join(EVENTS)


def test_a_request_may_come_byte_by_byte(calm: Any) -> None:
    with client(calm.port) as connected:
        for byte in request():
            connected.send(bytes([byte]))
        assert connected.answer().body == b"".join(EVENTS)


def test_a_thousand_requests_at_once_are_all_answered(calm: Any) -> None:
    with client(calm.port) as connected:
        connected.send(request() * 1_000)
        assert all(connected.answer().body == b"".join(EVENTS) for _ in range(1_000))


def test_a_client_that_does_not_read_is_let_go() -> None:
    body = [b":" + b"x" * 65_534 + b"\n"] * 400
    limits = ReplayLimits(hold_s=0.1)
    with serving([cassette(exchange(body))], limits=limits) as server:
        with client(server.port) as connected:
            connected.send(request())
            connected.socket.recv(1)
            server.settle(20)
        assert [each.outcome for each in server.seen] == ["client-closed"]


@pytest.mark.slow
def test_who_asks_and_never_reads_is_dropped(calm: Any) -> None:
    asking = request({"n": 1}) * 1000
    with client(calm.port) as connected:
        connected.socket.settimeout(0.3)
        with pytest.raises(TimeoutError):  # no kernel buffers half a gigabyte
            deque(map(connected.send, repeat(asking, 5000)), maxlen=0)
        held = [each._transport.get_write_buffer_size() for each in calm._state.open]
        assert max(held) < 1 << 20
    calm.settle()


def test_a_stall_has_its_end() -> None:
    options = ReplayOptions.parse(stall="event:1")
    with serving(
        [cassette(exchange())], options=options, limits=ReplayLimits(hold_s=0.05)
    ) as server:
        got = answer(server.port, request())
        assert (got.body, got.whole) == (EVENTS[0], False)
        assert server.seen[0].outcome == "stalled"


@given(data=st.binary(max_size=300), tail=st.booleans())
def test_no_bytes_break_the_server(calm: Any, data: bytes, tail: bool) -> None:
    with client(calm.port) as connected:
        connected.send(data + (b"\r\n\r\n" if tail else b""))
    assert answer(calm.port, request()).status == 200


TARGETS = [
    "/c/",
    "/c//",
    "/c/../../etc/passwd",
    "/c/%2e%2e/x",
    "/c/%ff%00@/",
    "/c/@",
    "//",
    "*",
    "http://elsewhere.example/v1/chat/completions",
    "http://[/",
    "/c/" + "a/" * 300,
    "?",
]


@pytest.mark.parametrize("target", TARGETS)
def test_a_strange_target_is_a_miss_or_a_match(calm: Any, target: str) -> None:
    assert answer(calm.port, request(path=target)).status in (200, 404)


def test_what_was_seen_is_bounded() -> None:
    limits = ReplayLimits(seen=3, kept=250)
    options = ReplayOptions(repeat=True)
    with serving([cassette(exchange())], options=options, limits=limits) as server:
        with client(server.port) as connected:
            for _ in range(9):
                connected.ask(request())
        assert [each.number for each in server.seen] == [7, 8, 9]
        assert server.requests == 9
        assert sum(len(each.body) for each in server.seen) <= 250
        assert any(each.body for each in server.seen)
