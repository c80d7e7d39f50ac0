from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.core.errors import UsageError
from conformance.judging.result import Report, StreamResult
from conformance.report import FORMATS, parse_output, render, write
from conformance.report.files import write_whole

MakeStream = Callable[..., StreamResult]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_renders_and_ends_its_last_line(name: str, stream: MakeStream) -> None:
    for report in (Report(), Report((stream(),), errors=("x: y",))):
        assert render(report, name).endswith("\n")


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


def test_a_failed_write_leaves_the_old_file_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
