"""Rows of operators: what they refuse, and where they act."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.core.errors import SpecError
from conformance.core.events import Exchange
from conformance.editing.layout import StreamLayout
from conformance.editing.operator import Operator
from conformance.editing.operator_rows import FILE_NAME, operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

PIECES = [
    Piece(b"", "event", payload={"type": "start", "at": {"a.b": 1}}),
    Piece(b"", "event", payload={"type": "delta", "at": {"a.b": 1}, "list": [{"kind": "x"}]}),
    Piece(b"", "event", payload={"type": "delta"}),
]
STREAM = Stream.of(Exchange(0, chunks=()), "some", StreamLayout(), PIECES, framed=True)


def one_operator(tmp_path: Path, row: str) -> Operator:
    (tmp_path / FILE_NAME).write_text(f"- {{id: X1-some, says: It is so., {row}}}\n")
    code = {"_last": lambda _: [2], "_number": 7}
    (operator,) = operator_rows(str(tmp_path / "mutation.py"), code)
    return operator


def places(tmp_path: Path, row: str) -> list[int]:
    return list(one_operator(tmp_path, row).sites(STREAM))


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
        ("at: {last: delta}, piece: drop", [2]),
        ("at: {but_first: delta}, piece: drop", [2]),
        ("at: {text: list.0.kind}, piece: drop", [1]),
        ("at: {among: [$last, list, x, null]}, piece: drop", [2]),
        ("at: {if_any: [other, delta]}, piece: drop", []),
        ("at: {if_any: [start, delta]}, piece: drop", [1, 2]),
        ("at: {of_body: delta}, piece: drop", []),
        ("at: {of_stream: delta}, piece: drop", [1, 2]),
        ("elements: {in: list, having: kind, drop: kind}", [1]),
        ("elements: {in: list, having: {kind: y}, drop: kind}", []),
        ("drop: [at, a.b]", [0, 1]),
        ("set: [list.0.kind, z]", [1]),
    ],
)
def test_a_row_names_its_places(tmp_path: Path, row: str, expected: list[int]) -> None:
    assert places(tmp_path, row) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("set: [list, [$list.0.kind, $type]]", {"list": ["x", "delta"]}),
        ("at: $last, prefix: [type, a-]", {"type": "a-delta"}),
        ("elements: {in: list, having: {kind: x}, leave_out: true}", {"list": []}),
        ("elements: {in: list, set: [same, $kind], drop: kind}", {"list": [{"same": "x"}]}),
        ("at: {has: list}, elements: {in: list, write: kind}", {"list": [{"kind": '"x"'}]}),
    ],
)
def test_a_row_edits_a_payload(tmp_path: Path, row: str, expected: dict[str, object]) -> None:
    operator = one_operator(tmp_path, row)
    place = operator.sites(STREAM)[0]

    edited = operator.edit(STREAM, place)

    assert edited is not None
    assert edited.pieces[place].payload == {**(STREAM.pieces[place].payload), **expected}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("at: {has: list}, before: {type: $list.0.kind}", ["start", "x", "delta", "delta"]),
        ("at: start, after: [{type: a}, {type: b}]", ["start", "a", "b", "delta", "delta"]),
        ("at: {last: delta}, piece: cut", ["start", "delta"]),
        ("at: start, drop_all: [delta]", ["start"]),
        ("at: {has: list}, drop_same: [at, start, delta]", ["delta"]),
        ("at: start, move_after_next: delta", ["delta", "start", "delta"]),
    ],
)
def test_a_row_edits_a_stream(tmp_path: Path, row: str, expected: list[str]) -> None:
    operator = one_operator(tmp_path, row)

    edited = operator.edit(STREAM, operator.sites(STREAM)[0])

    assert edited is not None
    assert [piece.type for piece in edited.pieces] == expected


def test_what_has_no_next_start_stays(tmp_path: Path) -> None:
    operator = one_operator(tmp_path, "at: delta, move_after_next: start")

    assert operator.edit(STREAM, 1) is None


def test_a_path_may_begin_where_the_event_stands(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("- {id: X1-some, says: So., at: start, set: [b, 2]}\n")
    (operator,) = operator_rows(str(tmp_path / "mutation.py"), base=lambda _: ("at",))

    edited = operator.edit(STREAM, 0)

    assert edited is not None
    assert edited.pieces[0].payload == {"type": "start", "at": {"a.b": 1, "b": 2}}


@pytest.mark.parametrize("row", ["at: delta", "drop: at, piece: drop", "at: delta, lose: at"])
def test_a_row_without_exactly_one_known_edit_is_refused(tmp_path: Path, row: str) -> None:
    with pytest.raises(SpecError):
        places(tmp_path, row)
