"""The runs that the site shows: their files are those that were judged."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest

from conformance.board import read_summary
from conformance.board.saved_run import file_digest, run_files
from conformance.board.verifying import recordings_folder
from tests.authoring import summary_schema

BOARD = Path(__file__).parents[2] / "website/board"
SUMMARIES = sorted(BOARD.glob("*.run.json"))


def test_there_are_rows_of_every_kind() -> None:
    kinds = {read_summary(path).run.kind for path in SUMMARIES}
    assert kinds == {"server", "gateway", "client", "application"}


@pytest.mark.parametrize("path", SUMMARIES, ids=lambda path: path.name)
def test_every_recording_is_the_one_that_was_judged(path: Path) -> None:
    summary, folder = read_summary(path), recordings_folder(path)
    listed = {each.file: each.sha256 for each in summary.recordings}
    assert {file: file_digest(folder / file) for file in run_files(folder)} == listed


def test_the_schema_of_summaries_is_that_of_their_reader() -> None:
    assert summary_schema.FILE.read_text("utf-8") == summary_schema.schema_text()
    validator = jsonschema_rs.Draft202012Validator(json.loads(summary_schema.schema_text()))
    assert [path.name for path in SUMMARIES if not validator.is_valid(_content(path))] == []


def _content(path: Path) -> object:
    return json.loads(path.read_text("utf-8"))


def test_no_folder_lies_there_without_its_summary() -> None:
    folders = {each for each in BOARD.iterdir() if each.is_dir()}
    assert folders == {recordings_folder(path) for path in SUMMARIES}
