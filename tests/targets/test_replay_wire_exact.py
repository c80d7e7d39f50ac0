from __future__ import annotations

import socket
import struct
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from conformance.core.errors import CassetteError
from conformance.core.events import Ending
from conformance.targets.replay import ReplayOptions, ThreadedServer, event_count, serving
from conformance.targets.replay.cutting import frame_ends
from tests.targets.replay_wire import (
    ASKED,
    EVENTS,
    PATH,
    SSE,
    Client,
    answer,
    cassette,
    client,
    exchange,
    request,
)

BODY = b"".join(EVENTS)


def served(*exchanges: Any, **options: Any) -> Any:
    return serving([cassette(*exchanges)], options=ReplayOptions.parse(**options))


def until_the_end(connected: Client, size: int) -> tuple[bytes, OSError | None]:
    """All bytes, read in small pieces, and the error that came after them."""
    received = bytearray()
    try:
        while data := connected.socket.recv(size):
            received += data
    except OSError as err:
        return bytes(received), err
    return bytes(received), None


@pytest.fixture(scope="module")
def shared() -> Any:
    """One server for many recordings, each mounted for itself."""
    with serving() as server:
        yield server


@given(
    st.lists(st.binary(max_size=30), max_size=12),
    st.sampled_from(["recorded", "events", "bytes:1", "bytes:4", "seed:1", "seed:2"]),
)
def test_bytes_are_exact(shared: ThreadedServer, parts: list[bytes], chunking: str) -> None:
    options = ReplayOptions.parse(chunking=chunking)
    name = shared.mount(cassette(exchange(parts)), options=options)
    got = answer(shared.port, request(path=f"/c/{name}{PATH}"))
    shared.unmount(name)
    body = b"".join(parts)
    assert got.whole
    assert got.body == body
    if chunking == "recorded":
        assert got.chunks == tuple(filter(None, parts))
    elif chunking.startswith("bytes"):
        size = int(chunking[-1])
        assert got.chunks == tuple(body[at : at + size] for at in range(0, len(body), size))
    elif chunking == "events":
        ends = [0, *frame_ends(body, "sse"), len(body)]
        pieces = (body[a:b] for a, b in pairwise(ends))
        assert got.chunks == tuple(filter(None, pieces))


def test_the_head_is_the_recorded_one() -> None:
    headers = (("x-request-id", "r1"), ("Content-Type", "text/event-stream"), ("x-twice", "1"))
    dropped = (("connection", "close"), ("transfer-encoding", "chunked"), ("keep-alive", "x"))
    with served(exchange(headers=(*headers, *dropped), status=429)) as server:
        got = answer(server.port, request())
    assert got.status == 429
    assert got.headers == {**dict(headers), "transfer-encoding": "chunked"}


LENGTHS = [
    ("right", "2", "eof", {"content-length": "2"}, True),
    ("wrong", "3", "eof", {"transfer-encoding": "chunked"}, True),
    ("too long, and cut", "3", "client-closed", {"content-length": "3"}, False),
    ("nonsense", "-2", "eof", {"transfer-encoding": "chunked"}, True),
]


@pytest.mark.parametrize(("name", "length", "end", "framed", "whole"), LENGTHS)
def test_a_recorded_length_stays_where_it_holds(
    name: str, length: str, end: Ending, framed: dict[str, str], whole: bool
) -> None:
    headers = (("content-type", "application/json"), ("content-length", length))
    with served(exchange([b"{", b"}"], headers=headers, end=end)) as server:
        got = answer(server.port, request())
    assert (got.body, got.whole) == (b"{}", whole), name
    del got.headers["content-type"]
    assert got.headers == framed


def test_a_bare_stream_and_a_bare_body_get_a_type() -> None:
    bodies = {b" data: x\n\n": "text/event-stream", b' {"a": 1}': "application/json"}
    for body, kind in bodies.items():
        with served(exchange([body], headers=(), status=None)) as server:
            got = answer(server.port, request())
        assert (got.status, got.headers["content-type"]) == (200, kind)


def test_one_connection_asks_again_and_again() -> None:
    turns = [exchange([b"%d" % n], number=n, json={"n": n}) for n in (1, 2, 3)]
    with served(*turns) as server, client(server.port) as connected:
        bodies = [connected.ask(request({"n": n})).body for n in (2, 1, 3)]
        connected.send(b"".join(request({"n": 1}) for _ in range(3)))
        pipelined = [connected.answer().status for _ in range(3)]
        server.settle()
        seen = server.seen
    assert bodies == [b"2", b"1", b"3"]
    assert pipelined == [404, 404, 404]
    assert [each.turn for each in seen] == [1, 2, 3, 4, 5, 6]
    assert {each.connection for each in seen} == {1}


