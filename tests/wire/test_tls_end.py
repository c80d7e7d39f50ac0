"""A body without a length is whole where TLS said that no more comes (RFC 9112, section 9.8)."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from conformance.core.events import Ending, Request
from conformance.targets.recording import DirectRequest, RecordingOptions, fixed_requests
from conformance.targets.recording.direct import record_directly
from conformance.targets.server import LiveServer
from conformance.wire.faults import ExchangeLimits
from conformance.wire.origin import Origin
from conformance.wire.trust import certificates
from tests.targets.test_record_direct import certificate

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs a certificate")

BODY = b"data: {}\n\n"
UNBOUNDED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
BOUNDED = UNBOUNDED.replace(b"\r\n\r\n", b"\r\ncontent-length: 10\r\n\r\n")
Ask = Callable[[str, Path, Path], Coroutine[Any, Any, Ending]]
LIMITS = ExchangeLimits(timeout=60)
# The head, whether close_notify is sent, and the end of the exchange.
ENDS = [(UNBOUNDED, True, "eof"), (UNBOUNDED, False, "protocol-error"), (BOUNDED, False, "eof")]


def answer_once(listener: socket.socket, pem: Path, head: bytes, *, closes: bool) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    accepted, _ = listener.accept()
    with context.wrap_socket(accepted, server_side=True) as served:
        received = b""
        while b'"stream"' not in received:
            received += served.recv(65536)
        served.sendall(head + BODY)
        if closes:
            with suppress(OSError):  # who asked may be gone before the answer to the alert
                served.unwrap()


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("tls"))


async def asked(url: str, pem: Path, _: Path) -> Ending:
    async with LiveServer(url, limits=LIMITS, trusted=certificates(str(pem))) as server:
        answer = await server.fetch(Request("POST", "/v1/responses", json={"stream": True}))
    return answer.exchange.end


async def recorded(url: str, pem: Path, folder: Path) -> Ending:
    requests = fixed_requests([DirectRequest("/v1/responses", {"stream": True})])
    where, target = Origin.parse(url, str(pem)), folder / "a.cassette.jsonl"
    (outcome,) = await record_directly(where, requests, target, RecordingOptions(), limits=LIMITS)
    return outcome.end


@pytest.mark.parametrize("ask", [asked, recorded])
@pytest.mark.parametrize(("head", "closes", "end"), ENDS)
def test_only_the_alert_ends_a_body_without_a_length(
    tmp_path: Path, pem: Path, ask: Ask, head: bytes, closes: bool, end: Ending
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as threads:
        listener.settimeout(20)
        served = threads.submit(answer_once, listener, pem, head, closes=closes)
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        assert asyncio.run(ask(url, pem, tmp_path)) == end
        served.result()
