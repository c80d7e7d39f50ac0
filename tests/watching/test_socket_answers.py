"""Answers on a WebSocket that passes are judged as `check` judges a recording of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.cassette import Cassette, read, write
from conformance.core.events import Chunk, Ending, Exchange, Response, Side, SocketMessage
from conformance.core.shipped import cassettes
from conformance.judging.result import Finding
from conformance.recordings.check import check_paths
from conformance.targets.recording.messages import ExchangeEnded, HeadCame, PartCame, RequestCame
from conformance.watching.exchange import WatchedExchange
from conformance.watching.feed import ExchangeMessage
from conformance.watching.judging import TrafficJudge
from conformance.watching.traffic import MOST_OPEN, Traffic
from conformance.wire.requests import HttpRequest
from conformance.wire.socket_parts import SocketPart
from tests.watching.relayed import new_traffic

PATH = "/v1/responses"
UPGRADE = Response(101, "1.1", (("upgrade", "websocket"),))
RECORDED = cassettes() / "openai.responses" / "socket" / "live-session.cassette.jsonl"
JUDGE = TrafficJudge(profile="openai")


class Heard:
    def __init__(self) -> None:
        self.began_with: list[int] = []
        self.over: list[int] = []
        self.findings: list[Finding] = []

    def began(self, exchange: WatchedExchange) -> None:
        self.began_with.append(exchange.number)

    def found(self, exchange: WatchedExchange, findings: Sequence[Finding]) -> None:
        del exchange
        self.findings += findings

    def ended(self, exchange: WatchedExchange) -> None:
        self.over.append(exchange.number)


def messages(exchange: Exchange) -> Iterator[ExchangeMessage]:
    """A recorded WebSocket as the relay reports it."""
    request = exchange.request
    assert request is not None
    yield RequestCame(1, 1.0, request.path, HttpRequest("GET", request.path, request.headers, b""))
    yield HeadCame(1, 2.0, exchange.response or UPGRADE, chunked=False)
    now = 2.0
    for each in exchange.chunks:
        assert isinstance(each, SocketMessage)
        now += 0.01
        yield PartCame(1, now, each.side, SocketPart("text", each.data))
    yield ExchangeEnded(1, now, exchange.end, "")


def findings_of(cassette: Cassette) -> list[set[tuple[str, int]]]:
    """What is found while the one WebSocket of a recording passes, answer by answer."""
    (exchange,) = cassette.exchanges
    judge = TrafficJudge(
        dialect=exchange.dialect or cassette.header.dialect, profile=cassette.header.profile
    )
    traffic = new_traffic(judge, Heard())
    for message in messages(exchange):
        traffic.take(message)
    upgrade, *answers = traffic.exchanges.values()
    assert upgrade.result is None
    assert all(answer.is_over for answer in answers)
    return [{(each.rule, each.event) for each in answer.findings} for answer in answers]


def checked(path: Path) -> list[set[tuple[str, int]]]:
    return [
        {(each.rule, each.event) for each in stream.findings if "/timing/" not in each.rule}
        for stream in check_paths([path]).streams
    ]


@pytest.mark.parametrize("lost", [None, *range(1, 40)])
def test_at_the_end_stands_what_check_says(lost: int | None, tmp_path: Path) -> None:
    cassette = read(RECORDED)
    (exchange,) = cassette.exchanges
    if lost is not None:
        assert len(exchange.chunks) > lost
        chunks = (*exchange.chunks[:lost], *exchange.chunks[lost + 1 :])
        cassette = replace(cassette, exchanges=(replace(exchange, chunks=chunks),))
    write(tmp_path / "socket.cassette.jsonl", cassette)
    wanted = checked(tmp_path / "socket.cassette.jsonl")
    found = findings_of(cassette)
    assert found == wanted
    asks = lost is not None and side_of(exchange.chunks[lost]) == "client"
    assert lost is None or asks or any(found)


def side_of(chunk: Chunk) -> Side:
    assert isinstance(chunk, SocketMessage)
    return chunk.side


Sent = tuple[Side, bytes]


def server_message(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode()


def answered(name: str, kind: str, **fields: Any) -> bytes:
    return server_message(
        kind, response={"id": name, "status": "in_progress", "output": []}, **fields
    )


def begun(*parts: Sent, head: Response = UPGRADE) -> tuple[Traffic, Heard]:
    heard = Heard()
    traffic = new_traffic(JUDGE, heard)
    traffic.take(RequestCame(1, 1.0, PATH, HttpRequest("GET", PATH, (), b"")))
    traffic.take(HeadCame(1, 1.5, head, chunked=False))
    for at, (side, data) in enumerate(parts):
        traffic.take(PartCame(1, 2.0 + at, side, SocketPart("text", data)))
    return traffic, heard


def end(traffic: Traffic, how: Ending = "eof") -> None:
    traffic.take(ExchangeEnded(1, 99.0, how, ""))


ASKS: Sent = ("client", server_message("response.create", model="m", input="Hi"))


def test_an_answer_is_over_where_its_own_end_comes() -> None:
    traffic, heard = begun(
        ASKS,
        ("server", answered("r1", "response.created")),
        ("server", answered("r1", "response.completed")),
    )
    assert heard.began_with == [1, 1001]
    assert heard.over == [1001]
    assert traffic.exchanges[1001].end == "eof"
    assert traffic.exchanges[1001].model == "m"
    assert not traffic.exchanges[1001].note
    assert traffic.exchanges[1].note == "a WebSocket: each of its answers has its own line"
    assert traffic.exchanges[1001].result is not None
    assert not traffic.exchanges[1].is_over


def test_what_comes_after_the_end_of_an_answer_is_counted() -> None:
    done: Sent = ("server", answered("r1", "response.completed"))
    traffic, _ = begun(ASKS, ("server", answered("r1", "response.created")), done, done)
    end(traffic)
    assert "after the end of their answer, not judged: 1;" in traffic.exchanges[1].note


@pytest.mark.parametrize("how", ["eof", "reset"])
def test_an_answer_under_way_ends_with_the_connection(how: Ending) -> None:
    traffic, heard = begun(ASKS, ASKS, ("server", answered("r1", "response.created")))
    end(traffic, how)
    assert heard.over == [1001, 1002, 1]
    assert [traffic.exchanges[number].end for number in (1001, 1002)] == [how, how]


def test_a_failure_of_the_connection_ends_what_is_under_way() -> None:
    error = server_message("error", error={"type": "server_error", "message": "no"})
    one = server_message("response.create", model="m", input="Hi", stream_id="a")
    traffic, _ = begun(
        ("client", one),
        ("server", answered("r1", "response.created", stream_id="a")),
        ("server", error),
    )
    end(traffic, "reset")
    assert traffic.exchanges[1001].end == "eof"
    assert b'"server_error"' in traffic.exchanges[1001].recorded().body


def test_what_is_found_on_the_way_is_what_check_finds() -> None:
    """The head of the upgrade is known before the request: no stream of HTTP was asked for."""
    asks: Sent = ("client", server_message("response.create", model="m", input="Hi", stream=True))
    unstored = {"type": "response.create", "model": "m", "input": "Hi", "store": False}
    traffic, heard = begun(
        asks,
        ("server", server_message("error", status=400, error={"message": "no"})),
        ("client", json.dumps(unstored).encode()),
        ("server", answered("r1", "response.created")),
        ("server", server_message("response.completed", response=_whole("r1"))),
        ("client", json.dumps({**unstored, "previous_response_id": "r1"}).encode()),
    )
    shown = [each.rule for each in heard.findings]
    assert "wire/sse/content-type" not in shown
    assert "history/responses/named-stored" not in shown
    assert traffic.exchanges[1003].place is not None


def _whole(name: str) -> dict[str, Any]:
    words = [{"type": "output_text", "text": "At nine.", "annotations": []}]
    said = {"type": "message", "id": "m1", "role": "assistant", "status": "completed"}
    return {"id": name, "status": "completed", "output": [{**said, "content": words}]}


def test_lanes_are_distinguished() -> None:
    traffic, heard = begun(
        ("client", server_message("response.create", model="a", stream_id="a")),
        ("client", server_message("response.create", model="b", stream_id="b")),
        ("server", answered("r2", "response.created", stream_id="b")),
        ("server", answered("r1", "response.created", stream_id="a")),
        ("server", answered("r1", "response.completed", stream_id="a")),
    )
    assert heard.over == [1001]
    assert b'"r2"' in traffic.exchanges[1002].recorded().body
    assert b'"r2"' not in traffic.exchanges[1001].recorded().body


def test_control_frames_and_other_messages_are_of_no_answer() -> None:
    traffic, heard = begun(("server", server_message("codex.rate_limits")))
    traffic.take(PartCame(1, 9.0, "server", SocketPart("close", b"bye", 1000)))
    end(traffic)
    assert (heard.began_with, heard.over) == ([1], [1])


def test_a_message_that_is_no_json_is_of_the_answer_that_waits() -> None:
    traffic, _ = begun(ASKS, ("server", b"\xff not JSON"))
    assert b"not JSON" in traffic.exchanges[1001].recorded().body


def test_a_websocket_of_no_known_api_is_not_judged() -> None:
    traffic = new_traffic(TrafficJudge(), Heard())
    traffic.take(RequestCame(1, 1.0, "/ws", HttpRequest("GET", "/ws", (), b"")))
    traffic.take(HeadCame(1, 1.5, UPGRADE, chunked=False))
    traffic.take(PartCame(1, 2.0, "server", SocketPart("text", b"{}")))
    end(traffic)
    assert traffic.exchanges[1].note == "not judged: a WebSocket of no known API"
    assert list(traffic.exchanges) == [1]


def test_answers_that_wait_are_bounded() -> None:
    traffic, heard = begun(*[ASKS] * (MOST_OPEN + 5))
    assert len(heard.began_with) == 1 + MOST_OPEN
    end(traffic)
    assert all(each.is_over for each in traffic.exchanges.values())
