"""How far a check is, in a line a few times a second."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.recordings import progress
from conformance.recordings.progress import CheckProgress


def test_a_search_and_a_check_say_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(1, 100))
    monkeypatch.setattr(progress, "monotonic", lambda: float(next(now)))
    lines: list[str] = []
    watched = CheckProgress(lines.append)
    watched.found_file(Path("/a/b.sse"))
    assert list(watched.counted(["x", "y"], 2)) == ["x", "y"]
    assert lines[0] == "looking for recordings: 1 files, now in /a"
    assert lines[1].startswith("checked 1 of 2 files, ")
    assert lines[1].endswith(" a second")


def test_without_a_watcher_no_line_is_shown() -> None:
    watched = CheckProgress()
    watched.found_file(Path("a"))
    assert list(watched.counted([1], 1)) == [1]
