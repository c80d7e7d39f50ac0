"""Mutants as rows: what a condition holds for, and which rows are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.authoring.draft import Draft
from tests.authoring.edit_rows import where
from tests.authoring.mutant_rows import mutant, mutants, read
from tests.authoring.pieces import Message

CALLED = Message({"type": "call", "item": {"index": 1, "args": ""}}, "called")


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("type call", True),
        ("type text", False),
        ("event called", True),
        ("event ended", False),
        ("has item.index", True),
        ("has item.args", False),
        ("lacks item.args", True),
        ("lacks item.index", False),
        ("item.index = 1", True),
        ("item.index = '1'", False),
        ("type call and item.index = 2", False),
        ("text [DONE]", False),
    ],
)
def test_condition_of_a_row(text: str, holds: bool) -> None:
    assert where(text)(CALLED) is holds


def test_condition_on_a_text() -> None:
    assert where("text [DONE]")(Message("[DONE]"))


@pytest.mark.parametrize("rest", [{"dropped": "done"}, {"drop": "done", "keep": "done"}])
def test_row_with_an_edit_that_does_not_exist(rest: dict[str, str]) -> None:
    with pytest.raises((KeyError, ValueError)):
        mutant({"rule": "r", "base": "b", **rest}, {}, {"done": "text [DONE]"})


def test_unknown_condition() -> None:
    with pytest.raises(KeyError):
        where("typed call")


def test_bases_are_drafts_and_no_short_names() -> None:
    assert all("/" in base for base in {each.base for each in mutants()})


@pytest.mark.parametrize(
    ("value", "new"),
    [
        ("!slice [1, null]", [2, 3]),
        ("!reversed []", [3, 2, 1]),
        ("!swap [0, 1]", [2, 1, 3]),
        ("!list []", [[1, 2, 3]]),
        ("!with [1, 4]", [1, 4, 2, 3]),
        ("!without [1]", [1, 3]),
        ("!again [-1]", [1, 2, 3, 3]),
        ("!json []", "[1,2,3]"),
    ],
)
def test_value_made_from_the_old_one(value: str, new: object) -> None:
    row = read(f"mutants: [{{rule: r, base: b, change: [has old, old, {value}]}}]")["mutants"][0]
    (piece,) = mutant(row, {}, {}).steps[0]([Message({"old": [1, 2, 3]})])
    assert isinstance(piece, Message)
    assert piece.payload == {"old": new}


PIECES = [Message({"at": n}, f"e{n}") for n in range(4)]


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ("move_run: ['at = 1', 2, -1]", [1, 2, 0, 3]),
        ("become: ['at = 1', {at: 9}]", [0, 9, 2, 3]),
        ("insert: ['at = 1', {data: {at: 9}, event: new}]", [0, 9, 1, 2, 3]),
        ("insert_after: ['at = 1', {at: 9}]", [0, 1, 9, 2, 3]),
        ("whole: ''", []),
    ],
)
def test_edit_of_a_row(edit: str, expected: list[int]) -> None:
    row = read(f"mutants: [{{rule: r, base: b, {edit}}}]")["mutants"][0]
    (step,) = mutant(row, {}, {}).steps
    made = step(PIECES)
    assert [piece.payload["at"] for piece in made if isinstance(piece, Message)] == expected


def test_bytes_that_a_row_inserts() -> None:
    row = read("mutants: [{rule: r, base: b, insert_raw: ['at = 1', ': hi']}]")["mutants"][0]
    assert mutant(row, {}, {}).steps[0](PIECES)[1] == b": hi"


def test_a_row_edits_reports_and_takes_other_answers() -> None:
    base = Draft("b", "d", "p", "", {}, (PIECES[0],), {}, seen=({"type": "a"}, {"type": "b"}))
    other = replace(base, name="o", pieces=(PIECES[1],), then=(replace(base, pieces=()),))
    row = {"rule": "r", "base": "b", "reported": {"drop": "type a"}, "answer_of": "o"}
    made = mutant(row, {}, {}).draft({"b": base, "o": other})
    assert (made.seen, made.pieces) == (({"type": "b"},), (PIECES[1],))
    second = mutant({"rule": "r", "base": "b", "answer_of": {1: ["o", 2]}}, {}, {})
    assert second.draft({"b": base, "o": other}).pieces == ()
