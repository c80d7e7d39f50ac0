from __future__ import annotations

from pathlib import Path

from conformance.corpus.columns import ColumnNames
from conformance.corpus.rows import FragmentRow, UnreadableStream, few_at_once, row_stream


def row(number: int, size: int) -> FragmentRow:
    return row_stream({"body": b"x" * size}, ColumnNames(), number, Path("a"), "a")


def test_few_rows_are_held_at_once() -> None:
    sizes = [10] * 150 + [1 << 21, 10, 1 << 19, 1 << 19, 10]
    rows = [row(number, size) for number, size in enumerate(sizes)]
    few = list(few_at_once(rows))
    assert [each for some in few for each in some] == rows
    assert [len(some) for some in few] == [64, 64, 23, 3, 1]


def test_a_file_of_its_own_comes_before_the_next_one_is_requested() -> None:
    files = [UnreadableStream(number, "a", "no recording", "a.sse") for number in range(3)]
    assert list(few_at_once(files)) == [[each] for each in files]
    assert list(few_at_once([])) == []
