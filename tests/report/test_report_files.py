from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.cassette.redaction.own_keys import own_keys
from conformance.core.errors import UsageError
from conformance.core.own_keys import KEYS
from conformance.judging.result import Report
from conformance.report import FORMATS, html, parse_output, render, write
from conformance.report.files import render_pieces, write_whole
from tests.report.made import stream


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_renders_and_ends_its_last_line(name: str) -> None:
    for report in (Report(), Report((stream(),), errors=("x: y",))):
        assert render(report, name).endswith("\n")


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_is_made_in_pieces_that_hold_what_is_looked_for(name: str) -> None:
    for report in (Report(), Report((stream(), stream()), errors=("x: y",))):
        pieces = list(render_pieces(report, name))
        assert "".join(pieces) == render(report, name)
        ends = ("\n", '"', "{", "}", "]", "[]", ": ", "null", "true", "false", "    ")
        assert all(each.endswith(ends) or each[-1].isdigit() for each in pieces)


def test_no_report_holds_our_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "our-very-own-key-1234567890"
    monkeypatch.setitem(KEYS, key, None)
    assert own_keys()[-1] == key
    report = Report((stream(), stream()), errors=(f"x: {key}",), notes=(f"{key}\n{key}",))
    for name in FORMATS:
        write(report, f"{name}={tmp_path / name}")
        assert key not in (tmp_path / name).read_text()


def test_failed_output_replaces_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "pieces", broken_pieces)
    (tmp_path / "a.json").write_text("old")
    with pytest.raises(RuntimeError, match="in its midst"):
        write(Report(), f"json={tmp_path / 'a.json'}", f"html={tmp_path / 'a.html'}")
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"a.json": "old"}


def broken_pieces(report: Report, **_: bool) -> Iterator[str]:
    yield "the beginning"
    raise RuntimeError("in its midst", report)


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"one of text, json, junit.*got 'xml'"):
        render(Report(), "xml")


@pytest.mark.parametrize("text", ["json", "json=", "=x.json", "xml=x.xml", "json=-", ""])
def test_what_is_not_format_and_file_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_output(text)


def test_a_file_name_may_hold_an_equals_sign() -> None:
    assert parse_output("json=a=b.json") == ("json", Path("a=b.json"))


def test_reports_are_written_in_their_formats(tmp_path: Path) -> None:
    report = Report(errors=("x: y",))
    write(report, f"json={tmp_path / 'a.json'}", f"text={tmp_path / 'a.txt'}")
    assert json.loads((tmp_path / "a.json").read_text())["errors"] == ["x: y"]
    assert (tmp_path / "a.txt").read_text().startswith("error: x: y\n")


def test_nothing_is_written_if_one_output_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        write(Report(), f"json={tmp_path / 'a.json'}", "xml=b")
    assert list(tmp_path.iterdir()) == []


def test_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")

    def full_disk(_path: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full_disk)
    with pytest.raises(UsageError, match=r"report\.json: cannot be written: No space left"):
        write_whole(target, b"new")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_a_missing_folder_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written: No such file or directory"):
        write_whole(tmp_path / "none" / "x.json", b"")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_pipe_is_written_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(pipe, b"new")
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
