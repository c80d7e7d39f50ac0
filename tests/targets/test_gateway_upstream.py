"""What stands behind a gateway answers by its script, and survives whatever the gateway asks."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from conformance.check import check_chunks
from conformance.errors import UsageError
from conformance.scenarios.model import UPSTREAM
from conformance.targets.gateway_answers import scripted
from conformance.targets.gateway_upstream import Heard, playing

ASKED = {"model": "scripted", "messages": [], "stream": True}
WHOLE = ("answer", "tools", "length")


async def _posted(script: str, body: object) -> tuple[httpx.Response, list[Heard]]:
    async with playing(0) as upstream:
        upstream.script = script
        base = f"http://127.0.0.1:{upstream.port}/v1"
        async with httpx.AsyncClient(base_url=base, verify=False) as client:
            response = await client.post("/chat/completions", json=body)
        return response, upstream.taken()


@pytest.mark.parametrize("script", WHOLE)
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "body"])
def test_what_is_said_upstream_is_without_fault(script: str, stream: bool) -> None:
    asked = {
        **ASKED,
        "stream": stream,
        **({"stream_options": {"include_usage": True}} if stream else {}),
    }
    said = scripted(script, 1, asked)
    report = check_chunks(said.pieces, dialect="openai.chat", profile="strict", request=asked)
    assert [f"{f.rule}: {f.message}" for f in report.findings] == []


@pytest.mark.parametrize("script", [each for each in UPSTREAM if each != "cut"])
def test_what_was_sent_is_what_was_kept(script: str) -> None:
    response, heard = asyncio.run(_posted(script, ASKED))
    (one,) = heard
    assert b"".join(chunk.data for chunk in one.exchange.chunks) == response.content
    assert one.exchange.request is not None
    assert one.exchange.request.json == ASKED
    assert one.exchange.response is not None
    assert one.exchange.response.status == response.status_code


def test_a_cut_is_a_reset() -> None:
    with pytest.raises(httpx.HTTPError):
        asyncio.run(_posted("cut", ASKED))


@pytest.mark.parametrize("body", [[], "text", 1, None, {"stream": "yes"}])
def test_odd_bodies_are_answered(body: object) -> None:
    response, _ = asyncio.run(_posted("answer", body))
    assert response.status_code == 200


async def _raw(data: bytes) -> bytes:
    async with playing(0) as upstream:
        reader, writer = await asyncio.open_connection("127.0.0.1", upstream.port)
        writer.write(data)
        writer.write_eof()
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n", b"200"),
        (b"POST /v1/responses HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}", b"404"),
        (b"GET /\xff HTTP/1.1\r\nhost: x\r\n\r\n", b""),
        (b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{}", b""),
        (b"\x16\x03\x01\x02\x00", b""),
        (b"", b""),
    ],
)
def test_whatever_is_asked_ends(data: bytes, status: bytes) -> None:
    answer = asyncio.run(_raw(data))
    assert answer.split(b" ")[1:2] == ([status] if status else [])
    if status == b"200":
        assert b"scripted" in answer


def test_a_port_that_is_taken_is_a_wrong_call() -> None:
    async def go() -> None:
        async with playing(0) as upstream, playing(upstream.port):
            pass

    with pytest.raises(UsageError, match="cannot listen"):
        asyncio.run(go())


def test_answers_can_be_told_apart() -> None:
    first, second = (json.loads(scripted("answer", n, {}).pieces[0]) for n in (1, 2))
    assert first["choices"] != second["choices"]
