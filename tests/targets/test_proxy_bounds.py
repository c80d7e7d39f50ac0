"""Whom the recorder cannot or must not serve it tells why; parallel streams get their answers."""

from __future__ import annotations

import asyncio
import resource
import ssl
import sys
from collections import Counter
from pathlib import Path

import pytest

from conformance.cassette import read
from conformance.cli import main
from conformance.targets.gateway import serve_upstream
from conformance.targets.recording import (
    Origin,
    ProxyLimits,
    RecordingFolder,
    RecordingOptions,
    RecordingProxy,
)
from conformance.targets.replay import ReplayServer
from conformance.wire.hosts import AllowedHosts, is_loopback
from conformance.wire.requests import HttpRequest, RequestRejected
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
from tests.targets.test_record_direct import certificate

EVENT = b"data: {}\n\n"
STREAM = Script([HEAD, chunked(EVENT), END])
PATH = "/v1/chat/completions"


async def recording(folder: Path, upstream: str, *options: str) -> asyncio.subprocess.Process:
    """A real recorder that may open few files: its soft limit is 256, as on some systems."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    def limit_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))

    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "conformance", "record", "--proxy", "127.0.0.1:0"),
        *("--upstream", upstream, "-o", str(folder), *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        preexec_fn=limit_files,
    )


async def ended(process: asyncio.subprocess.Process) -> str:
    process.terminate()
    return (await process.communicate())[1].decode()


async def ready_url(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().split()[1]


async def test_two_hundred_streams_at_once_are_served_and_recorded(tmp_path: Path) -> None:
    count = 200
    gate = asyncio.Semaphore(0)
    async with origin(Script([HEAD + chunked(EVENT), chunked(EVENT), END], gate=gate)) as server:
        process = await recording(tmp_path, server.url)
        url = await ready_url(process)
        opened = [await connect(url) for _ in range(count)]
        for _, writer in opened:
            writer.write(post(PATH))
        heads = [await reader.readuntil(EVENT + b"\r\n") for reader, _ in opened]
        for _ in range(2 * count):
            gate.release()
        rests = [await reader.readuntil(END) for reader, _ in opened]
        for _, writer in opened:
            writer.close()
        await ended(process)
        got = [Got(a, (b,), "complete") for a, b in zip(heads, rests, strict=True)]
    assert Counter(each.chunks for each in got) == {(chunked(EVENT) + END,): count}
    exchanges = [read(path).exchanges[0] for path in tmp_path.iterdir()]
    assert Counter((len(each.chunks), each.end) for each in exchanges) == {(2, "eof"): count}


async def test_a_stream_that_is_dear_to_redact_makes_no_other_client_wait(tmp_path: Path) -> None:
    """Texts like tokens in many choices cost a search each; another client once waited 73 s."""
    choices = b",".join(
        b'{"index":%d,"delta":{"content":"sk-%s"}}' % (n, b"Ab1" * 8) for n in range(64)
    )
    dear = chunked(b'data: {"choices":[%s]}\n\n' % choices)
    gate = asyncio.Semaphore(0)
    async with origin(
        Script([HEAD, *[dear] * 2000, dear], gate=gate), Script([HEAD + chunked(EVENT) + END])
    ) as server:
        process = await recording(tmp_path, server.url)
        url = await ready_url(process)
        reader, writer = await connect(url)
        writer.write(post(PATH))
        for _ in range(2000):
            gate.release()
        for _ in range(2000):
            await reader.readuntil(b"\n\n\r\n")
        # The last event is still to come, and most of what came waits to be redacted.
        found = [await asyncio.wait_for(ask(url, post(PATH)), 10) for _ in range(3)]
        writer.close()
        await ended(process)
    assert [each.end for each in found] == ["complete"] * 3


def served(folder: Path, limits: ProxyLimits, *requests: bytes) -> tuple[list[Got], list[str]]:
    """Connections that are open at once, each with its request; the last one is answered first."""
    warnings: list[str] = []

    async def run() -> list[Got]:
        async with origin(STREAM) as server:
            shelf = RecordingFolder(folder, RecordingOptions())
            async with RecordingProxy(
                Origin.parse(server.url), shelf, limits=limits, warn=warnings.append
            ) as proxy:
                opened = [await connect(proxy.url) for _ in requests]
                for (_, writer), request in zip(opened, requests, strict=True):
                    writer.write(request)
                last = await asyncio.wait_for(answer(opened[-1][0]), 10)
                for _, writer in opened:
                    writer.close()
                return [last]

    return asyncio.run(run()), warnings


def test_too_many_clients_are_reported(tmp_path: Path) -> None:
    part = post(PATH)[:-1]
    (got,), warnings = served(tmp_path, ProxyLimits(clients=2), part, part, post(PATH))
    assert got.head.startswith(b"HTTP/1.1 503 ")
    assert b"too many connections" in got.chunks[0]
    assert warnings == ["more than 2 connections: one was refused"]


def test_bodies_that_are_too_large_together_are_reported(tmp_path: Path) -> None:
    part = post(PATH, b"x" * 600)[:-1]
    (got,), _ = served(tmp_path, ProxyLimits(bodies=1000), part, post(PATH, b"x" * 600))
    assert got.head.startswith(b"HTTP/1.1 503 ")
    assert b"all requests together are too large" in got.chunks[0]


async def test_room_for_bodies_is_given_back(tmp_path: Path) -> None:
    async with origin(STREAM) as server:
        shelf = RecordingFolder(tmp_path, RecordingOptions())
        limits = ProxyLimits(bodies=1000)
        async with RecordingProxy(Origin.parse(server.url), shelf, limits=limits) as proxy:
            for _ in range(3):
                reader, writer = await connect(proxy.url)
                for _ in range(3):
                    writer.write(post(PATH, b"x" * 600))
                    assert (await answer(reader)).chunks == (EVENT,)
                writer.close()


def test_a_connect_is_reported_what_to_do_instead(tmp_path: Path) -> None:
    asked = b"CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com\r\n\r\n"
    (got,), _ = served(tmp_path, ProxyLimits(), asked)
    assert got.head.startswith(b"HTTP/1.1 400 ")
    assert b"--upstream https://api.example.com:443 to the proxy" in got.chunks[0]


@pytest.mark.parametrize(
    ("host", "is_allowed"),
    [
        ("localhost", True),
        ("LocalHost:9000", True),
        ("a.localhost.", True),
        ("127.0.0.1:9000", True),
        ("[::1]:9000", True),
        ("192.168.0.7", True),
        ("box", True),
        ("Added.example:80", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example:9000", False),
        ("evil.example:80:90", False),
        ("[evil.example]", False),
        ("127.0.0.1@evil.example", False),
        (None, True),
    ],
)
def test_only_names_of_this_machine_are_served(host: str | None, is_allowed: bool) -> None:
    hosts = AllowedHosts.at("box", ["added.example"])
    headers = () if host is None else (("Host", host),)
    request = HttpRequest("GET", "/", headers, b"")
    if is_allowed:
        hosts.check_request(request)
    else:
        with pytest.raises(RequestRejected, match="--allow-host") as raised:
            hosts.check_request(request)
        assert raised.value.status == 421


@pytest.mark.parametrize("kind", ["record", "serve", "gateway"])
def test_a_page_of_another_site_gets_nothing(kind: str, tmp_path: Path) -> None:
    page = post(PATH).replace(b"Host: localhost", b"Host: localhost\r\nOrigin: http://evil.example")
    hosts = AllowedHosts.at("127.0.0.1")

    async def run() -> Got:
        if kind == "gateway":
            async with serve_upstream(0) as upstream:
                got = await ask(f"http://127.0.0.1:{upstream.port}", page)
                assert not upstream.calls
                return got
        if kind == "serve":
            async with ReplayServer([], hosts=hosts) as replay:
                return await ask(replay.url, page)
        async with origin(STREAM) as server:
            shelf = RecordingFolder(tmp_path, RecordingOptions())
            async with RecordingProxy(Origin.parse(server.url), shelf, hosts=hosts) as proxy:
                got = await ask(proxy.url, page)
                assert not server.connections
                return got

    got = asyncio.run(run())
    assert got.head.startswith(b"HTTP/1.1 403")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["record", "serve"])
def test_a_name_that_was_rebound_gets_nothing(kind: str, tmp_path: Path) -> None:
    evil = post(PATH).replace(b"Host: localhost", b"Host: evil.example")
    hosts = AllowedHosts.at("127.0.0.1")

    async def run() -> Got:
        async with origin(STREAM) as server:
            if kind == "serve":
                async with ReplayServer([], hosts=hosts) as replay:
                    return await ask(replay.url, evil)
            shelf = RecordingFolder(tmp_path, RecordingOptions())
            async with RecordingProxy(Origin.parse(server.url), shelf, hosts=hosts) as proxy:
                got = await ask(proxy.url, evil)
                assert not server.connections
                return got

    got = asyncio.run(run())
    assert got.head.startswith(b"HTTP/1.1 421 ")
    assert b"evil.example" in got.chunks[0]


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        *(("127.0.0.1", True), ("localhost", True), ("::1", True), ("127.8.8.8", True)),
        *(("0.0.0.0", False), ("::", False), ("box", False), ("10.0.0.1", False)),
    ],
)
def test_only_the_loopback_is_this_machine_alone(host: str, is_local: bool) -> None:
    assert is_loopback(host) is is_local


async def test_listening_beyond_this_machine_is_reported(tmp_path: Path) -> None:
    pem = certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem)
    async with origin(STREAM, tls=context) as server:
        upstream = server.url.replace("http:", "https:")
        asked = ("--cacert", str(pem), "--proxy", "0.0.0.0:0", "--allow-host", "recorder")
        process = await recording(tmp_path / "taken", upstream, *asked)
        url = (await ready_url(process)).replace("0.0.0.0", "127.0.0.1")
        named = post(PATH).replace(b"Host: localhost", b"Host: recorder:9000")
        other = named.replace(b"recorder", b"else")
        got, refused, notes = await ask(url, named), await ask(url, other), await ended(process)
    assert got.chunks == (EVENT,)
    assert refused.head.startswith(b"HTTP/1.1 421 ")
    assert "listening on 0.0.0.0: whoever reaches this machine reaches this, too" in notes
    (path,) = (tmp_path / "taken").iterdir()
    assert read(path).exchanges[0].end == "eof"


def test_file_needs_certificates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    asked = ["--upstream", "https://h", "--cacert", str(tmp_path / "ca.pem")]
    assert main(["record", "--proxy", "127.0.0.1:0", *asked, "-o", str(tmp_path / "x")]) == 2
    assert "cannot be read as certificates in PEM" in capsys.readouterr().err
