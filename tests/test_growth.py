"""The measure of growth distinguishes a line from a square."""

from __future__ import annotations

from tests.growth import grows_linearly


def _line(size: int) -> int:
    return sum(range(500 * size))


def _square(size: int) -> int:
    return sum(sum(range(size)) for _ in range(size))


def test_a_line_grows_linearly_and_a_square_does_not() -> None:
    assert grows_linearly(_line, 2_000)
    assert not grows_linearly(_square, 5_000)
