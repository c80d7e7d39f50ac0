"""What users name: standard input, pipes, patterns, shipped recordings; from a wheel, too."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from conformance.cassette import find_recordings, open_recording
from conformance.cassette.pipes import forget_pipes, is_pipe
from conformance.cassette.search import named_paths, shipped_folders
from conformance.cli import main
from conformance.core import shipped
from conformance.core.errors import CassetteError, UsageError
from conformance.recordings.trust import is_trusted

BODY = b'data: {"object":"chat.completion.chunk","choices":[]}\n\n'


@pytest.fixture(autouse=True)
def _fresh_pipes() -> Iterator[None]:
    forget_pipes()
    yield
    forget_pipes()


def given(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    stdin = TextIOWrapper(BytesIO(data))
    monkeypatch.setattr(stdin, "fileno", lambda: 0, raising=False)
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr(os, "isatty", lambda _: False)


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    given(monkeypatch, gzip.compress(BODY) if packed else BODY)
    recording = open_recording("-")
    assert (recording.kind, recording.exchanges[0].body) == ("sse", BODY)
    assert recording.locate(1, [len(BODY) - 1]) == [2]
    assert open_recording("-").exchanges == recording.exchanges


def test_verbs_take_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = str(tmp_path / "a.cassette.jsonl")
    for call in (["check", "-"], ["inspect", "-"], ["identify", "-"], ["convert", "-", target]):
        forget_pipes()
        given(monkeypatch, BODY)
        assert main(call) in (0, 1)
        assert capsys.readouterr().err.count("error:") == 0


def test_a_terminal_is_no_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, b"")
    monkeypatch.setattr(os, "isatty", lambda _: True)
    with pytest.raises(CassetteError, match="-: cannot be read: standard input is a terminal"):
        open_recording("-")


def write_to(pipe: int) -> None:
    os.write(pipe, BODY)
    os.close(pipe)


def test_a_pipe_of_a_shell_is_read_once() -> None:
    reading, writing = os.pipe()
    path = Path(f"/dev/fd/{reading}")
    try:
        writer = threading.Thread(target=write_to, args=(writing,))
        writer.start()
        recording = open_recording(path)
        assert recording.exchanges[0].body == BODY
        assert recording.locate(1, [5]) == [1]
        writer.join()
    finally:
        os.close(reading)


def test_what_came_through_a_pipe_is_never_trusted(tmp_path: Path) -> None:
    assert is_pipe(Path("-"))
    assert not is_trusted(Path("-"), [Path.cwd()])
    assert is_trusted(tmp_path / "a", [tmp_path.resolve()])


def test_patterns_stand_for_what_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b.sse", "a.sse", "[x].sse", "c.txt"):
        (tmp_path / name).write_bytes(BODY)
    assert named_paths("*.sse") == [Path("[x].sse"), Path("a.sse"), Path("b.sse")]
    assert named_paths("[x].sse") == [Path("[x].sse")]  # what is there is itself
    assert [path.name for path in find_recordings(["**/*.sse", "c.txt"]).recordings] == [
        *("[x].sse", "a.sse", "b.sse", "c.txt")
    ]
    with pytest.raises(UsageError, match=r"^\*\.har: no file fits$"):
        named_paths("*.har")


def test_shipped_recordings_have_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = shipped.cassettes().resolve() / "openai.chat" / "client"
    one = min(folder.glob("*.cassette.jsonl"))
    short = f"openai.chat/client/{one.name.removesuffix('.cassette.jsonl')}"
    assert (
        named_paths("openai.chat/client") == named_paths("shipped:openai.chat/client") == [folder]
    )
    assert named_paths(f"shipped:{short}") == named_paths(short) == [one]
    (tmp_path / "openai.chat").mkdir()
    (tmp_path / "openai.chat" / "client").write_bytes(BODY)
    assert named_paths("openai.chat/client") == [Path("openai.chat/client")]  # what is there wins
    assert dict(shipped_folders())["openai.chat/client"] == len(list(folder.glob("*.jsonl")))


@pytest.mark.parametrize("name", ["../specs", "..", "", "/", "/etc/passwd", "none"])
def test_no_other_file_has_such_a_name(name: str) -> None:
    with pytest.raises(UsageError, match="no such recording ships"):
        named_paths(f"shipped:{name}")


def test_a_path_that_is_not_there_is_reported() -> None:
    with pytest.raises(UsageError, match=r"^nowhere/at/all: no such file or folder$"):
        find_recordings(["nowhere/at/all"])


def test_a_pipe_is_judged_from_the_command_line() -> None:
    call = [sys.executable, "-m", "conformance", "check", "-", "--format", "json"]
    done = subprocess.run(call, input=BODY, capture_output=True, check=False, timeout=120)
    assert done.returncode == 1, done.stderr
    assert b'"file": "-"' in done.stdout or b'"file":"-"' in done.stdout
