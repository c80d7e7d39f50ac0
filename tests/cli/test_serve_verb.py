from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.cassette import write
from conformance.cli import main
from conformance.cli.verbs import load_verb
from tests.targets.replay_wire import EVENTS, answer, cassette, client, exchange, request

BODY = b"".join(EVENTS)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "think.cassette.jsonl"
    write(path, cassette(exchange(), exchange(number=2, json={"n": 2})))
    return path


@contextmanager
def serve(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The process and its port, once it says that it is ready."""
    command = [sys.executable, "-m", "conformance", "serve", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            ready = process.stdout.readline()
            assert ready.startswith("READY http://127.0.0.1:"), ready
            yield process, int(ready.rsplit(":", 1)[1])
        finally:
            process.kill()


def test_a_client_is_served_and_everything_is_reported(recording: Path, tmp_path: Path) -> None:
    port_file = tmp_path / "port"
    with serve(str(recording), "--port-file", str(port_file), "--exit-when-used") as (
        process,
        port,
    ):
        assert port_file.read_text(encoding="utf-8") == f"{port}\n"
        assert answer(port, request(path="/c/think/v1/chat/completions")).body == BODY
        assert answer(port, request({"n": 3})).status == 404
        assert answer(port, request({"n": 2})).body == BODY
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out == "3 requests, 3 connections, 1 without an answer, 0 exchanges unused\n"
    first, second, third = err.splitlines()
    assert first.startswith(
        "#1 connection 1: POST /c/think/v1/chat/completions -> 200 think exchange 1: complete, "
        f"{len(BODY)} of {len(BODY)} bytes"
    )
    assert "-> 404 refused: no recorded exchange answers POST" in second
    assert "n is 3, recorded 2" in second
    assert "think exchange 2: complete" in third


def test_a_scripted_server_stands_until_it_is_ended() -> None:
    with serve("--scripted") as (process, port):
        assert b'"id": "scripted"' in answer(port, request(path="/v1/models", method="GET")).body
        assert b"Answer 1: **4**" in answer(port, request({"messages": []})).body
        assert answer(port, request(path="/v1/embeddings")).status == 404
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert err.splitlines() == [
        "GET /v1/models -> 200",
        "POST /v1/chat/completions -> 200",
        "POST /v1/embeddings -> 404",
    ]


@pytest.mark.parametrize("given", [["--scripted", "x.sse"], []])
def test_server_plays_files_or_script(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *given]) == 2
    assert "--scripted" in capsys.readouterr().err


SIGNALS = [(signal.SIGTERM, [], 0), (signal.SIGINT, [], 130), (signal.SIGTERM, ["--strict"], 1)]


@pytest.mark.parametrize(("number", "options", "code"), SIGNALS)
def test_signal_gives_summary(recording: Path, number: int, options: list[str], code: int) -> None:
    with serve(str(recording), *options) as (process, port):
        assert answer(port, request()).body == BODY
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert out == (
        "unused: think exchange 2\n"
        "1 request, 1 connection, 0 without an answer, 1 exchange unused\n"
    )
    assert "Traceback" not in err


def test_a_signal_ends_what_stalls(recording: Path) -> None:
    with serve(str(recording), "--stall", "event:1") as (process, port), client(port) as connected:
        connected.send(request())
        received = b""
        while EVENTS[0] not in received:
            received += connected.socket.recv(1 << 16)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert f": stalled, {len(EVENTS[0])} of {len(BODY)} bytes" in err


def test_knobs_reach_the_wire(recording: Path) -> None:
    knobs = ["--chunking", "bytes:2", "--cut", "byte:5", "--how", "fin", "--crlf", "-q"]
    with serve(str(recording), *knobs, "--repeat") as (process, port):
        got = [answer(port, request()) for _ in range(2)]
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert [each.chunks for each in got] == [(b"da", b"ta", b":")] * 2
    assert not any(each.whole for each in got)
    assert err == ""


WRONG = [
    (["--chunking", "bytes:0"], "chunking: expected a number of at least 1, got 'bytes:0'"),
    (["--timing", "fast"], "timing: expected recorded, none or scale:F, got 'fast'"),
    (["--cut", "event:1", "--stall", "byte:1"], "a stream is either cut or stalls, not both"),
    (["--how", "gently"], "how: expected fin or rst, got 'gently'"),
    (["--port", "70000"], "Invalid value for '--port'"),
    (["--host", "999.1.1.1"], "cannot listen on 999.1.1.1:0"),
    (["--port-file", "/nowhere/at/all"], "/nowhere/at/all"),
]


@pytest.mark.parametrize(("options", "line"), WRONG)
def test_a_wrong_option_is_2(
    options: list[str], line: str, recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", str(recording), *options]) == 2
    assert line in capsys.readouterr().err


def test_the_page_names_every_option_and_no_other() -> None:
    page = (Path(__file__).parents[2] / "docs" / "replay.md").read_text(encoding="utf-8")
    named = set(re.findall(r"--[a-z][a-z-]+", page))
    options = {name for each in load_verb("serve").params for name in each.opts if name[:2] == "--"}
    assert named - options == set()
    assert options - named - {"--help", "--quiet", "--host", "--no-config"} == set()


def test_what_cannot_be_served_is_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.cassette.jsonl"
    broken.write_text('{"cassette":"1.0"}\n{"request":3}\n', encoding="utf-8")
    assert main(["serve", str(broken)]) == 2
    assert f"{broken}:2" in capsys.readouterr().err
    assert main(["serve", str(tmp_path / "none.sse")]) == 2
