"""Edits as rows: `{drop: done}`, of the streams of mutants and of good streams alike.

An edit is an operator of `edits` with its arguments, of which the first says where: a condition on
events (`where`), or its short name; `done@-1` is the last event that fits `done`. `pieces` are a
stream in the place of the other, `insert_pieces` some more; `by` is a step that a writer makes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import yaml

from tests.authoring import edits
from tests.authoring.edits import Step, Where
from tests.authoring.pieces import Message, at, cut, encoded
from tests.authoring.turns import in_body, not_in_body

Names = Mapping[str, str]


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def _remove_all(where: Where, path: str) -> Step:
    """Nothing at a path of every such event."""
    return lambda pieces: [
        replace(p, payload=cut(p.payload, path)) if isinstance(p, Message) and where(p) else p
        for p in pieces
    ]


def _duplicate_all(where: Where) -> Step:
    """Two readers of one event pass it on."""
    return lambda pieces: [
        p for p in pieces for _ in range(2 if isinstance(p, Message) and where(p) else 1)
    ]


def _unnamed(_: Any) -> Step:
    """Only the data lines of an event stream, whatever the events were written as."""
    return lambda pieces: [Message(p.payload) if isinstance(p, Message) else p for p in pieces]


def _before(where: Where, given: Sequence[Any], nth: int) -> Step:
    def step(pieces: edits.Pieces) -> list[Any]:
        spot = edits.place(pieces, where, nth)
        return [*pieces[:spot], *given, *pieces[spot:]]

    return step


# Their one argument is not a place.
_OF_WHOLE: Final[Mapping[str, Callable[[Any], Step]]] = {
    "by": lambda step: step,
    "not_in_body": not_in_body,
    "pieces": lambda given: lambda _pieces: list(given),
    "renumber": lambda _: edits.renumber,
    "raw_body": lambda given: (
        lambda pieces: [
            b"".join(map(encoded, pieces)).replace(given[0].encode(), given[1].encode(), 1)
        ]
    ),
    "unnamed": _unnamed,
    "whole": lambda text: lambda _pieces: [text.encode()] if text else [],
}
_OF_ALL: Final[Mapping[str, Callable[..., Step]]] = {
    "change_all": edits.change_all,
    "drop_all": edits.drop_all,
    "duplicate_all": _duplicate_all,
    "remove_all": _remove_all,
}
_OF_ONE: Final[Mapping[str, Callable[..., Step]]] = {
    "change": edits.change,
    "drop": edits.drop,
    "drop_run": lambda where, count, nth: edits.drop(where, nth, count),
    "duplicate": edits.duplicate,
    "keep": edits.keep,
    "remove": edits.remove,
    "rename": edits.rename,
    "retype": edits.retype,
    "rewrite": edits.rewrite,
    "move": lambda where, by, nth: edits.move(where, nth, by=by),
    "move_run": lambda where, count, by, nth: edits.move(where, nth, by=by, count=count),
    "become": edits.become,
    "raw": lambda where, old, new, nth: edits.raw(where, _bytes(old), _bytes(new), nth),
    "insert_pieces": _before,
    "insert": lambda where, payload, nth: edits.insert_like(payload, where, nth),
    "insert_after": lambda where, payload, nth: edits.insert_like(payload, where, nth, after=True),
    "insert_raw": lambda where, text, nth: edits.insert(text.encode(), where, nth),
    "insert_raw_after": lambda where, text, nth: edits.insert(
        text.encode(), where, nth, after=True
    ),
}


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


def steps(stated: Any, places: Names) -> tuple[Step, ...]:
    """One edit, or several."""
    rows = stated if isinstance(stated, list) else [stated] if stated else []
    return tuple(step_of(row, places) for row in rows)


def step_of(row: Mapping[str, Any], places: Names) -> Step:
    """One edit."""
    ((operator, stated),) = row.items()
    if operator in _OF_WHOLE:
        return _OF_WHOLE[operator](stated)
    arguments: Sequence[Any] = stated if isinstance(stated, list) else [stated]
    if operator == "in_body":
        return in_body(*arguments)
    place, *others = arguments
    named, _, nth = place.partition("@")
    found = where(places.get(named, named))
    if operator in _OF_ALL:
        return _OF_ALL[operator](found, *others)
    return _OF_ONE[operator](found, *others, nth=int(nth or 0))
