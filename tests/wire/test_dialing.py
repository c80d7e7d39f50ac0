"""Servers are reached straight, or through the proxy that the environment names."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from conformance.targets.recording import DirectRequest, RecordingOptions, fixed_requests
from conformance.targets.recording.direct import record_directly
from conformance.wire.client import ClientConnection
from conformance.wire.dialing import Dialer
from conformance.wire.faults import BrokenExchange, ExchangeLimits
from conformance.wire.origin import Origin
from tests.targets.record_peers import END, HEAD, Script, chunked, origin
from tests.targets.test_record_direct import certificate

STREAM = Script([HEAD, chunked(b"data: {}\n\n"), END])
USER = "Basic " + b64encode(b"me:pa ss").decode()


class TunnelProxy:
    """Passes on to `port` whatever host a tunnel is asked for; `heads` are what came."""

    def __init__(self, port: int, status: bytes = b"200 Fine") -> None:
        self.heads: list[bytes] = []
        self._port, self._status = port, status

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 " + self._status + b"\r\n\r\n")
        if not self._status.startswith(b"200"):
            writer.close()
            return
        onward = await asyncio.open_connection("127.0.0.1", self._port)
        await asyncio.gather(self._pump(reader, onward[1]), self._pump(onward[0], writer))

    async def _pump(self, source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                to.write(data)
        except ConnectionError:
            pass
        finally:
            to.close()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        try:
            yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


async def recorded(url: str, folder: Path, pem: str = "") -> int | None:
    """The status of an answer that was asked for directly."""
    asked = fixed_requests([DirectRequest("/v1/chat/completions", {"model": "m"})])
    where, target = Origin.parse(url, pem), folder / "a.cassette.jsonl"
    terms = RecordingOptions(), ExchangeLimits(timeout=60)
    (outcome,) = await record_directly(where, asked, target, terms[0], limits=terms[1])
    return outcome.status


async def test_plain_server_is_named_to_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with origin(STREAM) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.replace("//", "//me:pa%20ss@"))
        assert await recorded("http://nowhere.invalid", tmp_path) == 200
        request = proxy.requests[0]
    assert request.startswith(b"POST http://nowhere.invalid/v1/chat/completions HTTP/1.1\r\n")
    assert f"proxy-authorization: {USER}\r\n".encode() in request
    assert b"proxy-authorization" not in (tmp_path / "a.cassette.jsonl").read_bytes()


async def test_tls_server_needs_a_tunnel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pem = str(certificate(tmp_path))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    async with origin(STREAM, tls=context) as server:
        proxy = TunnelProxy(int(server.url.rpartition(":")[2]))
        async with proxy.serving() as address:
            monkeypatch.setenv("HTTPS_PROXY", address)
            # The certificate is for this address; the port is one that only the proxy knows.
            assert await recorded("https://127.0.0.1:1", tmp_path, pem) == 200
        (head,), (request,) = proxy.heads, server.requests
    assert head == b"CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n"
    assert request.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")


async def test_a_proxy_that_does_not_pass_on_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = TunnelProxy(0, b"407 Who are you")
    async with proxy.serving() as address:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{address}")
        with pytest.raises(BrokenExchange) as broken:
            await ClientConnection.connect(Origin.parse("https://h.invalid"), timeout=60)
        explanation = broken.value.explanation.replace(address, "P")
    assert explanation == (
        "h.invalid: cannot connect: the proxy http://P does not pass on: HTTP 407"
        " (unset HTTPS_PROXY, or name the host in NO_PROXY)"
    )


@pytest.mark.parametrize(
    ("variables", "explanation"),
    [
        (
            {"HTTP_PROXY": "http://u:p@127.0.0.1:1"},
            "asked through the proxy 127.0.0.1:1 (unset HTTP_PROXY, or name the host in NO_PROXY)",
        ),
        ({"ALL_PROXY": "socks5://h"}, "the environment's proxy socks5://h is none that speaks"),
        (
            {"HTTP_PROXY": "http://127.0.0.1:1", "NO_PROXY": "h.invalid"},
            "h.invalid: cannot connect: no host of that name is known",
        ),
    ],
)
def test_a_proxy_of_the_environment_is_named(
    variables: dict[str, str], explanation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(BrokenExchange) as broken:
        asyncio.run(ClientConnection.connect(Origin.parse("http://h.invalid"), timeout=60))
    assert explanation in broken.value.explanation


async def test_the_environment_is_asked_once_for_each_origin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("conformance.wire.dialing.environment_proxy", asked.append)
    dialer = Dialer()
    async with origin(STREAM) as server:
        one, other = Origin.parse(server.url), Origin.parse(f"{server.url}/v1")
        for each in (one, one, other):
            opened = await dialer.open(each)
            opened.writer.close()
            await opened.writer.wait_closed()
    assert len(asked) == 2
