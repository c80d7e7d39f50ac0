"""Whatever a server does, a fetch ends, keeps what came, and says how it ended."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Sequence
from time import monotonic

import pytest
from msgspec.structs import replace

from conformance.core.errors import UsageError
from conformance.core.events import Request
from conformance.targets.left_open import STAYED_OPEN
from conformance.targets.server import FetchedAnswer, LiveServer, NoAnswerError
from conformance.wire.faults import ExchangeLimits
from tests.fakes.hostile import (
    CHUNK,
    LAST,
    Behaviour,
    Heard,
    bomb,
    chunked,
    dripping,
    endlessly,
    head,
    serving,
    then_reset,
    then_silent,
    whole,
)

ASKED = Request(path="/chat/completions", json={"model": "m", "stream": True})
QUICK = ExchangeLimits(timeout=1.5, idle=0.3, connect=1.0, max_bytes=1_000_000)

UNHURRIED = replace(QUICK, timeout=60.0, idle=30.0)
"""For what ends by its size, however busy the machine is."""


def fetched(
    behave: Behaviour,
    limits: ExchangeLimits = QUICK,
    asked: Request = ASKED,
    secrets: dict[str, str] | None = None,
) -> tuple[FetchedAnswer, Heard]:
    async def go() -> tuple[FetchedAnswer, Heard]:
        async with serving(behave) as heard, LiveServer(heard.url, limits=limits) as server:
            return await server.fetch(asked, secrets), heard

    return asyncio.run(go())


def body(fetched: FetchedAnswer) -> bytes:
    return fetched.exchange.body


ENDINGS: list[tuple[str, Behaviour, str, str]] = [
    # what it does, ending, what is said of it
    ("a good stream", whole(chunked(CHUNK, LAST)), "eof", ""),
    ("an endless stream", endlessly(CHUNK), "client-closed", "1000000 bytes"),
    ("an endless line", endlessly(b"x" * 4096, b"data: "), "client-closed", "1000000 bytes"),
    ("a slow drip", dripping(b":" * 500, head()), "client-closed", "not ended after 1.5 s"),
    ("silence in the stream", then_silent(head() + CHUNK), "idle-timeout", "nothing came"),
    ("silence after the head", then_silent(head()), "idle-timeout", "nothing came"),
    ("a gzip bomb", whole(bomb(100_000_000)), "client-closed", "1000000 bytes"),
    ("no gzip at all", whole(head(content_encoding="gzip") + CHUNK), "protocol-error", "no gzip"),
    (
        "an unknown encoding",
        whole(head(content_encoding="sdch") + CHUNK),
        "protocol-error",
        "'sdch', which the request does not accept",
    ),
    ("a reset", then_reset(head() + CHUNK[:40]), "reset", "reset"),
    ("a missing last chunk", whole(chunked(CHUNK, ended=False)), "protocol-error", "incomplete"),
    (
        "a chunk without a size",
        whole(head(transfer_encoding="chunked") + b"zz\r\n"),
        "protocol-error",
        "",
    ),
    (
        "a body shorter than its length",
        whole(head(content_length="999") + CHUNK),
        "protocol-error",
        "",
    ),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("behave", "end", "message"), [e[1:] for e in ENDINGS], ids=[e[0] for e in ENDINGS]
)
def test_every_stream_ends(behave: Behaviour, end: str, message: str) -> None:
    found, _ = fetched(behave, UNHURRIED if "bytes" in message else QUICK)
    assert found.exchange.end == end
    assert message in found.fault
    assert bool(found.fault) == (end != "eof")
    assert len(body(found)) <= QUICK.max_bytes


@pytest.mark.parametrize(
    ("behave", "kept"),
    [
        (then_reset(head() + CHUNK + CHUNK[:40]), CHUNK + CHUNK[:40]),
        (then_silent(head() + CHUNK), CHUNK),
        (whole(chunked(CHUNK, ended=False)), CHUNK),
        (
            whole(b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + CHUNK + LAST),
            CHUNK + LAST,
        ),
    ],
    ids=["reset", "silence", "no last chunk", "HTTP/1.0"],
)
def test_what_came_is_kept(behave: Behaviour, kept: bytes) -> None:
    found, _ = fetched(behave)
    assert body(found) == kept


async def _graces(bytes_: bytes, first: float) -> Sequence[tuple[str, bool, float]]:
    """How three answers in a row end that stay open, and how long each is waited for."""
    ends: list[tuple[str, bool, float]] = []
    limits = ExchangeLimits(timeout=20.0, idle=1.5, max_bytes=1_000_000)
    stays_open = serving(then_silent(head() + bytes_))
    async with stays_open as heard, LiveServer(heard.url, limits=limits) as server:
        server.open_answers.grace = first
        for _ in range(3):
            begun = monotonic()
            found = await server.fetch(ASKED)
            is_over = found.fault == STAYED_OPEN
            ends.append((found.exchange.end, is_over, round(monotonic() - begun, 1)))
    return ends


def test_an_answer_that_stays_open_behind_its_end_is_waited_for_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("conformance.targets.left_open.LATER_GRACE", 0.1)
    (end, is_over, first), *later = asyncio.run(_graces(CHUNK + LAST, 0.8))
    assert (end, is_over) == ("idle-timeout", True)
    assert 0.8 <= first < 1.4
    assert all(each[1] and each[2] < 0.6 for each in later)


def test_an_answer_that_is_not_over_gets_all_the_time_there_is() -> None:
    for _, is_over, waited in asyncio.run(_graces(CHUNK, 0.1)):
        assert not is_over
        assert waited >= 1.5


def test_a_body_that_ends_by_closing_is_whole() -> None:
    old = b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + CHUNK + LAST
    found, _ = fetched(whole(old))
    assert (found.exchange.end, found.fault) == ("eof", "")
    assert found.exchange.response is not None
    assert found.exchange.response.http == "1.0"


def test_gzip_is_read_though_nobody_asked_for_it() -> None:
    found, heard = fetched(whole(head(content_encoding="gzip") + gzip.compress(CHUNK + LAST)))
    assert body(found) == CHUNK + LAST
    assert b"accept-encoding: identity" in heard.requests[0].lower()
    assert found.exchange.response is not None
    assert found.exchange.response.header("content-encoding") is None
    assert found.exchange.response.header("x-decoded-from") == "gzip"


NO_ANSWER: list[tuple[str, Behaviour, str]] = [
    ("silence", then_silent(b""), "sent no response head within 0.3 s"),
    ("a head byte by byte", dripping(b"HTTP/1.1 200 OK\r\nx: " + b"y" * 500), "within 1.5 s"),
    ("a reset", then_reset(b""), "reset"),
    ("a close", whole(b""), "disconnected"),
    ("no HTTP", whole(b"SSH-2.0-OpenSSH_9.6\r\n"), ""),
    ("an endless head", whole(b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 50_000), ""),
]


@pytest.mark.parametrize(
    ("behave", "message"), [e[1:] for e in NO_ANSWER], ids=[e[0] for e in NO_ANSWER]
)
def test_no_head_is_no_answer(behave: Behaviour, message: str) -> None:
    with pytest.raises(NoAnswerError) as caught:
        fetched(behave)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nobody_there_is_no_answer() -> None:
    async def go() -> None:
        async with serving(whole(b"")) as heard:
            url = heard.url
        async with LiveServer(url, limits=QUICK) as server:
            await server.fetch(ASKED)

    with pytest.raises(NoAnswerError, match="cannot connect"):
        asyncio.run(go())


def test_a_server_without_tls_fails_tls() -> None:
    async def go() -> None:
        plain = whole(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        async with (
            serving(plain) as heard,
            LiveServer(f"https://127.0.0.1:{heard.port}", limits=QUICK) as server,
        ):
            await server.fetch(ASKED)

    with pytest.raises(NoAnswerError):
        asyncio.run(go())


async def test_a_redirect_elsewhere_is_not_followed_and_gets_no_credentials() -> None:
    async with serving(whole(chunked(CHUNK, LAST))) as other:
        away = whole(head("307 Temporary Redirect", location=f"{other.url}/v1"))
        async with serving(away) as heard, LiveServer(heard.url, limits=QUICK) as server:
            found = await server.fetch(ASKED, {"authorization": "Bearer key"})
    assert found.exchange.response is not None
    assert found.exchange.response.status == 307
    assert other.requests == []


async def test_a_redirect_within_the_host_is_followed_with_method_and_body() -> None:
    answers = iter(
        [
            whole(head("308 Permanent Redirect", location="/v2/chat/completions")),
            whole(chunked(CHUNK, LAST)),
        ]
    )

    async def behave(writer: asyncio.StreamWriter) -> None:
        await next(answers)(writer)

    async with serving(behave) as heard, LiveServer(heard.url, limits=QUICK) as server:
        found = await server.fetch(ASKED)
    assert body(found) == CHUNK + LAST
    assert heard.requests[1].startswith(b"POST /v2/chat/completions ")
    assert heard.requests[1].endswith(heard.requests[0].partition(b"\r\n\r\n")[2])


def test_redirects_in_a_circle_end() -> None:
    with pytest.raises(NoAnswerError, match="redirects"):
        fetched(whole(head("307 Temporary Redirect", location="/v1/chat/completions")))


async def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(whole(chunked(CHUNK, LAST))) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        async with LiveServer("http://nowhere.invalid", limits=QUICK) as server:
            await server.fetch(ASKED)
        (request,) = proxy.requests
    assert request.startswith(b"POST http://nowhere.invalid/v1/chat/completions ")


def test_credentials_are_sent() -> None:
    _, heard = fetched(whole(chunked(CHUNK, LAST)), secrets={"authorization": "Bearer key"})
    assert b"authorization: bearer key" in heard.requests[0].lower()


@pytest.mark.parametrize(
    "url", ["", "localhost:8000", "ftp://host/", "http://", "http://me:key@host", "http://[::1"]
)
def test_what_is_no_url_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        LiveServer(url)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://127.0.0.1:1", b"/v1/models"),
        ("http://127.0.0.1:1/", b"/v1/models"),
        ("http://127.0.0.1:1/openai/v1/", b"/openai/v1/models"),
        ("http://127.0.0.1:1/x?api-version=2", b"/x/models?api-version=2"),
    ],
)
async def test_paths_stand_below_the_base_url(url: str, path: bytes) -> None:
    async with LiveServer(url) as server:
        got = server._request_to_send(Request("GET", "/models"), {}).url.raw_path
    assert got == path


def test_chunks_have_a_clock() -> None:
    found, _ = fetched(whole(chunked(CHUNK, LAST)))
    assert all(chunk.ms is not None and chunk.ms >= 0 for chunk in found.exchange.chunks)
    assert found.clock.head is not None
