from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cassette.header import Header
from conformance.cassette.write import Writer
from conformance.cli import main
from conformance.core.events import Chunk, Exchange


@pytest.fixture
def cassette(tmp_path: Path) -> Path:
    path = tmp_path / "a.cassette.jsonl"
    with Writer(path, Header()) as writer:
        for number, text in ((1, b"data: one\n\n"), (2, b"data: \x1b[2J" + b"x" * 5000 + b"\n\n")):
            writer.exchange(Exchange(number=number, chunks=(Chunk(text, 1.0),)))
    return path


def test_every_exchange_is_shown(cassette: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(cassette)]) == 0
    out = capsys.readouterr().out
    assert "| data: one\n" in out
    assert out.count("* end: eof\n") == 2
    assert "\x1b" not in out


def test_one_exchange_can_be_chosen_and_shown_in_full(
    cassette: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(cassette), "--exchange", "2"]) == 0
    clipped = capsys.readouterr().out
    assert "data: one" not in clipped
    assert "x" * 5000 not in clipped
    assert main(["inspect", str(cassette), "--exchange", "2", "--full"]) == 0
    assert "x" * 5000 in capsys.readouterr().out


WRONG = [
    (["--exchange", "3"], "has no exchange 3"),
    (["--exchange", "0"], "has no exchange 0"),
]


@pytest.mark.parametrize(("options", "line"), WRONG)
def test_a_missing_exchange_is_2(
    options: list[str], line: str, cassette: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(cassette), *options]) == 2
    assert line in capsys.readouterr().err


def test_a_missing_file_is_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(tmp_path / "none.sse")]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path / 'none.sse'}")
