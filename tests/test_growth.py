"""The measure of growth distinguishes a line from a square, by a clock that the work moves."""

from __future__ import annotations

import time

import pytest

from tests.growth import grows_linearly


@pytest.mark.parametrize(("power", "is_linear"), [(1, True), (2, False)])
def test_a_line_grows_linearly_and_a_square_does_not(
    power: int, is_linear: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]

    def work(size: int) -> None:
        clock[0] += float(size) ** power

    monkeypatch.setattr(time, "process_time", lambda: clock[0])
    assert grows_linearly(work, 2_000) is is_linear