def test_a_request_to_close_is_obeyed() -> None:
    with served(exchange()) as server, client(server.port) as connected:
        got = connected.ask(request(headers=["connection: close"]))
        assert "connection" not in got.headers  # the recording has none
        assert got.body == BODY
        assert connected.at_end()


@pytest.mark.parametrize(("version", "http"), [("1.0", "1.1"), ("1.1", "1.0"), ("1.0", "1.0")])
def test_http_1_0_ends_by_closing(version: str, http: str) -> None:
    with served(exchange(http=http)) as server, client(server.port) as connected:
        got = connected.ask(request(version=version))
        assert "transfer-encoding" not in got.headers
        assert got.body == BODY
        assert connected.at_end()


def test_head_and_no_content_have_no_body() -> None:
    asked = exchange(method="HEAD", path="/v1/models", json=None)
    empty = exchange(number=2, status=204, headers=())
    with served(asked, empty) as server, client(server.port) as connected:
        head = connected.ask(request(b"", method="HEAD", path="/v1/models"))
        assert (head.status, head.body) == (200, b"")
        connected.send(request())
        assert connected.answer(head_only=True).status == 204
        assert connected.ask(request()).status == 404


@pytest.mark.parametrize("at", range(len(EVENTS) + 1))
@pytest.mark.parametrize("chunking", ["recorded", "bytes:3", "seed:4"])
def test_a_cut_after_an_event_keeps_the_bytes_before(at: int, chunking: str) -> None:
    with (
        served(exchange(), cut=f"event:{at}", chunking=chunking) as server,
        client(server.port) as connected,
    ):
        got = connected.ask(request())
        assert got.body == b"".join(EVENTS[:at])
        assert not got.whole
        assert connected.at_end()
        server.settle()
        assert [(s.outcome, s.sent, s.size) for s in server.seen] == [
            ("cut", len(got.body), len(BODY))
        ]


@pytest.mark.parametrize("at", [0, 1, 13, len(BODY)])
def test_a_cut_at_a_byte_is_exact(at: int) -> None:
    with served(exchange(), cut=f"byte:{at}") as server:
        got = answer(server.port, request())
    assert got.body == BODY[:at]
    assert not got.whole


def test_a_cut_beyond_the_body_changes_nothing() -> None:
    with served(exchange(), cut=f"event:{event_count(exchange()) + 1}") as server:
        got = answer(server.port, request())
    assert got.body == BODY
    assert got.whole


def test_a_reset_comes_after_every_byte() -> None:
    with served(exchange(), cut="event:2", how="rst") as server, client(server.port) as connected:
        connected.send(request())
        received, error = until_the_end(connected, 1 << 16)
        assert isinstance(error, ConnectionResetError)
        framed = b"".join(b"%x\r\n%b\r\n" % (len(event), event) for event in EVENTS[:2])
        assert received.endswith(b"\r\n\r\n" + framed)


def test_a_slow_reader_gets_every_byte_before_the_reset() -> None:
    big = [b"data: %d\n\n" % n + b":" * 9_990 + b"\n" for n in range(40)]
    with served(exchange(big, end="reset")) as server, client(server.port) as connected:
        connected.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        connected.send(request())
        received, error = until_the_end(connected, 4_096)
        assert isinstance(error, ConnectionResetError)
        assert received.endswith(big[-1] + b"\r\n")


ENDINGS: list[tuple[Ending, str]] = [
    ("eof", "complete"),
    ("reset", "cut"),
    ("protocol-error", "cut"),
    ("client-closed", "cut"),
    ("open", "cut"),
]


@pytest.mark.parametrize(("end", "outcome"), ENDINGS)
def test_a_recorded_ending_is_replayed(end: Ending, outcome: str) -> None:
    with served(exchange(end=end)) as server, client(server.port) as connected:
        connected.send(request())
        if end == "reset":
            with pytest.raises(ConnectionResetError):
                connected.answer()
        else:
            got = connected.answer()
            assert (got.body, got.whole) == (BODY, end == "eof")
        server.settle()
        assert [each.outcome for each in server.seen] == [outcome]


BROKEN: list[tuple[Ending, str]] = [("protocol-error", "cut"), ("reset", "cut")]


