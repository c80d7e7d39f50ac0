"""`record` and `redact` as users call them."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import Header, Writer, read
from conformance.cli import main
from conformance.cli.record import RecordArguments, _addressed_request
from conformance.core.events import Request, Response
from conformance.targets.recording import DirectRequest
from tests.targets.record_peers import END, HEAD, Script, ask, chunked, origin, post

EVENT = b"data: {}\n\n"
KEY = "sk" + "-proj-Ab1cAb1cAb1cAb1c"


async def command(*arguments: str, env: dict[str, str] | None = None) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "conformance", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=env,
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("stop", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)], ids=str)
async def test_proxy_reports_what_it_recorded(
    stop: signal.Signals, code: int, tmp_path: Path
) -> None:
    folder, port_file = tmp_path / "taken", tmp_path / "port"
    async with origin(Script([HEAD, chunked(EVENT), END])) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "conformance", "record", "--proxy", "127.0.0.1:0"),
            *("--upstream", server.url, "-o", str(folder), "--port-file", str(port_file)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        word, url = (await process.stdout.readline()).decode().split()
        assert (word, url) == ("READY", f"http://127.0.0.1:{port_file.read_text().strip()}")
        await ask(url, post("/v1/chat/completions", b'{"model":"m"}', f"x-api-key: {KEY}"))
        process.send_signal(stop)
        out, err = await process.communicate()
        got = process.returncode or 0, out.decode(), err.decode()
    assert got == (
        code,
        f"{folder}: 1 exchange in 1 cassette\n",
        "0001-chat.cassette.jsonl: POST /v1/chat/completions: 200, 1 chunk, 10 bytes, eof\n",
    )
    (file,) = folder.iterdir()
    assert KEY not in file.read_text()
    assert read(file).exchanges[0].chunks[0].data == EVENT


@pytest.mark.slow
async def test_a_server_is_called_with_a_key_from_the_environment(tmp_path: Path) -> None:
    request, target = tmp_path / "r.json", tmp_path / "a.cassette.jsonl"
    request.write_text(json.dumps({"model": "m", "messages": []}))
    async with origin(Script([HEAD, chunked(EVENT), END])) as server:
        arguments = ("--request", str(request), "--api", "messages", "-o", str(target))
        got = await command(
            *("record", "--url", server.url, *arguments, "--api-key-env", "K", "-H", "x-a: b"),
            env={"K": KEY},
        )
        assert got == (0, f"{target}: POST /v1/messages: 200, 1 chunk, 10 bytes, eof\n", "")
        sent = server.requests[0].decode()
        assert f"\r\nx-api-key: {KEY}\r\n" in sent
        assert "\r\nx-a: b\r\n" in sent
        assert "\r\nanthropic-version: 2023-06-01\r\n" in sent
    assert KEY not in target.read_text()
    assert read(target).header.dialect == "anthropic.messages"


@pytest.mark.parametrize(
    ("api", "path", "body"),
    [
        ("tgi", "/generate_stream", {"inputs": "Hi"}),
        ("sglang", "/generate", {"inputs": "Hi", "stream": True}),
    ],
)
def test_of_apis_at_one_path_named_one_is_asked(api: str, path: str, body: dict[str, Any]) -> None:
    asked = DirectRequest("/generate", {"inputs": "Hi", "stream": True})
    sent = _addressed_request(asked, RecordArguments(output=Path("x"), api=api))
    assert (sent.path, sent.body) == (path, body)


def test_missing_server_exits_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = tmp_path / "r.json"
    request.write_text("{}")
    url = "http://127.0.0.1:1/v1/responses"
    target = str(tmp_path / "a.cassette.jsonl")
    Path(target).write_text("an earlier one")
    assert main(["record", "--url", url, "--request", str(request), "-o", target, "--force"]) == 3
    text = "error: 127.0.0.1:1: cannot connect: nothing listens there (connection refused)\n"
    assert capsys.readouterr().err == text
    assert Path(target).read_text() == "an earlier one"


NOT_FOUND = b'{"error":{"message":"no model m"}}'


@pytest.mark.parametrize(
    ("head", "body", "message"),
    [
        ("401 No\r\ncontent-type: application/json", b"{}", "HTTP 401 (name the key's variable"),
        ("404 No\r\ncontent-type: application/json", NOT_FOUND, "HTTP 404: no model m (see --m"),
        ("404 No\r\ncontent-type: text/plain", b"", "the target has no such API: HTTP 404 at /v1"),
        ("200 OK\r\ncontent-type: text/html", b"<title>x", "a web page came, no API's answer"),
        ("302 Go\r\nlocation: http://h/", b"", "HTTP 302 redirects to http://h/ (name that"),
    ],
)
async def test_what_no_api_answered_is_kept_and_reported(
    head: str, body: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request, target = tmp_path / "r.json", tmp_path / "a.cassette.jsonl"
    request.write_text("{}")
    wire = f"HTTP/1.1 {head}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
    async with origin(Script([wire])) as server:
        asked = ["--url", server.url, "--request", str(request), "--api", "chat"]
        given = ["record", *asked, "--model", "m", "-o", str(target)]
        got = await asyncio.to_thread(main, given)
    assert got == 3
    assert f": {message}" in capsys.readouterr().err
    assert read(target).exchanges[0].body == body


STEPS = ["--url", "http://127.0.0.1:1", "--scenario"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [],
            "expected --url URL with --request FILE or --scenario NAME, or --proxy with --upstream",
        ),
        (["--proxy", "127.0.0.1:0"], "--proxy needs --upstream URL"),
        (["--proxy", "x", "--upstream", "http://h"], "expected --proxy HOST:PORT, got 'x'"),
        (["--proxy", "x:1", "--upstream", "h"], "expected an http or https URL"),
        (
            ["--proxy", "x:1", "--upstream", "http://h/v1/chat/completions"],
            "names the endpoint /chat/completions, to which clients add their own paths (",
        ),
        (["--proxy", "x:1", "--upstream", "http://h", "-H", "a: b"], "-H does not go with this"),
        (["--url", "http://h", "--upstream", "http://h"], "--upstream does not go with this"),
        (["--url", "http://h", "--request", "R", "--api", "x"], "no API is called 'x'"),
        (
            ["--url", "http://h", "--request", "R", "--api", "chat", "--profile", "anthropic"],
            "no profile 'anthropic' for openai.chat",
        ),
        (
            ["--proxy", "x:1", "--upstream", "http://h", "--profile", "nobody"],
            "no profile 'nobody' (see conformance list profiles)",
        ),
        (["--url", "http://h", "--request", "R"], "a request body needs --api"),
        (["--url", "http://h", "--request", "R", "--api", "chat"], "expected a name in"),
        ([*STEPS, "think", "--request", "R"], "--request FILE or --scenario NAME"),
        ([*STEPS, "think", "--api", "chat"], "--scenario needs --model ID"),
        ([*STEPS, "think", "--model", "m"], "--scenario needs --api"),
        ([*STEPS, "thnk", "--model", "m", "--api", "chat"], "did you mean 'think'?"),
        ([*STEPS, "gateway-tools", "--model", "m", "--api", "chat"], "is for gateways"),
    ],
)
def test_wrong_calls_are_reported_in_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.json").write_text("{}")
    given = [str(tmp_path / "r.json") if one == "R" else one for one in arguments]
    assert main(["record", *given, "-o", str(tmp_path / "x")]) == 2
    assert message in capsys.readouterr().err


def test_force_replaces_a_cassette(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "a.cassette.jsonl"
    target.write_text("mine")
    (tmp_path / "r.json").write_text("{}")
    url = ["--url", "http://127.0.0.1:1/v1/responses", "--request", str(tmp_path / "r.json")]
    assert main(["record", *url, "-o", str(target)]) == 2
    assert "already exists (--force replaces it)" in capsys.readouterr().err
    assert target.read_text() == "mine"


@pytest.fixture
def leaky(tmp_path: Path) -> Path:
    """A cassette that holds a secret in its request, and one in two chunks."""
    path = tmp_path / "leaky.cassette.jsonl"
    with Writer(path, Header()) as writer:
        headers = (("Authorization", "Bearer abc"), ("Accept", "*/*"))
        writer.request(Request("POST", "/x", headers, {"api_key": "hunter22"}))
        writer.response(Response(200))
        writer.chunk(b"data: 1\n\ndata: " + KEY[:12].encode(), ms=1.0)
        writer.chunk(KEY[12:].encode() + b"\n\n", ms=1.0)
        writer.end("eof")
    return path


def test_a_scan_reports_lines_and_exits_1(leaky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (leaky.parent / "notes.txt").write_text(f"fine\nkey: {KEY}\n")
    (leaky.parent / "blob.bin").write_bytes(b"\0" + KEY.encode())
    assert main(["redact", "--scan", str(leaky.parent)]) == 1
    size = len(KEY) - 3
    assert capsys.readouterr().out.splitlines() == [
        f"{leaky}:2: header authorization: a secret of 10 characters",
        f"{leaky}:2: field.api_key: a secret of 8 characters",
        f"{leaky}:5: key.sk: a secret of {size} characters",
        f"{leaky.parent}/notes.txt:2: key.sk: a secret of {size} characters",
        "4 secrets in 3 files",
    ]


def test_a_scan_knows_the_keys_that_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = "of-no-known/shape-41"
    monkeypatch.setenv("OWN_KEY", own)
    keys: dict[str, None] = {}
    monkeypatch.setattr("conformance.core.own_keys.KEYS", keys)
    monkeypatch.setattr("conformance.cassette.redaction.own_keys.KEYS", keys)
    path, log = tmp_path / "a.cassette.jsonl", tmp_path / "a.log"
    texts = ({"choices": [{"delta": {"content": each}}]} for each in (own[:9], own[9:]))
    pieces = [f"data: {json.dumps(each)}\n\n" for each in texts]
    with Writer(path, Header()) as writer:
        writer.request(Request("POST", "/x", (), {"said": own}))
        writer.response(Response(200))
        for piece in pieces:
            writer.chunk(piece.encode(), ms=1.0)
        writer.end("eof")
    log.write_text(f"fine\nkey {own.replace('/', '%2F')}\n")
    assert main(["redact", "--scan", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["redact", "--scan", str(tmp_path), "--api-key-env", "OWN_KEY"]) == 1
    printed = capsys.readouterr().out
    assert own not in printed
    assert [line.split(": a secret")[0] for line in printed.splitlines()[:-1]] == [
        f"{path}:2: own key",
        f"{path}:4: over several events",
        f"{path}:5: over several events",
        f"{log}:2: own key",
    ]
    assert main(["redact", str(path), "--api-key-env", "OWN_KEY"]) == 0
    assert main(["redact", "--scan", str(path), "--api-key-env", "OWN_KEY"]) == 0
    assert main(["redact", "--scan", str(path), "--api-key-env", "NO_SUCH_KEY"]) == 2


def test_redaction_is_clean(
    leaky: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "clean.cassette.jsonl"
    assert main(["redact", str(leaky), "-o", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}: 3 replacements\n"
    assert main(["redact", "--scan", str(target)]) == 0
    before = target.read_bytes()
    assert main(["redact", str(target)]) == 0
    assert target.read_bytes() == before
    assert [len(c.data) for c in read(target).exchanges[0].chunks] == [
        len(c.data) for c in read(leaky).exchanges[0].chunks
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--scan", "nowhere"], 2, "there is no such file"),
        (["a.sse"], 2, "expected a cassette"),
        (["a", "b", "-o", "c"], 2, "-o takes one file"),
        (["--scan", "EMPTY"], 5, ""),
    ],
)
def test_redact_reports_what_it_cannot_do(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [str(tmp_path) if one == "EMPTY" else one for one in arguments]
    assert main(["redact", *given]) == code
    assert message in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(("flags", "kept"), [([], False), (["--no-redact"], True)])
async def test_secrets_are_kept_only_on_demand(
    flags: list[str], kept: bool, tmp_path: Path
) -> None:
    request, target = tmp_path / "r.json", tmp_path / "a.cassette.jsonl"
    request.write_text("{}")
    body = f"data: {KEY}\n\n".encode()
    async with origin(Script([HEAD, chunked(body), END])) as server:
        asked = ("--url", server.url, "--api", "chat", "--request", str(request))
        code, _, err = await command("record", *asked, "-o", str(target), *flags)
        assert (code, err) == (0, "")
    assert (KEY in target.read_text()) is kept
