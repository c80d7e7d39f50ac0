"""Rows of operators: what they refuse, and where they act."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.core.errors import SpecError
from conformance.core.events import Exchange
from conformance.editing.layout import StreamLayout
from conformance.editing.operator_rows import FILE_NAME, operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

PIECES = [
    Piece(b"", "event", payload={"type": "start", "at": {"a.b": 1}}),
    Piece(b"", "event", payload={"type": "delta", "at": {"a.b": 1}, "list": [{"kind": "x"}]}),
    Piece(b"", "event", payload={"type": "delta"}),
]
STREAM = Stream.of(Exchange(0, chunks=()), "some", StreamLayout(), PIECES, framed=True)


def places(tmp_path: Path, row: str) -> list[int]:
    (tmp_path / FILE_NAME).write_text(f"- {{id: X1-some, says: It is so., {row}}}\n")
    (operator,) = operator_rows(str(tmp_path / "mutation.py"), last=lambda _: [2])
    return list(operator.sites(STREAM))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("at: delta, piece: drop", [1, 2]),
        ("at: [start, delta], piece: double", [0, 1, 2]),
        ("at: {has: list}, piece: drop", [1]),
        ("at: {typed: [delta, list.0.kind, x, y]}, piece: drop", [1]),
        ("at: {first: delta}, piece: drop", [1]),
        ("at: {right_after: [delta, start]}, piece: move back", [1]),
        ("at: $last, piece: drop", [2]),
        ("drop: [at, a.b]", [0, 1]),
        ("set: [list.0.kind, z]", [1]),
    ],
)
def test_a_row_names_its_places(tmp_path: Path, row: str, expected: list[int]) -> None:
    assert places(tmp_path, row) == expected


@pytest.mark.parametrize("row", ["at: delta", "drop: at, piece: drop", "at: delta, lose: at"])
def test_a_row_without_exactly_one_known_edit_is_refused(tmp_path: Path, row: str) -> None:
    with pytest.raises(SpecError):
        places(tmp_path, row)
