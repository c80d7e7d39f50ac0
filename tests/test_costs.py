"""Which cases of a test every run can afford."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.costs import affordable, known_costs

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    ("seconds", "cases", "kept"),
    [
        (1.0, 100, 50),
        (40.0, 50, 1),
        (3.0, 2, 0),
        (1.0, 1, 1),
        (9.0, 9, 1),
        (20.0, 500, 12),
    ],
)
def test_as_many_cases_as_fit_are_kept(seconds: float, cases: int, kept: int) -> None:
    assert affordable(seconds, cases) == kept


def test_what_is_listed_is_there() -> None:
    """A test that was renamed or deleted leaves the list: its successor's cost is not known."""
    paths = {name: ROOT / name.partition("::")[0] for name in known_costs()}
    texts = {path: path.read_text(encoding="utf-8") for path in {*paths.values()}}
    gone = [
        name
        for name, path in paths.items()
        if f"def {name.rpartition('::')[2]}(" not in texts[path]
    ]
    assert gone == []
