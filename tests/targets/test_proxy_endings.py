"""How an exchange ended is passed on and recorded, whoever ended it."""

from __future__ import annotations

import asyncio
import gzip
import socket
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from conformance.cassette import Cassette, read
from conformance.core.errors import UsageError
from conformance.targets.recording import (
    Origin,
    ProxyTimeouts,
    RecordingFolder,
    RecordingOptions,
    RecordingProxy,
)
from tests.cli.test_run_troubles import saying
from tests.targets.record_peers import (
    END,
    HEAD,
    Got,
    Script,
    answer,
    ask,
    chunked,
    connect,
    origin,
    post,
)
from tests.targets.record_peers import Origin as Upstream

EVENT = b"data: {}\n\n"
STREAM = Script([HEAD, chunked(EVENT), END])
OK = b"HTTP/1.1 200 OK\r\n"
Action = Callable[[RecordingProxy, Upstream], Awaitable[None]]


def through(
    folder: Path,
    action: Action,
    *scripts: Script,
    terms: RecordingOptions | None = None,
    idle: float = 60,
) -> list[Cassette]:
    """What was recorded while the action went on."""

    async def run() -> None:
        async with origin(*scripts) as server:
            shelf = RecordingFolder(folder, terms or RecordingOptions())
            upstream, patience = Origin.parse(server.url), ProxyTimeouts(5, idle)
            async with RecordingProxy(upstream, shelf, timeouts=patience) as proxy:
                await action(proxy, server)
                assert not proxy.failures

    asyncio.run(run())
    return [read(path) for path in sorted(folder.iterdir())]


def asked_once(folder: Path, script: Script, *, idle: float = 60) -> tuple[Got, Cassette]:
    got: list[Got] = []

    async def action(proxy: RecordingProxy, _: Upstream) -> None:
        got.append(await ask(proxy.url, post("/v1/chat/completions")))

    (cassette,) = through(folder, action, script, idle=idle)
    return got[0], cassette


def only(folder: Path) -> Cassette:
    (path,) = folder.iterdir()
    return read(path)


@pytest.mark.parametrize(
    ("script", "end", "client"),
    [
        (STREAM, "eof", "complete"),
        (Script([HEAD, chunked(EVENT)], "fin"), "protocol-error", "cut"),
        (Script([HEAD, chunked(EVENT)], "rst"), "reset", "reset"),
        (Script([HEAD, chunked(EVENT), b"zz\r\n"]), "protocol-error", "cut"),
        (Script([HEAD, chunked(EVENT)], "silence"), "idle-timeout", "cut"),
        (Script([OK, b"content-length: 10\r\n\r\n", EVENT]), "eof", "complete"),
        (Script([OK, b"content-length: 11\r\n\r\n", EVENT], "fin"), "protocol-error", "cut"),
        (Script([b"HTTP/1.0 200 OK\r\n\r\n", EVENT], "fin"), "eof", "complete"),
    ],
)
def test_ending_is_recorded(script: Script, end: str, client: str, tmp_path: Path) -> None:
    got, cassette = asked_once(tmp_path, script, idle=0.3)
    assert (cassette.exchanges[0].end, got.end) == (end, client)
    assert b"".join(chunk.data for chunk in cassette.exchanges[0].chunks) == EVENT
    assert b"".join(got.chunks)[: len(EVENT)] == EVENT
    assert cassette.sealed


@pytest.mark.parametrize(
    ("script", "end"),
    [
        (Script([], "fin"), "reset"),
        (Script([], "rst"), "reset"),
        (Script([b"SSH-2.0-OpenSSH\r\n\r\n"], "fin"), "protocol-error"),
        (Script([], "silence"), "idle-timeout"),
        (Script([OK + b"x: " + b"y" * 300_000]), "protocol-error"),
    ],
)
def test_missing_head_is_explained(script: Script, end: str, tmp_path: Path) -> None:
    got, cassette = asked_once(tmp_path, script, idle=0.3)
    assert got.head.startswith(b"HTTP/1.1 502 ")
    assert b'"type":"upstream_error"' in got.chunks[0]
    assert cassette.exchanges[0].response is None
    assert cassette.exchanges[0].end == end


KEY = "Zk9Qm3vX7Lr5tYpW8sBn/Hd2kLm+N4pQ"


@pytest.mark.parametrize(
    "says",
    [
        b"Invalid API key %b\r\n\r\n",
        b"HTTP/1.1 4O1 bad %b\r\n\r\n",
        OK + b"%b: x\r\n\r\n",
        OK + b"bad key %b\r\n\r\n",
        OK + b"content-length: %b\r\n\r\n",
        HEAD + b"%b\r\nx\r\n",
        HEAD + b"%b%b\r\nx\r\n" % (b"z" * 30, b"%b"),
    ],
)
async def test_what_is_malformed_shows_no_key_of_the_client(says: bytes, tmp_path: Path) -> None:
    notes: list[str] = []
    async with origin(Script([says.replace(b"%b", KEY.encode())], "fin")) as server:
        options = RecordingOptions()
        shelf = RecordingFolder(tmp_path, options, tell=lambda _, one: notes.append(one.note))
        async with RecordingProxy(Origin.parse(server.url), shelf, warn=notes.append) as proxy:
            await ask(proxy.url, post("/v1/models", b"{}", f"Authorization: Bearer {KEY}"))
    assert "".join(notes)
    assert not [line for line in notes if KEY[2:8] in line]
    assert not [path for path in tmp_path.iterdir() if KEY[2:8] in path.read_text()]


