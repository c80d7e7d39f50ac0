"""Whatever a client does, `serve` and `record` go on, answer the next client, and end in order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.fakes.hostile import chunked, whole
from tests.hostile import answers
from tests.hostile.clients import CLIENTS, GOOD, PATIENCE_S, HostileClient, connected
from tests.hostile.hostile_file import HEAD, WHOLE
from tests.hostile.hosting import hosting
from tests.hostile.limited import limit_process, wait_limited
from tests.hostile.test_servers import CONTROL

SECONDS: Final = 60
MEGABYTES: Final = 600
RECORDED: Final = WHOLE.replace(b'completions"', b'completions","json":{}')
CASES: Final = [
    pytest.param(each, id=each.name, marks=() if each.sampled else pytest.mark.hostile)
    for each in CLIENTS
]


@contextmanager
def listening(folder: Path, *arguments: str) -> Iterator[int]:
    """A verb that listens, within limits; it must end in order when it is told to.

    In order is 0, and 2 where it says what was not recorded.
    """
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "conformance", *arguments, "--port-file", "port"],
            stdout=subprocess.PIPE,
            stderr=err,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        limit_process(process.pid, SECONDS, MEGABYTES)
        assert process.stdout is not None
        try:
            with process.stdout as pipe:
                ready = pipe.readline()
                assert ready.startswith(b"READY "), (folder / "err").read_text()
                yield int((folder / "port").read_text())
                process.send_signal(signal.SIGTERM)
                out.write(pipe.read())
            code = wait_limited(process)
            text = (folder / "err").read_text(errors="backslashreplace")
            assert code == (2 if "not recorded: what waited" in text else 0), (code, text[-1500:])
        finally:
            process.kill()
            process.wait()


def answer_to_good_client(port: int) -> bytes:
    with connected(port) as one:
        one.settimeout(4 * PATIENCE_S)
        one.sendall(GOOD.replace(b"\r\n", b"\r\nconnection: close\r\n", 1))
        found = bytearray()
        while data := one.recv(65536):
            found += data
    return bytes(found)


def expect_a_sound_end(folder: Path) -> None:
    for name in ("out", "err"):
        text = (folder / name).read_text(encoding="utf-8", errors="backslashreplace")
        assert "Traceback" not in text
        assert not CONTROL.search(text)


@pytest.mark.parametrize("client", CASES)
def test_a_replay_goes_on(client: HostileClient, tmp_path: Path) -> None:
    (tmp_path / "a.cassette.jsonl").write_bytes(RECORDED)
    with listening(tmp_path, "serve", "a.cassette.jsonl", "--repeat") as port:
        client.act(port)
        assert b"data: [DONE]" in answer_to_good_client(port)
    expect_a_sound_end(tmp_path)


@pytest.mark.parametrize("client", CASES)
def test_a_recorder_goes_on(client: HostileClient, tmp_path: Path) -> None:
    with hosting(whole(chunked(answers.GOOD))) as heard:
        proxy = ("record", "--proxy", "127.0.0.1:0", "--upstream", heard.url, "-o", "taken")
        with listening(tmp_path, *proxy) as port:
            client.act(port)
            assert b"data: [DONE]" in answer_to_good_client(port)
    expect_a_sound_end(tmp_path)
    taken = sorted((tmp_path / "taken").glob("*.cassette.jsonl"))
    assert taken
    assert all(path.read_bytes().startswith(HEAD[:12]) for path in taken)


def test_the_catalogue_names_each_client_once() -> None:
    assert len({each.name for each in CLIENTS}) == len(CLIENTS)
