"""`--save` keeps a run and nothing else: what an earlier one left goes, what is not ours stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.core.errors import RemoteError, UsageError
from conformance.runs.run_folder import earlier_recordings
from tests.fakes.chatty import Chatty
from tests.runs.conftest import Runner

API = "openai.chat"


def kept(folder: Path) -> set[str]:
    return {path.name.partition(".")[0] for path in folder.rglob("*.jsonl")}


def test_nothing_of_an_earlier_run_stays(run: Runner, tmp_path: Path) -> None:
    run(Chatty(), "think", "history")
    assert kept(tmp_path) == {"sanity", "think", "history"}
    run(Chatty(), "effort")
    assert kept(tmp_path) == {"sanity", "effort"}


def test_a_run_that_nobody_answers_takes_nothing_away(run: Runner, tmp_path: Path) -> None:
    run(Chatty(), "think")
    with pytest.raises(RemoteError, match="HTTP 404"):
        run(Chatty(), "think", model="x")
    assert kept(tmp_path) == {"sanity", "think"}


FOREIGN: list[tuple[str, Any]] = [
    ("notes.txt", "mine"),
    (f"{API}/notes.txt", "mine"),
    (f"{API}/a.cassette.jsonl", '{"cassette":"1.0"}\n'),
    (f"{API}/a.cassette.jsonl", "no JSON\n"),
    (f"{API}/a.cassette.jsonl", "[" * 100_000),
    (f"{API}/deeper/a.cassette.jsonl", '{"cassette":"1.0","run":{}}\n'),
    ("somewhere/a.cassette.jsonl", '{"cassette":"1.0","run":{}}\n'),
    (f"{API}/empty.cassette.jsonl", ""),
]


@pytest.mark.parametrize(("name", "text"), FOREIGN)
def test_foreign_folder_stays(name: str, text: str, run: Runner, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    asked = Chatty()
    with pytest.raises(UsageError, match="is no recording of a run") as err:
        run(asked, "think")
    assert str(err.value).startswith(str(path))
    assert path.read_text() == text
    assert asked.asked == []  # nothing was sent


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "folder" / API).mkdir(parents=True)
    elsewhere = tmp_path / "a.cassette.jsonl"
    elsewhere.write_text('{"cassette":"1.0","run":{}}\n')
    (tmp_path / "folder" / API / "a.cassette.jsonl").symlink_to(elsewhere)
    with pytest.raises(UsageError, match="is no recording of a run"):
        earlier_recordings(tmp_path / "folder")


def test_a_folder_that_is_not_there_or_empty_is_free(tmp_path: Path) -> None:
    assert earlier_recordings(tmp_path / "none") == ()
    (tmp_path / API).mkdir()
    assert earlier_recordings(tmp_path) == ()
