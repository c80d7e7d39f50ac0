"""A server that says the key in every spelling: what verbs that ask it print and write is clean."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest

from conformance.cassette.redaction import own_keys as known_keys
from conformance.cli import main
from conformance.core import own_keys
from tests.cassette.redaction.test_known_secrets import KEY, SPELLINGS
from tests.cassette.redaction.test_planted_key import delta, leaks, pieces, plain, stream
from tests.cli.test_watch_verb import watching
from tests.fakes import echoing_agent
from tests.fakes.hostile import Behaviour, Writer, chunked, head, whole
from tests.hostile.hosting import hosting

AUTO: Final = ("--profile", "auto")
FEW: Final = ("--upstream-port", "0", "--scenario", "app-answer", "--timeout", "5", *AUTO)
SHOWN: Final = ("text", "json", "html")
TEXTS: Final = ("content", "reasoning_content")


def echoes() -> Iterator[str]:
    for spelled in SPELLINGS.values():
        yield delta(f'"content":"no key {spelled}!"')
        for name in TEXTS:
            yield from (delta(f'"{name}":"{piece}"') for piece in pieces(spelled))
        yield delta(f'"{spelled}":1,"content":"x"')
        yield f": {plain(spelled)}"
        yield delta('"content":"x"').replace("null", f'"{spelled}"').replace("chatcmpl-1", spelled)
        yield f'{{"error":{{"message":"no {spelled}","code":"{spelled}"}}}}'


def echoing(status: str = "200 OK") -> Behaviour:
    body = stream(*echoes()).body
    if status != "200 OK":
        body = json.dumps({"error": {"message": f"no {' '.join(SPELLINGS.values())}"}}).encode()
        return whole(head(status, kind="application/json", server=f"x/{KEY}") + body)
    return whole(chunked(body).replace(b"\r\n", f"\r\nvia: 1.1 {KEY}\r\n".encode(), 1))


def paced() -> Behaviour:
    """As `echoing`, with a pause behind the first events, so that they are judged as they come."""
    body = stream(*echoes()).body
    first = body.index(b"\n\n", 2_000) + 2

    async def behave(writer: Writer) -> None:
        writer.write(head() + body[:first])
        await writer.drain()
        await asyncio.sleep(0.5)
        writer.write(body[first:])
        await writer.drain()

    return behave


def leaking_files(folder: Path) -> list[str]:
    return [str(p) for p in folder.rglob("*") if p.is_file() and leaks(p.read_bytes())]


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_KEY", KEY)
    keys: dict[str, None] = {}
    monkeypatch.setattr(own_keys, "KEYS", keys)
    monkeypatch.setattr(known_keys, "KEYS", keys)


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("status", ["200 OK", "401 No"])
def test_verbs_hide_keys(status: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"model": "m", "messages": [], "stream": True}))
    own = ("--api-key-env", "OWN_KEY")
    found = []
    with hosting(echoing(status)) as heard:
        asked = ("--url", f"{heard.url}/v1", "--api", "chat", *own)
        taken = ("--request", str(request), "-o", str(tmp_path / "a.cassette.jsonl"))
        run = ("--scenario", "think", "--model", "m", *AUTO, "--save", str(tmp_path / "saved"))
        verbs: dict[str, tuple[str, ...]] = {
            "record": ("record", *asked, *taken),
            "run --app": ("run", "--app", heard.url, "--protocol", "agui", *own, *FEW),
            **{name: ("run", *asked, *run, "--format", name) for name in SHOWN},
        }
        for name, arguments in verbs.items():
            main(arguments)
            out = capsys.readouterr()
            found += [name for text in (out.out, out.err) if leaks(text)]
        assert any(KEY.encode() in each for each in heard.requests)
    assert found == []
    assert leaking_files(tmp_path) == []
    assert status != "200 OK" or list((tmp_path / "saved").rglob("*.jsonl"))


@pytest.mark.parametrize("behave", [echoing(), paced()], ids=["at once", "paced"])
def test_watch_reveals_no_key_that_a_client_sent(behave: Behaviour, tmp_path: Path) -> None:
    pipe = subprocess.PIPE
    more = ("--save", str(tmp_path / "saved"), "--rule", "*")
    with (
        hosting(behave) as heard,
        watching(heard.url, tmp_path / "port", *more, stdout=pipe, stderr=pipe) as (process, port),
        closing(HTTPConnection("127.0.0.1", port)) as connection,
    ):
        sent = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
        path = f"/v1/chat/completions?key={quote(KEY, safe='')}"
        connection.request("POST", path, b'{"model":"m","stream":true}', sent)
        assert KEY.encode() in connection.getresponse().read()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate()
    assert b"FAIL" in out
    assert not leaks(out + err)
    assert leaking_files(tmp_path) == []


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("mode", ["updates", "pieces", "line", "error"])
def test_an_agent_that_says_what_its_environment_holds_is_not_repeated(
    mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(echoing_agent.VARIABLE, KEY)
    monkeypatch.delenv("OWN_KEY")
    agent = f"{sys.executable} -m tests.fakes.echoing_agent {mode}"
    passed = ("--pass", echoing_agent.VARIABLE)
    run = ("run", "--agent", agent, *passed, "--scenario", "app-answer", "--timeout", "20", *AUTO)
    found = []
    for shown in SHOWN if mode == "updates" else SHOWN[:1]:
        kept = tmp_path / shown
        main((*run, "--save", str(kept), "--format", shown))
        out = capsys.readouterr()
        found += [shown for text in (out.out, out.err) if leaks(text)]
        assert out.out + out.err
    assert found == []
    assert leaking_files(tmp_path) == []
    assert mode == "line" or list(tmp_path.rglob("*.jsonl"))
