"""Recording by asking: what came is kept, whatever ended it."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import Cassette, read
from conformance.core.errors import CassetteError, RemoteError, UsageError
from conformance.core.events import Exchange
from conformance.recordings.check import check_paths
from conformance.targets.recording import (
    DirectRequest,
    Origin,
    RecordingOptions,
    RequestSequence,
    fixed_requests,
    load_requests,
    record_directly,
)
from conformance.wire.faults import ExchangeLimits
from conformance.wire.trust import certificates
from tests.targets.record_peers import END, HEAD, Script, chunked, origin
from tests.targets.record_peers import Origin as Upstream

EVENTS = [b"data: {}\n\n", b"data: [DO", b"NE]\n\n"]
WIRE = [HEAD, *map(chunked, EVENTS)]
MARKERS = "stripping/visible-text/no-markers"
BODY = {"model": "m", "stream": True, "messages": []}


def recorded(
    folder: Path,
    asked: list[DirectRequest],
    *scripts: Script,
    limits: ExchangeLimits | None = None,
    **more: Any,
) -> tuple[Cassette, Upstream]:
    target = folder / "a.cassette.jsonl"

    async def run() -> Upstream:
        async with origin(*scripts) as server:
            where = Origin.parse(f"{server.url}/v1")
            bounds = limits or ExchangeLimits()
            await record_directly(
                where, fixed_requests(asked), target, RecordingOptions(), limits=bounds, **more
            )
            return server

    server = asyncio.run(run())
    return read(target), server


def test_an_answer_is_recorded_as_it_was_cut(tmp_path: Path) -> None:
    asked = [DirectRequest("/chat/completions", BODY)]
    cassette, server = recorded(tmp_path, asked, Script([*WIRE, END]))
    exchange = cassette.exchanges[0]
    assert [chunk.data for chunk in exchange.chunks] == EVENTS
    assert (exchange.end, cassette.header.dialect, cassette.sealed) == ("eof", "openai.chat", True)
    head, body = server.requests[0].split(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:")
    assert json.loads(body) == BODY


def test_lines_are_recorded_one_to_a_line_and_judged(tmp_path: Path) -> None:
    lines = [
        b'{"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}\n',
        b'{"id":"c1","choices":[{"index":0,"delta":{"content":" </think>"}}]}\n',
        b'{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n',
    ]
    head = HEAD.replace(b"text/event-stream", b"application/x-ndjson")
    assert head != HEAD
    body = b"".join(lines)
    at = len(lines[0] + lines[1]) - 9  # inside the marker's line
    both = [chunked(body[:at]), chunked(body[at:])]
    cassette, _ = recorded(
        tmp_path, [DirectRequest("/chat/completions", BODY)], Script([head, *both, END])
    )
    assert b"".join(chunk.data for chunk in cassette.exchanges[0].chunks) == body
    report = check_paths([tmp_path / "a.cassette.jsonl"], rules=[MARKERS])
    (finding,) = report.findings
    assert finding.line is not None
    assert (finding.event, finding.byte) == (2, len(lines[0]))
    shown = (tmp_path / "a.cassette.jsonl").read_text().splitlines()[finding.line - 1]
    assert json.loads(shown)["text"] == lines[1][:-9].decode()


def test_a_key_is_sent_and_not_kept(tmp_path: Path) -> None:
    key = "a-key-without-shape"
    echo = b'{"error":{"message":"bad key %s"}}' % key.encode()
    head = b"HTTP/1.1 401 No\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    _, server = recorded(
        tmp_path,
        [DirectRequest("/chat/completions", BODY)],
        Script([head % len(echo), echo]),
        secrets={"authorization": f"Bearer {key}"},
    )
    assert f"authorization: Bearer {key}".encode() in server.requests[0]
    assert key not in (tmp_path / "a.cassette.jsonl").read_text()


@pytest.mark.parametrize(
    ("script", "limits", "end"),
    [
        (Script(WIRE, "silence"), ExchangeLimits(idle=0.2), "idle-timeout"),
        (Script(WIRE, "silence"), ExchangeLimits(timeout=0.3), "client-closed"),
        (Script([*WIRE, chunked(b"x" * 100)], "silence"), ExchangeLimits(), "client-closed"),
        (Script(WIRE, "fin"), ExchangeLimits(), "protocol-error"),
    ],
)
async def test_part_is_kept(
    script: Script, limits: ExchangeLimits, end: str, tmp_path: Path
) -> None:
    target = tmp_path / "a.cassette.jsonl"
    async with origin(script) as server:
        asked = fixed_requests([DirectRequest("/v1/messages", BODY)])
        terms = RecordingOptions(max_bytes=90)
        await record_directly(Origin.parse(server.url), asked, target, terms, limits=limits)
    exchange = read(target).exchanges[0]
    assert exchange.end == end
    assert [chunk.data for chunk in exchange.chunks][:2] == EVENTS[:2]


def test_a_server_that_is_silent_before_its_head_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RemoteError, match=r"nothing came for 0\.2 s"):
        recorded(
            tmp_path,
            [DirectRequest("/x", BODY)],
            Script([], "silence"),
            limits=ExchangeLimits(idle=0.2),
        )
    (exchange,) = read(tmp_path / "a.cassette.jsonl").exchanges
    assert (exchange.response, exchange.end) == (None, "idle-timeout")


def test_a_recording_is_asked_again(tmp_path: Path) -> None:
    asked = [DirectRequest("/chat/completions", BODY, headers=(("x-mine", "1"), ("Cookie", "a=b")))]
    recorded(
        tmp_path,
        [*asked, DirectRequest("/responses", {"input": "x"}, after=1)],
        Script([*WIRE, END]),
    )
    again = load_requests(tmp_path / "a.cassette.jsonl", None, "/v1")
    assert [(one.path, one.body, one.after) for one in again] == [
        ("/chat/completions", BODY, None),
        ("/responses", {"input": "x"}, 1),
    ]
    assert "Cookie" not in dict(again[0].headers)


def test_interim_responses_without_end_are_broken_off(tmp_path: Path) -> None:
    interim = b"HTTP/1.1 102 Processing\r\n\r\n" * 1000
    with pytest.raises(RemoteError, match="no response head in the first 1,048,576 bytes"):
        recorded(tmp_path, [DirectRequest("/x", BODY)], Script([interim] * 200, "silence"))
    (exchange,) = read(tmp_path / "a.cassette.jsonl").exchanges
    assert (exchange.response, exchange.end) == (None, "protocol-error")


def test_a_body_that_is_no_json_is_sent_and_kept_as_it_came(tmp_path: Path) -> None:
    raws = [b'{"temperature": NaN}', b"\x00\xff", b"model=m"]
    asked = [DirectRequest("/chat/completions", raw=raw) for raw in raws]
    cassette, server = recorded(tmp_path, asked, *[Script([*WIRE, END])] * 3)
    assert [each.request and each.request.raw for each in cassette.exchanges] == raws
    for raw, sent in zip(raws, server.requests, strict=True):
        assert raw in sent
    again = load_requests(tmp_path / "a.cassette.jsonl", None, "/v1")
    assert [one.raw for one in again] == raws


def test_files_that_hold_no_request_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(CassetteError, match="expected a request body in JSON"):
        load_requests(tmp_path / "a.json", "/x")
    (tmp_path / "b.json").write_text("{}")
    with pytest.raises(UsageError, match="needs --api"):
        load_requests(tmp_path / "b.json", None)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://h/v1/", "/v1/x"),
        ("http://h", "/x"),
        ("https://h:8443/a/b?api-version=1", "/a/b/x?api-version=1"),
        ("http://[::1]:80/v1", "/v1/x"),
    ],
)
def test_paths_stand_below_the_url(url: str, target: str) -> None:
    assert Origin.parse(url).target("/x") == target


@pytest.mark.parametrize(
    "url", ["h:80", "ftp://h", "http://", "http://u:p@h", "http://h:x", "http://h/\r\nx: y"]
)
def test_what_is_no_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        Origin.parse(url)
    assert "u:p" not in str(caught.value)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl for a certificate")
async def test_tls_certificates_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem = certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem)
    async with origin(Script([*WIRE, END]), tls=context) as server:
        where = Origin.parse(server.url.replace("http:", "https:"))
        asked = [DirectRequest("/v1/responses", BODY)]
        with pytest.raises(RemoteError, match="TLS failed"):
            await record_directly(
                where,
                fixed_requests(asked),
                tmp_path / "no.cassette.jsonl",
                RecordingOptions(),
                limits=ExchangeLimits(),
            )
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        certificates.cache_clear()
        await record_directly(
            where,
            fixed_requests(asked),
            tmp_path / "yes.cassette.jsonl",
            RecordingOptions(),
            limits=ExchangeLimits(),
        )
    certificates.cache_clear()
    assert [c.data for c in read(tmp_path / "yes.cassette.jsonl").exchanges[0].chunks] == EVENTS


def certificate(folder: Path) -> Path:
    key, cert, both = folder / "key", folder / "cert", folder / "both.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1"
    extra = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    subprocess.run([*command.split(), *extra], check=True, capture_output=True)
    both.write_bytes(cert.read_bytes() + key.read_bytes())
    return both


async def test_what_came_is_reported_to_whoever_asks_on(tmp_path: Path) -> None:
    heard: list[Exchange] = []

    def asking() -> RequestSequence:
        first = yield DirectRequest("/chat/completions", BODY, scenario="tools", role="tool-turn")
        heard.append(first)
        heard.append(
            (yield DirectRequest("/chat/completions", BODY, after=first.number, role="more"))
        )

    secret = b'data: {"key": "sk-proj-' + b"a1B2" * 10 + b'"}\n\n'
    target = tmp_path / "a.cassette.jsonl"
    script = Script([HEAD, chunked(secret), END])
    async with origin(script, script) as server:
        where = Origin.parse(f"{server.url}/v1")
        await record_directly(where, asking(), target, RecordingOptions(), limits=ExchangeLimits())
    assert [chunk.data for each in heard for chunk in each.chunks] == [secret, secret]
    assert secret[8:] not in target.read_bytes()  # only memory has it
    first, second = read(target).exchanges
    assert (first.scenario, first.role, second.after) == ("tools", "tool-turn", 1)
