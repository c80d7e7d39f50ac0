"""Clients that leave, send too much, or say no more: each gets what it would get directly."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from conformance.cassette import Cassette
from conformance.targets.recording import RecordingProxy
from tests.targets.record_peers import END, HEAD, Got, Script, answer, chunked, connect, post
from tests.targets.record_peers import Origin as Upstream
from tests.targets.test_proxy_endings import EVENT, OK, STREAM, through

LENGTH = OK + b"content-length: %d\r\n\r\n" % len(EVENT)
CLOSED = OK + b"\r\n"


@pytest.mark.parametrize("early", [b"X", b"\r\n", post("/v1/chat/completions"), b"X" * 100_000])
def test_bytes_after_a_request_do_not_end_the_watch(early: bytes, tmp_path: Path) -> None:
    async def action(proxy: RecordingProxy, server: Upstream) -> None:
        reader, writer = await connect(proxy.url)
        writer.write(post("/v1/chat/completions") + early)
        await reader.readuntil(b"{}\n\n")
        writer.write(b"X")
        await writer.drain()
        writer.close()
        await asyncio.wait_for(server.gone.wait(), 10)

    script = Script([HEAD + chunked(EVENT)], "silence")
    first, *_ = through(tmp_path, action, script)
    assert first.exchanges[0].end == "client-closed"


def half_closed(folder: Path, script: Script) -> tuple[Got, Cassette]:
    got: list[Got] = []

    async def action(proxy: RecordingProxy, _: Upstream) -> None:
        reader, writer = await connect(proxy.url)
        writer.write(post("/v1/chat/completions"))
        writer.write_eof()
        got.append(await asyncio.wait_for(answer(reader), 10))
        assert not await reader.read()
        writer.close()

    (cassette,) = through(folder, action, script)
    return got[0], cassette


@pytest.mark.parametrize(
    ("script", "end"),
    [
        (STREAM, "eof"),
        (Script([LENGTH, EVENT]), "eof"),
        # The upstream was told, and closing could be what it makes of it.
        (Script([CLOSED, EVENT], "fin"), "client-closed"),
    ],
)
def test_client_that_says_no_more_gets_its_answer(script: Script, end: str, tmp_path: Path) -> None:
    got, cassette = half_closed(tmp_path, script)
    assert (got.chunks, got.end) == ((EVENT,), "complete")
    assert cassette.exchanges[0].end == end
    assert [chunk.data for chunk in cassette.exchanges[0].chunks] == [EVENT]


def test_silent_client_hears_of_a_lost_upstream(
    tmp_path: Path,
) -> None:
    got, cassette = half_closed(tmp_path, Script([], "fin"))
    assert got.head.startswith(b"HTTP/1.1 502 ")
    assert cassette.exchanges[0].end == "client-closed"


@pytest.mark.parametrize("name", ["content-length", "Content-Length, close"])
def test_a_length_that_connection_names_is_passed_on(name: str, tmp_path: Path) -> None:
    head = LENGTH.replace(b"\r\n\r\n", b"\r\nConnection: %s\r\n\r\n" % name.encode())
    got: list[Got] = []

    async def action(proxy: RecordingProxy, _: Upstream) -> None:
        reader, writer = await connect(proxy.url)
        writer.write(post("/v1/chat/completions"))
        got.append(await asyncio.wait_for(answer(reader), 10))
        writer.close()

    (cassette,) = through(tmp_path, action, Script([head, EVENT]))
    assert got[0].chunks == (EVENT,)
    assert b"content-length: 10" in got[0].head
    assert cassette.exchanges[0].end == "eof"


def test_a_length_of_many_digits_is_no_answer(tmp_path: Path) -> None:
    got: list[Got] = []
    digits = b"9" * 6000

    async def action(proxy: RecordingProxy, _: Upstream) -> None:
        for request in (
            post("/v1/chat/completions"),
            b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Length: %b\r\n\r\n"
            % digits,
            b"POST / HTTP/1.1\r\nHost: localhost\r\nHost: x\r\nContent-Length: %b\r\n\r\n" % digits,
        ):
            reader, writer = await connect(proxy.url)
            writer.write(request)
            got.append(await asyncio.wait_for(answer(reader), 10))
            writer.close()

    script = Script([OK + b"content-length: %b\r\n\r\n" % digits, END])
    (cassette,) = through(tmp_path, action, script)
    assert [each.head.split()[1] for each in got] == [b"502", b"400", b"400"]
    assert cassette.exchanges[0].end == "protocol-error"
