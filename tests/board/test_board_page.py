from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.board import add_run, board_page, read_rows
from conformance.board.rows import BoardRow
from conformance.cli import main
from conformance.core.errors import UsageError
from tests.board.saved import BROKEN, GOOD, saved_run

NAME = "server-acme-1.2-2026-11-20"
LEAK = "stripping/visible-text/no-markers"


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """Two runs of one server: what the first lacks, the second has fixed."""
    later: dict[str, Any] = {
        "target": {"name": "acme", "version": "1.3"},
        "recorded_at": "2026-11-27T10:00:00Z",
    }
    add_run(tmp_path / "board", saved_run(tmp_path / "old", BROKEN))
    add_run(tmp_path / "board", saved_run(tmp_path / "new", GOOD, **later))
    return tmp_path / "board"


def test_the_newest_run_is_the_row_and_says_what_changed(board: Path) -> None:
    page = board_page(read_rows(board))
    assert page.count('<th scope="row">') == 1
    assert "1 fixed (1.2, 2026-11-20)" in page
    assert f'id="{NAME}"' in page
    assert page.count(">agrees</span>") == 3  # in the table, and both runs


def test_a_finding_leads_to_its_recording_and_its_rule(board: Path) -> None:
    page = board_page(read_rows(board), {LEAK: f"rules/{LEAK}/"})
    address = f"{NAME}/openai.responses/think.cassette.jsonl.gz"
    assert f'<a href="{address}">' in page
    assert (board / address).is_file()
    assert f'<a href="rules/{LEAK}/">' in page


def test_a_lie_shows_and_is_1(board: Path, tmp_path: Path) -> None:
    path = board / f"{NAME}.run.json"
    content = json.loads(path.read_text())
    content["failed"] = []
    path.write_text(json.dumps(content))
    page = tmp_path / "board.html"
    assert main(["board", str(board), "-o", str(page)]) == 1
    assert ">does not agree</span>" in page.read_text()


def test_rules_that_changed_since_are_no_lie(board: Path, tmp_path: Path) -> None:
    for path in board.glob("*.run.json"):
        content = json.loads(path.read_text())
        content["rules"]["sha256"] = "0" * 64
        content["families"]["wire"] = {"PASS": 3}
        path.write_text(json.dumps(content))
    page = tmp_path / "board.html"
    assert main(["board", str(board), "-o", str(page)]) == 0
    assert ">by other rules</span>" in page.read_text()


def test_the_cells_are_what_the_recordings_give(board: Path) -> None:
    path = board / f"{NAME}.run.json"
    content = json.loads(path.read_text())
    content |= {"failed": [], "groups": [], "families": {"wire": {"PASS": 99}}}
    content["rules"]["sha256"] = "0" * 64
    path.write_text(json.dumps(content))
    page = board_page(read_rows(board))
    assert ">by other rules</span>" in page
    assert f"<code>{LEAK}</code>" in page
    assert '<td class="v-pass">99</td>' not in page


def test_where_the_recordings_lie_elsewhere_the_row_is_its_own_word(tmp_path: Path) -> None:
    add_run(tmp_path / "board", saved_run(tmp_path / "run"), "https://example.com/a?b=1&c=2")
    page = board_page(read_rows(tmp_path / "board"))
    assert ">its own word</span>" in page
    assert '<a href="https://example.com/a?b=1&amp;c=2" rel="nofollow noopener">' in page


HOSTILE = "<img src=x onerror=alert(1)>\u202e\n](javascript:alert(1))"


def test_no_text_of_a_summary_leaves_its_place(board: Path) -> None:
    row = next(each for each in read_rows(board) if each.summary.groups)
    group = replace(row.summary.groups[0], message=HOSTILE, id=HOSTILE)
    group = replace(group, first=replace(group.first, finding=HOSTILE))
    rules = replace(row.summary.rules, profiles=(HOSTILE,))
    summary = replace(row.summary, groups=(group,), rules=rules, silenced={"wire/x": HOSTILE})
    page = board_page([BoardRow(summary, "differs", row.folder, (HOSTILE,))])
    assert "<img" not in page
    assert "\u202e" not in page
    assert not re.search(r'(?:href|src)="(?!#|https?://|server-acme)', page)


def test_many_lines_are_bounded(board: Path) -> None:
    row: Any = read_rows(board)[0]
    page = board_page([BoardRow(row.summary, "differs", "", ("line",) * 50)])
    assert "30 more lines left out" in page


def test_adding_and_showing_in_one_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, board = saved_run(tmp_path / "run"), tmp_path / "board"
    page = tmp_path / "board.html"
    assert main(["board", str(board), "--add", str(run), "-o", str(page)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 run, 1 judged again"
    assert "acme 1.2" in page.read_text()


@pytest.mark.parametrize("suffix", ["", ".run.json"])
def test_a_link_to_elsewhere_is_no_row(board: Path, tmp_path: Path, suffix: str) -> None:
    there = board / f"{NAME}{suffix}"
    there.rename(tmp_path / "elsewhere")
    there.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="not links to others"):
        read_rows(board)


@pytest.mark.parametrize("arguments", [[], ["--link", "https://example.com", "-o", "x"]])
def test_a_call_that_means_nothing_is_2(tmp_path: Path, arguments: list[str]) -> None:
    assert main(["board", str(tmp_path), *arguments]) == 2


def test_an_empty_board_is_2(tmp_path: Path) -> None:
    assert main(["board", str(tmp_path), "-o", str(tmp_path / "x.html")]) == 2
