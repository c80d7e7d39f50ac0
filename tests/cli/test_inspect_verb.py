from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from conformance.cassette.header import Header
from conformance.cassette.write import Writer
from conformance.cli import main
from conformance.core.events import Chunk, Exchange
from conformance.recordings.check import check_paths
from conformance.report.wording import link_sentence
from tests.evidence.links.talks import TALKERS, talk


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


def test_one_exchange_is_shown_in_full(cassette: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(cassette), "--exchange", "2"]) == 0
    clipped = capsys.readouterr().out
    assert "data: one" not in clipped
    assert "x" * 5000 not in clipped
    assert main(["inspect", str(cassette), "--exchange", "2", "--full"]) == 0
    assert "x" * 5000 in capsys.readouterr().out


WRONG = [(["--exchange", "3"], "has no exchange 3"), (["--exchange", "0"], "has no exchange 0")]


@pytest.mark.parametrize(("options", "line"), WRONG)
def test_a_missing_exchange_is_2(
    options: list[str], line: str, cassette: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(cassette), *options]) == 2
    assert line in capsys.readouterr().err


def test_a_missing_file_is_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(tmp_path / "none.sse")]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path / 'none.sse'}")


def talk_file(folder: Path, name: str, exchanges: list[Exchange] | None = None) -> Path:
    """A recorded conversation of two calls, an answer and a question."""
    path = folder / "talk.cassette.jsonl"
    talker = TALKERS[name]
    with Writer(path, Header(dialect=talker.dialect, profile=talker.profile)) as writer:
        for each in talk(talker) if exchanges is None else exchanges:
            writer.exchange(each)
    return path


def marked_lines(text: str) -> list[tuple[str, str]]:
    """Lines beginning with `*` but for the ends, each with the line before it."""
    lines = text.splitlines()
    pairs = pairwise(lines)
    return [(one, two) for one, two in pairs if two.startswith("* ") and ": eof" not in two]


@pytest.mark.parametrize("name", TALKERS)
def test_request_shows_links(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = talk_file(tmp_path, name)
    assert main(["inspect", str(path)]) == 0
    shown = marked_lines(capsys.readouterr().out)
    assert all(before.startswith("> POST ") for before, _ in shown)
    expected = [
        max(each.links, key=lambda e: e.exchange) for each in check_paths([path]).streams[1:]
    ]
    found = [line for _, line in shown]
    assert [line.partition(", and of exchange ")[0] for line in found] == [
        f"* {link_sentence(each)}" for each in expected
    ]
    assert found[0].startswith("* continues the answer of exchange 1 in ")
    assert found[2].endswith(", and of exchange 2, 1")


def test_one_exchange_shows_its_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = talk_file(tmp_path, "messages")
    assert main(["inspect", str(path), "--exchange", "2"]) == 0
    ((_, line),) = marked_lines(capsys.readouterr().out)
    assert line == ("* continues the answer of exchange 1 in messages.1 (evidence: call call00001)")


def test_unlinked_exchanges_show_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exchanges = talk(TALKERS["messages"])
    path = talk_file(tmp_path, "messages", [exchanges[0], Exchange(number=2), exchanges[3]])
    assert main(["inspect", str(path), "--exchange", "1"]) == 0
    assert marked_lines(capsys.readouterr().out) == []
