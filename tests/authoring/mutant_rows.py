"""Mutants as rows: `tests/authoring/mutants/*.yaml`, for edits that need no code.

A row names the rule that it breaks and its base, then one edit, or several in `steps`:

    {rule: wire/chat/done-present, base: text, drop: done}

An edit is an operator of `edits` with its arguments. `bases` and `where` give short names to
drafts and to conditions on events; `done@-1` is the last event that fits `done`. A value that is
made from the old one has a tag, as `!slice [0, 40]` (`_OF_VALUES`). `turns` edit exchanges by
number, their requests by `asks`; `reported` edits what a client reported; `answer_of` is a draft,
or by exchange a draft and a number, whose answer comes instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from tests.authoring import edits
from tests.authoring.edits import Step, Where
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import at, compact
from tests.authoring.turns import Turn, answers, asks, asks_not, both, in_body, not_in_body


def _swapped(old: Sequence[Any], one: int, other: int) -> list[Any]:
    new = [*old]
    new[one], new[other] = old[other], old[one]
    return new


FOLDER: Final = Path(__file__).with_name("mutants")
Names = Mapping[str, str]
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
_OF_BODIES: Final[Mapping[str, Callable[..., Step]]] = {
    "in_body": in_body,
    "not_in_body": not_in_body,
    "whole": lambda text: lambda _pieces: [text.encode()] if text else [],
}
_OF_ALL: Final[Mapping[str, Callable[..., Step]]] = {
    "change_all": edits.change_all,
    "drop_all": edits.drop_all,
}
_OF_ONE: Final[Mapping[str, Callable[..., Step]]] = {
    "change": edits.change,
    "drop": edits.drop,
    "duplicate": edits.duplicate,
    "keep": edits.keep,
    "remove": edits.remove,
    "rename": edits.rename,
    "retype": edits.retype,
    "move": lambda where, by, nth: edits.move(where, nth, by=by),
    "move_run": lambda where, count, by, nth: edits.move(where, nth, by=by, count=count),
    "become": edits.become,
    "raw": lambda where, old, new, nth: edits.raw(where, old.encode(), new.encode(), nth),
    "insert": lambda where, payload, nth: edits.insert_like(payload, where, nth),
    "insert_after": lambda where, payload, nth: edits.insert_like(payload, where, nth, after=True),
    "insert_raw": lambda where, text, nth: edits.insert(text.encode(), where, nth),
    "insert_raw_after": lambda where, text, nth: edits.insert(
        text.encode(), where, nth, after=True
    ),
}
_OF_REQUESTS: Final[Mapping[str, Callable[..., Turn]]] = {"asks": asks, "asks_not": asks_not}
_OF_MUTANTS: Final = ("rule", "base", "also", "name", "facts", "answer_of")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which a tag of `_OF_VALUES` is a function of the old value."""


def _value(loader: Any, tag: str, node: yaml.Node) -> Callable[[Any], Any]:
    arguments = loader.construct_sequence(node)
    return lambda old: _OF_VALUES[f"!{tag}"](old, *arguments)


_Loader.add_multi_constructor("!", _value)


def mutants() -> Iterator[Mutant]:
    """All rows, file by file in the order of the alphabet."""
    for path in sorted(FOLDER.glob("*.yaml")):
        yield from rows(path)


def rows(path: Path) -> Iterator[Mutant]:
    """The mutants of one file."""
    table = read(path.read_text(encoding="utf-8"))
    for row in table["mutants"]:
        yield mutant(row, table.get("bases", {}), table.get("where", {}))


def read(text: str) -> Mapping[str, Any]:
    """The `bases`, `where` and `mutants` of one file."""
    table: Mapping[str, Any] = yaml.load(text, _Loader)
    return table


def mutant(row: Mapping[str, Any], bases: Names, places: Names) -> Mutant:
    """The mutant of one row; KeyError for an operator that does not exist."""
    facts = {key: value for key, value in row.items() if key in _OF_MUTANTS}
    rest = {key: value for key, value in row.items() if key not in _OF_MUTANTS}
    turns = {number: _turn(each, places) for number, each in rest.pop("turns", {}).items()}
    reported = _steps(rest.pop("reported", []), places)
    steps = _steps(rest.pop("steps", rest), places)
    base = bases.get(row["base"], row["base"])
    also = tuple(row.get("also", ()))
    facts["facts"] = {key: _tuples(each) for key, each in facts.get("facts", {}).items()}
    edited = {"steps": steps, "turns": turns, "reported": reported}
    return Mutant(**{**facts, "base": base, "also": also, **edited})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def where(text: str) -> Where:
    """The condition that a text states: parts joined by ` and `, all of which must hold.

    `type T` is the type of an event, `event E` the name on its event line, `has P` a value at a
    path that is not empty and `lacks P` none, `P = JSON` the value at a path, `text T` a payload
    that is a text.
    """
    parts = [_condition(part) for part in text.split(" and ")]
    return lambda message: all(part(message) for part in parts)


def _condition(text: str) -> Where:
    path, equals, value = text.partition(" = ")
    if equals:
        wanted = yaml.safe_load(value)
        return lambda message: bool(at(message.payload, path) == wanted)
    kind, _, operand = text.partition(" ")
    conditions: Mapping[str, Where] = {
        "type": edits.typed(operand),
        "event": lambda message: message.event == operand,
        "has": edits.having(operand),
        "lacks": lambda message: not at(message.payload, operand),
        "text": lambda message: bool(message.payload == operand),
    }
    return conditions[kind]


def _steps(stated: Any, places: Names) -> tuple[Step, ...]:
    """One edit, or several."""
    rows = stated if isinstance(stated, list) else [stated] if stated else []
    return tuple(_step(row, places) for row in rows)


def _step(row: Mapping[str, Any], places: Names) -> Step:
    ((operator, stated),) = row.items()
    if operator == "renumber":
        return edits.renumber
    arguments: Sequence[Any] = stated if isinstance(stated, list) else [stated]
    if operator in _OF_BODIES:
        return _OF_BODIES[operator](*arguments)
    place, *others = arguments
    named, _, nth = place.partition("@")
    found = where(places.get(named, named))
    if operator in _OF_ALL:
        return _OF_ALL[operator](found, *others)
    return _OF_ONE[operator](found, *others, nth=int(nth or 0))


def _turn(stated: Any, places: Names) -> Turn:
    """The edits of one exchange: of its request, or of what was answered."""
    rows = stated if isinstance(stated, list) else [stated]
    return both(*(_edit_of_turn(row, places) for row in rows))


def _edit_of_turn(row: Mapping[str, Any], places: Names) -> Turn:
    ((operator, stated),) = row.items()
    if operator not in _OF_REQUESTS:
        return answers(_step(row, places))
    return _OF_REQUESTS[operator](*(stated if isinstance(stated, list) else [stated]))