async def test_an_upstream_that_is_not_there_gives_502(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shelf = RecordingFolder(tmp_path, RecordingOptions())
    async with RecordingProxy(Origin.parse(f"http://127.0.0.1:{port}"), shelf) as proxy:
        got = await ask(proxy.url, post("/v1/responses"))
    assert b"cannot connect" in got.chunks[0]
    (cassette,) = [read(path) for path in tmp_path.iterdir()]
    assert (cassette.exchanges[0].end, cassette.header.dialect) == ("reset", "openai.responses")


def test_an_upstream_without_tls_gives_502_with_what_helps(tmp_path: Path) -> None:
    async def run(upstream: Origin) -> Got:
        shelf = RecordingFolder(tmp_path, RecordingOptions())
        async with RecordingProxy(upstream, shelf) as proxy:
            return await ask(proxy.url, post("/v1/responses"))

    with saying(b"HTTP/1.1 400 Bad Request\r\n\r\n") as address:
        got = asyncio.run(run(Origin.parse(f"https://{address}")))
    assert b"(no TLS is spoken there; try http://)" in got.chunks[0]


@pytest.mark.parametrize("head", [HEAD, OK + b"content-length: 99\r\n\r\n", OK + b"\r\n"])
def test_a_client_that_leaves_ends_the_upstream_too(head: bytes, tmp_path: Path) -> None:
    async def action(proxy: RecordingProxy, server: Upstream) -> None:
        reader, writer = await connect(proxy.url)
        writer.write(post("/v1/chat/completions"))
        await reader.readuntil(b"{}\n\n")
        writer.close()
        await server.gone.wait()

    first = chunked(EVENT) if head == HEAD else EVENT
    (cassette,) = through(tmp_path, action, Script([head + first], "silence"))
    assert cassette.exchanges[0].end == "client-closed"
    assert [chunk.data for chunk in cassette.exchanges[0].chunks] == [EVENT]


def test_each_chunk_reaches_client_and_disk_before_the_next_is_sent(tmp_path: Path) -> None:
    gate = asyncio.Semaphore(0)
    events = [b'data: {"n":%d}\n\n' % n for n in range(5)]

    async def action(proxy: RecordingProxy, _: Upstream) -> None:
        reader, writer = await connect(proxy.url)
        writer.write(post("/v1/chat/completions"))
        await reader.readuntil(b"\r\n\r\n")
        for number, event in enumerate(events):
            gate.release()
            assert await reader.readexactly(len(chunked(event))) == chunked(event)
            kept = [chunk.data for chunk in only(tmp_path).exchanges[0].chunks]
            assert kept == events[: number + 1]
        gate.release()
        writer.close()

    through(tmp_path, action, Script([HEAD, *map(chunked, events), END], gate=gate))


def test_a_connection_is_used_again_on_both_sides(tmp_path: Path) -> None:
    async def action(proxy: RecordingProxy, server: Upstream) -> None:
        reader, writer = await connect(proxy.url)
        for _ in range(3):
            writer.write(post("/v1/chat/completions"))
            assert (await answer(reader)).end == "complete"
        writer.write(post("/v1/chat/completions") * 2)  # pipelined
        for _ in range(2):
            assert (await answer(reader)).chunks == (EVENT,)
        writer.close()
        assert server.connections == 1

    assert len(through(tmp_path, action, STREAM)) == 5


def test_an_old_client_gets_the_body_without_framing(tmp_path: Path) -> None:
    async def action(proxy: RecordingProxy, _: Upstream) -> None:
        reader, writer = await connect(proxy.url)
        writer.write(post("/v1/chat/completions").replace(b"HTTP/1.1", b"HTTP/1.0"))
        head, body = (await reader.read()).split(b"\r\n\r\n", 1)
        writer.close()
        assert b"transfer-encoding" not in head.lower()
        assert body == EVENT

    through(tmp_path, action, STREAM)


def test_headers_pass_but_those_of_one_connection(tmp_path: Path) -> None:
    seen: list[bytes] = []
    head = (
        b"HTTP/1.1 201 Made\r\nX-Custom: 1\r\nKeep-Alive: timeout=5\r\nConnection: X-Hop\r\n"
        b"X-Hop: 1\r\nSet-Cookie: a=b\r\nset-cookie: c=d\r\ncontent-length: 0\r\n\r\n"
    )

    async def action(proxy: RecordingProxy, server: Upstream) -> None:
        named = ("Connection: X-Mine", "X-Mine: 1", "TE: trailers", "X-Kept: 2", "Cookie: e=f")
        got = await ask(proxy.url, post("/v1/chat/completions?a=b", b"{}", *named))
        seen.extend([got.head, server.requests[0]])

    (cassette,) = through(tmp_path, action, Script([head]))
    got_head, request = seen
    assert got_head.startswith(
        b"HTTP/1.1 201 Made\r\nX-Custom: 1\r\nSet-Cookie: a=b\r\nset-cookie: c=d"
    )
    assert b"X-Hop" not in got_head
    assert request.startswith(b"POST /v1/chat/completions?a=b HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"X-Kept: 2\r\n" in request
    assert b"Cookie: e=f\r\n" in request
    assert b"X-Mine" not in request
    assert b"TE:" not in request
    recorded = cassette.exchanges[0].request
    assert recorded is not None
    assert recorded.path == "/v1/chat/completions?a=[redacted]"
    assert dict(recorded.headers)["Cookie"] == "[redacted]"


def test_requests_that_a_proxy_cannot_take_are_refused(tmp_path: Path) -> None:
    async def action(proxy: RecordingProxy, server: Upstream) -> None:
        for request, status in (
            (b"GET http://else.example/ HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
            (b"CONNECT else.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
            (b"nonsense\r\n\r\n", b"400"),
            (b"GET / HTTP/1.1\r\nHost: x\r\nx: " + b"y" * 300_000, b"431"),
        ):
            got = await ask(proxy.url, request)
            assert got.head.split()[1] == status
        assert not server.connections

    assert not through(tmp_path, action, STREAM)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("whole", [True, False])
def test_an_encoded_body_is_recorded_decoded(encoding: str, whole: bool, tmp_path: Path) -> None:
    events = [b'data: {"n":%d}\n\n' % n for n in range(4)]
    packer = zlib.compressobj(wbits=31 if encoding == "gzip" else 15)
    if whole:
        packed = [packer.compress(b"".join(events)) + packer.flush()]
    else:
        packed = [packer.compress(one) + packer.flush(zlib.Z_SYNC_FLUSH) for one in events]
    head = HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: %s\r\n\r\n" % encoding.encode())
    got, cassette = asked_once(tmp_path, Script([head, *map(chunked, packed), END]))
    assert got.chunks == tuple(packed)
    assert encoding.encode() in got.head
    exchange = cassette.exchanges[0]
    kept = [chunk.data for chunk in exchange.chunks]
    assert kept == ([b"".join(events)] if whole else events)
    assert exchange.response is not None
    assert exchange.response.header("content-encoding") is None
    assert exchange.response.header("x-decoded-from") == encoding


def test_only_encodings_that_can_be_recorded_are_asked_for(tmp_path: Path) -> None:
    async def action(proxy: RecordingProxy, server: Upstream) -> None:
        for asked in ("Accept-Encoding: sdch, gzip;q=0.5, dcb", "Accept-Encoding: sdch", "X: y"):
            await ask(proxy.url, post("/v1/models", b"", asked))
        found = [one.split(b"accept-encoding: ")[1].split(b"\r\n")[0] for one in server.requests]
        assert found == [b"gzip;q=0.5", b"identity", b"identity"]

    through(tmp_path, action, STREAM)


def test_a_bomb_is_passed_on_and_recorded_up_to_the_limit(tmp_path: Path) -> None:
    bomb = gzip.compress(b"a" * 10_000_000)
    script = Script([OK, b"content-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(bomb), bomb])
    got: list[Got] = []

    async def action(proxy: RecordingProxy, _: Upstream) -> None:
        got.append(await ask(proxy.url, post("/v1/chat/completions")))

    (cassette,) = through(tmp_path, action, script, terms=RecordingOptions(max_bytes=1000))
    assert got[0].chunks == (bomb,)
    assert cassette.exchanges[0].end == "open"
    assert sum(len(chunk.data) for chunk in cassette.exchanges[0].chunks) == 1000


def test_what_cannot_be_redacted_is_not_recorded(tmp_path: Path) -> None:
    head = HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: sdch\r\n\r\n")
    got, cassette = asked_once(tmp_path, Script([head, chunked(b"packed"), END]))
    assert got.chunks == (b"packed",)
    assert (cassette.exchanges[0].chunks, cassette.exchanges[0].end) == ((), "open")


async def test_a_full_disk_harms_no_client(tmp_path: Path) -> None:
    lines: list[str] = []
    async with origin(STREAM) as server:
        shelf = RecordingFolder(tmp_path / "gone", RecordingOptions())
        (tmp_path / "gone").rmdir()
        upstream = Origin.parse(server.url)
        async with RecordingProxy(upstream, shelf, warn=lines.append) as proxy:
            got = await ask(proxy.url, post("/v1/chat/completions"))
            assert proxy.failures == 1
    assert got.chunks == (EVENT,)
    assert "cannot be written" in lines[0]


async def test_a_port_in_use_is_reported() -> None:
    async with origin(STREAM) as server:
        port = int(server.url.rsplit(":", 1)[1])
        shelf = RecordingFolder(Path(), RecordingOptions())
        with pytest.raises(UsageError, match="cannot listen on 127"):
            await RecordingProxy(Origin.parse(server.url), shelf, port=port).__aenter__()
