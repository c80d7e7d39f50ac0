"""`watch` as users call it: lines where there is no terminal, a screen where there is one."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.cli.watch import key_names
from tests.targets.record_peers import END, HEAD, Script, chunked, origin

LEAK = b'data: {"choices":[{"index":0,"delta":{"content":"a</think>\\u001b]0;x\\u0007b"}}]}\n\n'
RULES = ("--rule", "stripping/*")
Session = Callable[[str], None]
Started = tuple[subprocess.Popen[bytes], int]


def with_server(session: Session) -> None:
    """Runs it with the URL of a server that leaks."""

    async def serve() -> None:
        async with origin(Script([HEAD, chunked(LEAK), END])) as server:
            await asyncio.to_thread(session, server.url)

    asyncio.run(serve())


def wait_until(shown: Callable[[], bool]) -> None:
    for _ in range(3000):
        if shown():
            return
        time.sleep(0.02)
    pytest.fail("nothing came")


@contextmanager
def watching(upstream: str, port_file: Path, *arguments: str, **ends: int) -> Iterator[Started]:
    """The process, once it listens, and its port."""
    command = [sys.executable, "-m", "conformance", "watch", "--proxy", "0", *RULES, *arguments]
    command += ["--upstream", upstream, "--port-file", str(port_file)]
    # pytest-xdist sets a size, which would hide that of the terminal.
    env = {name: each for name, each in os.environ.items() if name not in ("COLUMNS", "LINES")}
    env["TERM"] = "xterm"
    with subprocess.Popen(command, env=env, **ends) as process:  # type: ignore[call-overload]
        try:
            wait_until(port_file.exists)
            yield process, int(port_file.read_text())
        finally:
            process.kill()


def ask(port: int) -> bytes:
    with closing(HTTPConnection("127.0.0.1", port)) as connection:
        connection.request("POST", "/v1/chat/completions", b'{"model":"m","stream":true}')
        return connection.getresponse().read()


@pytest.mark.parametrize("saves", [False, True], ids=["nothing written", "saved"])
def test_without_a_terminal_every_thing_is_a_line(saves: bool, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    lines = list[str]()

    def session(upstream: str) -> None:
        save = ("--save", str(saved)) if saves else ()
        pipe = subprocess.PIPE
        with watching(upstream, tmp_path / "port", *save, stdout=pipe) as (process, port):
            assert ask(port) == LEAK
            process.send_signal(signal.SIGTERM)
            out, _ = process.communicate()
            assert process.returncode == 0
        lines.extend(out.decode().splitlines())

    with_server(session)
    assert lines[0].startswith("READY http://127.0.0.1:")
    assert lines[1] == "#1 POST /v1/chat/completions  m"
    assert lines[2].startswith("#1 FAIL MUST stripping/visible-text/no-markers (event 1, choice=0)")
    assert lines[3].startswith("#1 200  ")
    assert "1 finding  text 16" in lines[3]
    assert lines[4].startswith("1 exchange, 1 with findings")
    assert "\x1b" not in "".join(lines)
    assert len(list(saved.iterdir()) if saves else []) == saves
    assert sorted(path.name for path in tmp_path.iterdir()) == ["port", *["saved"] * saves]


def test_on_a_terminal_it_draws_and_gives_the_terminal_back(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 100, 0, 0))
    os.set_blocking(ours, False)
    before = termios.tcgetattr(theirs)
    drawn = bytearray()

    def has_drawn(text: bytes) -> bool:
        with suppress(BlockingIOError):
            drawn.extend(os.read(ours, 1 << 20))
        return text in drawn

    def session(upstream: str) -> None:
        ends = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        with watching(upstream, tmp_path / "port", **ends) as (process, port):
            ask(port)
            wait_until(lambda: has_drawn(b"no-markers"))
            os.write(ours, b"\r")
            wait_until(lambda: has_drawn(b"timeline of #1: "))
            os.write(ours, b"q")
            wait_until(lambda: has_drawn(b"1 exchange, 1 with findings") and process.poll() == 0)

    with_server(session)
    text = drawn.decode()
    assert "\x1b[?1049h" in text
    assert text.rindex("\x1b[?1049l") > text.rindex("\x1b[?1049h")
    assert r"\x1b]0;x\x07" in text
    assert "\x1b]0;" not in text
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)


def waiting_bytes(descriptor: int) -> int:
    return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4), sys.byteorder)


@pytest.mark.parametrize(
    ("end", "code"), [("q", 0), (signal.SIGINT, 130), (signal.SIGTERM, 0)], ids=str
)
def test_it_ends_with_its_terminal(end: str | signal.Signals, code: int, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    before = termios.tcgetattr(theirs)

    def session(upstream: str) -> None:
        ends = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        with watching(upstream, tmp_path / "port", **ends) as (process, port):
            wait_until(lambda: waiting_bytes(ours) > 4000)
            assert ask(port) == LEAK
            if isinstance(end, str):
                os.write(ours, end.encode())
            else:
                process.send_signal(end)
            assert process.wait(60) == code

    with_server(session)
    drawn = bytearray()

    def is_given_back() -> bool:
        with suppress(BlockingIOError):
            drawn.extend(os.read(ours, 1 << 20))
        return b"\x1b[?1049l" in drawn and b"\x1b[?25h" in drawn

    os.set_blocking(ours, False)
    wait_until(is_given_back)
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)


def test_it_ends_where_nobody_reads_its_lines(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)

    def session(upstream: str) -> None:
        with watching(upstream, tmp_path / "port", stdout=writing) as (process, port):
            while waiting_bytes(reading) < 4000:
                assert ask(port) == LEAK
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0

    with_server(session)
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("\x1b[A\x1b[B", ["up", "down"]),
        ("\x1bOA\r\n", ["up", "enter", "enter"]),
        ("\x1b", ["escape"]),
        ("jq", ["j", "q"]),
        ("\x1b[15~\x00", []),
    ],
)
def test_keys_are_known_by_what_terminals_send(typed: str, keys: list[str]) -> None:
    assert [key for key in key_names(typed) if not key.startswith("\x1b")] == keys


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--proxy", "x", "--upstream", "http://h"], "expected --proxy HOST:PORT, got 'x'"),
        (["--proxy", ":1", "--upstream", "http://h"], "expected --proxy HOST:PORT, got ':1'"),
        (["--proxy", "1"], "Missing option '--upstream'"),
        (["--proxy", "0", "--upstream", "h"], "expected an http or https URL"),
        (
            ["--proxy", "0", "--upstream", "http://h/v1/chat/completions"],
            "names the endpoint /chat/completions, to which clients add their own paths (",
        ),
        (["--proxy", "0", "--upstream", "http://h", "--profile", "x"], "no profile 'x'"),
        (["--proxy", "0", "--upstream", "http://h", "--dialect", "x"], "no dialect is called 'x'"),
    ],
)
def test_wrong_calls_are_reported_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", *arguments]) == 2
    assert message in capsys.readouterr().err
