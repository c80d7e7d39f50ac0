"""Which cases of a test every run can afford, and how that list is kept."""

from __future__ import annotations

import pytest

from tests.costs import affordable, is_there, known_costs, quick_seconds, updated

HERE = "tests/test_costs.py::test_as_many_cases_as_fit_are_kept"
GONE = "tests/test_costs.py::test_of_yesterday"


@pytest.mark.parametrize(
    ("seconds", "cases", "kept"),
    [(1.0, 100, 25), (40.0, 50, 1), (3.0, 2, 0), (1.0, 1, 1), (9.0, 9, 1), (20.0, 500, 6)],
)
def test_as_many_cases_as_fit_are_kept(seconds: float, cases: int, kept: int) -> None:
    assert affordable(seconds, cases) == kept


def test_what_every_run_takes_is_known_beforehand() -> None:
    costs = {"one dear case": (3.0, 1), "cheap": (0.2, 9), "many": (20.0, 500), "a few": (0.8, 1)}
    assert quick_seconds(costs) == pytest.approx(0.2 + 6 * 0.04 + 0.8)


def test_what_is_listed_is_there() -> None:
    """A test that was renamed or deleted leaves the list: its successor's cost is not known."""
    assert [name for name in known_costs() if not is_there(name)] == []


@pytest.mark.parametrize(
    ("known", "measured", "listed"),
    [
        ({}, {HERE: (2.0, 4)}, {HERE: (2.0, 4)}),
        ({HERE: (5.0, 4)}, {HERE: (2.0, 4)}, {HERE: (2.0, 4)}),
        # What became cheap leaves the list, and so does what is gone.
        ({HERE: (5.0, 4)}, {HERE: (0.2, 4)}, {}),
        ({GONE: (5.0, 4)}, {}, {}),
        ({HERE: (5.0, 4)}, {}, {HERE: (5.0, 4)}),
    ],
)
def test_a_list_follows_what_is_measured(
    known: dict[str, tuple[float, int]],
    measured: dict[str, tuple[float, int]],
    listed: dict[str, tuple[float, int]],
) -> None:
    assert updated(known, measured) == listed