@pytest.mark.parametrize(("end", "outcome"), BROKEN)
def test_what_broke_before_its_head_has_none(end: Ending, outcome: str) -> None:
    headless = replace(exchange([], end=end), response=None)
    with served(headless) as server, client(server.port) as connected:
        connected.send(request())
        received, error = until_the_end(connected, 100)
        assert received == b""
        assert isinstance(error, ConnectionResetError) == (end == "reset")
        server.settle()
        assert [each.outcome for each in server.seen] == [outcome]


def test_where_closing_is_the_end_only_a_reset_is_a_cut() -> None:
    with served(exchange(end="protocol-error")) as server, client(server.port) as connected:
        connected.send(request(version="1.0"))
        with pytest.raises(ConnectionResetError):
            connected.answer()


@pytest.mark.parametrize("recorded", [True, False])
def test_a_stall_is_silent_until_the_client_leaves(recorded: bool) -> None:
    stalling = exchange(EVENTS[:1], end="idle-timeout") if recorded else exchange()
    knobs = {} if recorded else {"stall": "event:1"}
    with served(stalling, **knobs) as server, client(server.port) as connected:
        connected.send(request())
        received = b""
        while not received.endswith(EVENTS[0] + b"\r\n"):
            received += connected.socket.recv(1 << 16)
        connected.socket.settimeout(0.05)
        with pytest.raises(TimeoutError):
            connected.socket.recv(1)
        connected.close()
        server.settle()
        assert [(s.outcome, s.sent) for s in server.seen] == [("stalled", len(EVENTS[0]))]


def test_an_early_close_is_noticed_with_its_bytes() -> None:
    slow = exchange([EVENTS[0], EVENTS[1]], ms=0.0)
    late = exchange([EVENTS[0]], number=2, json={"n": 2})
    chunks = (*slow.chunks[:1], type(slow.chunks[0])(EVENTS[1], 60_000.0))
    waiting = type(slow)(request=slow.request, response=slow.response, chunks=chunks)
    with served(waiting, late, timing="recorded") as server:
        connected = client(server.port)
        with connected as opened:
            opened.send(request())
            received = b""
            while not received.endswith(EVENTS[0] + b"\r\n"):
                received += opened.socket.recv(1 << 16)
            reset = struct.pack("ii", 1, 0)
            opened.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        server.settle()
        early = server.seen[0]
    assert (early.outcome, early.sent, early.size) == (
        "client-closed",
        len(EVENTS[0]),
        len(EVENTS[0]) + len(EVENTS[1]),
    )


def test_times_are_scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    delays: list[float] = []
    from conformance.targets.replay import writing  # noqa: PLC0415

    write_timed = writing.AnswerWriter._write_timed

    def noted(self: writing.AnswerWriter, data: bytes, size: int) -> None:
        delays.append(size)
        write_timed(self, data, size)

    monkeypatch.setattr(writing.AnswerWriter, "_write_timed", noted)
    with served(exchange(ms=2000.0), timing="scale:0.1") as server:
        assert answer(server.port, request()).chunks == EVENTS
    assert delays == [len(event) for event in EVENTS]
    delays.clear()
    with served(exchange(ms=40.0)) as server:
        assert answer(server.port, request()).chunks == EVENTS
    assert delays == []


def test_comments_and_crlf_reach_the_wire() -> None:
    with served(exchange(), comments=True, crlf=True) as server:
        got = answer(server.port, request())
    assert got.body.startswith(b": keep-alive\r\ndata: one\r\n\r\n")
    assert got.whole


def test_edits_leave_json_alone() -> None:
    headers = (("content-type", "application/json"),)
    with served(exchange([b"{\n}\n"], headers=headers), comments=True, crlf=True) as server:
        assert answer(server.port, request()).body == b"{\n}\n"


UNFIT = [
    (exchange(status=101), "has the status 101"),
    (exchange(headers=(("x-a", "b\r\nset-cookie: c"),)), "has a header HTTP forbids"),
    (exchange(headers=(("x a", "b"),)), "has a header HTTP forbids"),
]


@pytest.mark.parametrize(("unfit", "message"), UNFIT)
def test_what_http_cannot_carry_is_refused_before_anything_is_served(
    unfit: Any, message: str
) -> None:
    with pytest.raises(CassetteError, match=message), serving([cassette(unfit)]):
        pass


def test_small_writes_are_not_held_back() -> None:
    with served(exchange()) as server:
        connection = socket.create_connection(("127.0.0.1", server.port))
        connection.sendall(request(ASKED))
        connection.recv(1)
        (inside,) = server._state.open
        used = inside._transport.get_extra_info("socket")
        assert used.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        connection.close()


def test_constants_are_what_the_tests_think() -> None:
    assert event_count(exchange()) == len(EVENTS)
    assert SSE[0][1] == "text/event-stream"
