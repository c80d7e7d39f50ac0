"""A server that is asked over WebSockets: each answer as a recorded one would be taken apart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import open_recording
from conformance.core.events import Request
from conformance.targets.replay import ReplayLimits, ReplayOptions, ThreadedServer, serving
from conformance.targets.server import FetchedAnswer, NoAnswerError
from conformance.targets.socket_server import SocketServer
from conformance.wire.faults import ExchangeLimits
from conformance.wire.origin import Origin
from tests.cassette.sockets import LIMIT, answer, asked, in_turn
from tests.targets.test_replay_sockets import kept

ASK = {key: value for key, value in asked()[1].items() if key != "type"}


@contextmanager
def played(folder: Path, talk: Any, **more: Any) -> Iterator[ThreadedServer]:
    path = kept(folder, talk, end=more.pop("end", "client-closed"))
    with serving([path], limits=ReplayLimits(hold_s=0.2), options=ReplayOptions(**more)) as server:
        yield server


def fetched(url: str, *bodies: Any, limits: ExchangeLimits | None = None) -> list[FetchedAnswer]:
    async def run() -> list[FetchedAnswer]:
        origin = Origin.parse(url)
        async with SocketServer(f"{url}/v1", origin, limits=limits) as server:
            requests = [
                Request("POST", "/responses", json={**body, "stream": True}) for body in bodies
            ]
            return [await server.fetch(each) for each in requests]

    return asyncio.run(run())


def test_an_answer_is_what_a_recorded_one_is_taken_apart_into(tmp_path: Path) -> None:
    with played(tmp_path, in_turn()) as server:
        got = fetched(server.url, ASK, {**ASK, "previous_response_id": "resp_1"})
        assert server.connections == 1
    (file,) = tmp_path.iterdir()
    for one, other in zip(got, open_recording(file).exchanges, strict=True):
        assert one.exchange.body == other.body
        assert one.exchange.request is not None
        assert other.request is not None
        assert one.exchange.request.json == other.request.json
        assert (one.exchange.end, one.fault) == ("eof", "")
        assert one.exchange.response is not None
        assert one.exchange.response.status == 101
        assert all(each.ms is not None for each in one.exchange.chunks)


def test_what_is_about_no_answer_is_left_out(tmp_path: Path) -> None:
    talk = [asked(), ("server", {"type": "codex.rate_limits"}), *answer()]
    with played(tmp_path, talk) as server:
        (got,) = fetched(server.url, ASK)
    assert b"rate_limits" not in got.exchange.body
    assert got.exchange.body.endswith(b"\n")


BREAKS: Sequence[tuple[str, dict[str, Any], str, str]] = [
    ("eof", {}, "eof", ""),
    ("reset", {}, "reset", "the connection was reset"),
    ("protocol-error", {}, "protocol-error", "closed without a close"),
    ("idle-timeout", {}, "idle-timeout", "nothing came for 0.1 s"),
]


@pytest.mark.parametrize(("end", "more", "how", "fault"), BREAKS, ids=[each[0] for each in BREAKS])
def test_an_answer_that_breaks_off_ends_as_the_connection_did(
    tmp_path: Path, end: str, more: dict[str, Any], how: str, fault: str
) -> None:
    with played(tmp_path, [asked(), *answer()[:3]], end=end, **more) as server:
        (got,) = fetched(server.url, ASK, limits=ExchangeLimits(idle=0.1))
    assert (got.exchange.end, got.fault) == (how, fault)
    assert len(got.exchange.chunks) == 3


def test_an_error_ends_the_answer_and_not_the_connection(tmp_path: Path) -> None:
    error = {**LIMIT, "status": 400}
    with played(tmp_path, [asked(), ("server", error), asked(), *answer()]) as server:
        refused, whole = fetched(server.url, ASK, ASK)
        assert server.connections == 1
    assert json.loads(refused.exchange.body) == error
    assert (refused.exchange.end, whole.exchange.end) == ("eof", "eof")


def test_a_closed_connection_is_opened_again(tmp_path: Path) -> None:
    with played(tmp_path, [asked(), *answer()], end="eof", repeat=True) as server:
        one, other = fetched(server.url, ASK, ASK)
        assert server.connections == 2
    assert one.exchange.body == other.exchange.body


def test_an_upgrade_that_is_refused_is_an_answer_of_http(tmp_path: Path) -> None:
    with played(tmp_path, in_turn(), exact_paths=True) as server:
        (got,) = fetched(f"{server.url}/other", ASK)
    assert got.exchange.response is not None
    assert got.exchange.response.status == 404
    assert b"replay_miss" in got.exchange.body


def test_who_does_not_answer_is_named() -> None:
    with pytest.raises(NoAnswerError, match=r"127\.0\.0\.1:1: .*nothing listens there"):
        fetched("http://127.0.0.1:1", ASK)
