"""Mutants as rows: `tests/authoring/mutants/*.yaml`, for edits that need no code.

A row names the rule that it breaks and its base, then one edit, or several in `steps`:

    {rule: wire/chat/done-present, base: text, drop: done}

An edit is one of `edit_rows`. `bases` and `where` give short names to drafts and to conditions on
events. A value that is made from the old one has a tag, as `!slice [0, 40]` (`_OF_VALUES`); any
other tag is a call of one of the file's `writers`, as in `stream_rows`. `turns` edit exchanges by
number, their requests by `asks`; `reported` edits what a client reported; `answer_of` is a draft,
or by exchange a draft and a number, whose answer comes instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from tests.authoring import edit_rows, stream_rows
from tests.authoring.edit_rows import Names, step_of
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import compact
from tests.authoring.turns import Turn, answers, asks, asks_not, both, sends


def _swapped(old: Sequence[Any], one: int, other: int) -> list[Any]:
    new = [*old]
    new[one], new[other] = old[other], old[one]
    return new


FOLDER: Final = Path(__file__).with_name("mutants")
_OF_VALUES: Final[Mapping[str, Callable[..., Any]]] = {
    "!slice": lambda old, start, end: old[start:end],
    "!reversed": lambda old: old[::-1],
    "!swap": _swapped,
    "!list": lambda old: [old],
    "!twice": lambda old: [*old, *old],
    "!add": lambda old, number: old + number,
    "!replace": lambda old, text, new: old.replace(text, new),
    "!before": lambda old, text: f"{text}{old}",
    "!after": lambda old, text: f"{old}{text}",
    "!json": compact,
    "!with": lambda old, place, new: [*old[:place], new, *old[place:]],
    "!again": lambda old, place: [*old, old[place]],
    "!without": lambda old, place: [*old[:place], *old[place + 1 :]],
}
_OF_REQUESTS: Final[Mapping[str, Callable[..., Turn]]] = {
    "asks": asks,
    "asks_not": asks_not,
    "headers": sends,
}
_OF_MUTANTS: Final = ("rule", "base", "also", "name", "facts", "answer_of")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which a tag is a call, or one of `_OF_VALUES`, a function of the old value."""


def _value(loader: Any, tag: str, node: yaml.Node) -> Any:
    if f"!{tag}" not in _OF_VALUES:
        return stream_rows.tagged(loader, tag, node)
    arguments = loader.construct_sequence(node)
    return lambda old: _OF_VALUES[f"!{tag}"](old, *arguments)


_Loader.add_multi_constructor("!", _value)


def mutants() -> Iterator[Mutant]:
    """All rows, file by file in the order of the alphabet."""
    for path in sorted(FOLDER.glob("*.yaml")):
        yield from rows(path)


def rows(path: Path) -> Iterator[Mutant]:
    """The mutants of one file."""
    stated = read(path.read_text(encoding="utf-8"))
    table = stream_rows.table_of(stated)
    for row in stated["mutants"]:
        yield mutant(table.value(row), stated.get("bases", {}), stated.get("where", {}))


def read(text: str) -> Mapping[str, Any]:
    """What one file states."""
    stated: Mapping[str, Any] = yaml.load(text, _Loader)
    return stated


def mutant(row: Mapping[str, Any], bases: Names, places: Names) -> Mutant:
    """The mutant of one row; KeyError for an operator that does not exist."""
    facts = {key: value for key, value in row.items() if key in _OF_MUTANTS}
    rest = {key: value for key, value in row.items() if key not in _OF_MUTANTS}
    turns = {number: _turn(each, places) for number, each in rest.pop("turns", {}).items()}
    reported = edit_rows.steps(rest.pop("reported", []), places)
    steps = edit_rows.steps(rest.pop("steps", rest), places)
    base = bases.get(row["base"], row["base"])
    also = tuple(row.get("also", ()))
    facts["facts"] = {key: _tuples(each) for key, each in facts.get("facts", {}).items()}
    edited = {"steps": steps, "turns": turns, "reported": reported}
    return Mutant(**{**facts, "base": base, "also": also, **edited})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _turn(stated: Any, places: Names) -> Turn:
    """The edits of one exchange: of its request, or of what was answered."""
    rows = stated if isinstance(stated, list) else [stated]
    return both(*(_edit_of_turn(row, places) for row in rows))


def _edit_of_turn(row: Mapping[str, Any], places: Names) -> Turn:
    ((operator, stated),) = row.items()
    if operator not in _OF_REQUESTS:
        return answers(step_of(row, places))
    return _OF_REQUESTS[operator](*(stated if isinstance(stated, list) else [stated]))
