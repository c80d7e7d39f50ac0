"""Mutants as rows: what a condition holds for, and which rows are refused."""

from __future__ import annotations

import pytest

from tests.authoring.mutant_rows import mutant, mutants, read, where
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
    bases = {each.base for each in mutants()}
    assert all("/" in base for base in bases)


@pytest.mark.parametrize(
    ("value", "new"),
    [
        ("!slice [1, null]", [2, 3]),
        ("!reversed []", [3, 2, 1]),
        ("!swap [0, 1]", [2, 1, 3]),
        ("!list []", [[1, 2, 3]]),
        ("!json []", "[1,2,3]"),
    ],
)
def test_value_made_from_the_old_one(value: str, new: object) -> None:
    row = read(f"mutants: [{{rule: r, base: b, change: [has old, old, {value}]}}]")["mutants"][0]
    (piece,) = mutant(row, {}, {}).steps[0]([Message({"old": [1, 2, 3]})])
    assert isinstance(piece, Message)
    assert piece.payload == {"old": new}
