"""Answers that break off, before real HTTP stacks: each gets the bytes before and sees the break.

Undici, curl, Go and hyper are asked the same in `tests/live/test_live_stacks.py`.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from typing import Final

import aiohttp
import httpx
import pytest
import requests

from conformance.core.events import Ending
from conformance.targets.replay import ReplayOptions, serving
from tests.targets.replay_wire import EVENTS, PATH, SSE, cassette, exchange
from tests.targets.replay_wire import request as request_bytes

BODY: Final = b"".join(EVENTS)
CUT: Final = len(EVENTS[0] + EVENTS[1])
PATIENCE_S: Final = 60

# What a stack was given before the end, and whether it took the body for whole.
Read = tuple[bytes, bool]


def with_httpx(url: str, *, closes: bool) -> Read:
    got = bytearray()
    headers = {"connection": "close"} if closes else {}
    with (
        httpx.Client(trust_env=False, timeout=PATIENCE_S) as client,
        client.stream("POST", url, json={}, headers=headers) as answer,
    ):
        try:
            for data in answer.iter_raw():
                got += data
        except httpx.TransportError:
            return bytes(got), False
    return bytes(got), True


def with_aiohttp(url: str, *, closes: bool) -> Read:
    async def read() -> Read:
        got = bytearray()
        connector = aiohttp.TCPConnector(force_close=closes)
        timeout = aiohttp.ClientTimeout(PATIENCE_S)
        async with (
            aiohttp.ClientSession(connector=connector, timeout=timeout) as session,
            session.post(url, json={}) as answer,
        ):
            try:
                async for data in answer.content.iter_any():
                    got.extend(data)
            except aiohttp.ClientError:
                return bytes(got), False
        return bytes(got), True

    return asyncio.run(read())


def with_requests(url: str, *, closes: bool) -> Read:
    got = bytearray()
    with requests.Session() as session:
        session.trust_env = False
        if closes:
            session.headers["connection"] = "close"
        with session.post(url, json={}, stream=True, timeout=PATIENCE_S) as answer:
            try:
                for data in answer.iter_content(1):
                    got += data
            except requests.RequestException:
                return bytes(got), False
    return bytes(got), True


STACKS: Final = {each.__name__: each for each in (with_httpx, with_aiohttp, with_requests)}


@pytest.fixture(scope="module")
def answers() -> Iterator[Callable[..., Read]]:
    """Replays one recording, broken off as the options say, to a stack."""
    with serving() as server:

        def ask(
            stack: Callable[..., Read],
            headers: tuple[tuple[str, str], ...],
            *,
            closes: bool,
            end: Ending = "eof",
            chunks: tuple[bytes, ...] = EVENTS,
            **options: str,
        ) -> Read:
            recorded = cassette(exchange(chunks, json=None, headers=headers, end=end))
            name = server.mount(recorded, options=ReplayOptions.parse(**options))
            try:
                return stack(server.base_url(name) + PATH, closes=closes)
            finally:
                server.unmount(name)

        yield ask


LENGTH: Final = (*SSE, ("content-length", str(len(BODY))))


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("how", ["fin", "rst"])
@pytest.mark.parametrize("headers", [SSE, LENGTH])
@pytest.mark.parametrize("closes", [False, True])
def test_every_stack_sees_a_cut(
    answers: Callable[..., Read],
    stack: str,
    how: str,
    headers: tuple[tuple[str, str], ...],
    *,
    closes: bool,
) -> None:
    got = answers(STACKS[stack], headers, closes=closes, cut=f"byte:{CUT}", how=how)
    assert got == (BODY[:CUT], False)


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("end", ["reset", "protocol-error", "client-closed", "open"])
def test_each_stack_sees_a_break(answers: Callable[..., Read], stack: str, end: Ending) -> None:
    got = answers(STACKS[stack], SSE, closes=True, end=end, chunks=EVENTS[:2])
    assert got == (BODY[:CUT], False)


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("headers", [SSE, LENGTH])
def test_every_stack_takes_a_whole_answer_as_whole(
    answers: Callable[..., Read], stack: str, headers: tuple[tuple[str, str], ...]
) -> None:
    for closes in (False, True):
        assert answers(STACKS[stack], headers, closes=closes) == (BODY, True)


@pytest.mark.parametrize("asks_to_close", [False, True])
@pytest.mark.parametrize("options", [{}, {"cut": f"byte:{CUT}"}, {"cut": "event:0", "how": "rst"}])
@pytest.mark.parametrize("framed", [("content-length", str(len(BODY))), ("x-none", "1")])
def test_the_head_on_the_wire_is_the_recorded_one(
    options: dict[str, str], framed: tuple[str, str], *, asks_to_close: bool
) -> None:
    headers = (("X-Request-Id", "r1"), framed, *SSE, ("x-twice", "1"), ("x-twice", "2"))
    lines = [f"{name}: {value}" for name, value in headers]
    if framed[0] == "x-none":
        lines.append("transfer-encoding: chunked")  # what frames it where nothing recorded does
    asked = request_bytes(headers=["connection: close"] if asks_to_close else [])
    with (
        serving(
            [cassette(exchange(headers=headers))], options=ReplayOptions.parse(**options)
        ) as server,
        socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as connected,
    ):
        connected.sendall(asked)
        got = b""
        while b"\r\n\r\n" not in got:
            got += connected.recv(4096)
    head = got.partition(b"\r\n\r\n")[0].decode()
    assert head.split("\r\n") == ["HTTP/1.1 200 OK", *lines]
