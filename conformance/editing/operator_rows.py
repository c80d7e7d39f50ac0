"""Operators of a dialect as rows: `operators.yaml` next to its `mutation.py`.

Rule 1: a row has an `id`, what it `says`, one edit, and the places `at` which it acts. Without `at`
it acts wherever the value is that it edits.
Rule 2: places are types of events, or a mapping with one key of `_PLACES`; `$name` are places that
only code can find. What a row cannot state as a whole is code in `mutation.py`.
Rule 3: a path is keys and indices with dots, or a list of them where a key has dots itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Any, Final

from conformance.core.json_values import Path
from conformance.editing import edits
from conformance.editing.operator import Edit, Operator, Sites
from conformance.rules import document
from conformance.rules.node import Node

FILE_NAME: Final = "operators.yaml"
_STATED: Final = ("must", "reason", "most", "renumbers")
_PIECES: Final[Mapping[str, Edit]] = {
    "drop": edits.drop_piece,
    "double": edits.double_piece,
    "move back": edits.move_before,
}
_EDITS: Final[Mapping[str, Callable[[Any], Edit]]] = {
    "drop": lambda path: edits.drop_value(*_path(path)),
    "set": lambda given: edits.set_value(given[1], *_path(given[0])),
    "prolong": lambda given: edits.prolong_text(given[1], *_path(given[0])),
    "add": lambda given: edits.raise_value(*_path(given[0]), change=given[1]),
    "reverse": lambda path: edits.turn_around(*_path(path)),
    "piece": _PIECES.__getitem__,
    "move_after_next": edits.move_after_next,
    "reuse_index": lambda given: edits.reuse_index(*given),
    "request": lambda more: edits.request_with(**more),
    "halve_asked": lambda given: edits.ask_otherwise(
        edits.shortened, *given[0].split("."), sibling=given[1]
    ),
}
_OF_VALUES: Final[Mapping[str, Callable[[Any], Sites]]] = {
    "drop": lambda path: edits.places_with(*_path(path)),
    "reverse": lambda path: edits.places_with(*_path(path)),
    "halve_asked": lambda given: edits.request_sites(*given[0].split("."), sibling=given[1]),
    **dict.fromkeys(("set", "prolong", "add"), lambda given: edits.places_with(*_path(given[0]))),
}
_PLACES: Final[Mapping[str, Callable[[Any], Sites]]] = {
    "has": lambda path: edits.places_with(*_path(path)),
    "deltas": edits.deltas_of,
    "later": lambda path: edits.later_with(*_path(path)),
    "typed": lambda given: edits.typed_by(given[0], *_path(given[1]))(*given[2:]),
    "first": lambda places: edits.first_of(_sites(places)),
    "of_application": lambda places: edits.with_upstream(_sites(places)),
    "right_after": lambda given: edits.right_after(*map(_sites, given)),
    "end_before_start": lambda given: edits.ends_before(*given),
    "list": lambda given: edits.lists_between(*_path(given[0]), first=given[1], last=given[2]),
}

_NAMED: Final[Mapping[str, Sites]] = {
    "thinking_shown": edits.thinking_shown,
    "whole_stream": edits.whole_stream,
}


def operator_rows(module: str, **named: Sites) -> tuple[Operator, ...]:
    """The rows in the folder of a module; `named` are places that only its code can find."""
    rows = document.load(FilePath(module).with_name(FILE_NAME)).sequence()
    return tuple(_read_operator(row, {**_NAMED, **named}) for row in rows)


def _read_operator(row: Node, named: Mapping[str, Sites]) -> Operator:
    keys = row.mapping(known={"id", "says", "at", *_STATED, *_EDITS})
    verbs = [key for key in keys if key in _EDITS]
    if len(verbs) != 1:
        raise row.error("a row has one edit")
    edit, given = verbs[0], keys[verbs[0]].plain()
    places = keys["at"].plain() if "at" in keys else None
    if places is None:
        sites = _OF_VALUES[edit](given)
    elif isinstance(places, str) and places.startswith("$"):
        sites = named[places[1:]]
    else:
        sites = _sites(places)
    stated = {key: keys[key].plain() for key in _STATED if key in keys}
    name, says = row.required("id").string(), row.required("says").string()
    return Operator(name, says, sites, _EDITS[edit](given), **stated)


def _sites(places: Any) -> Sites:
    if isinstance(places, dict):
        ((kind, given),) = places.items()
        return _PLACES[kind](given)
    return edits.places_of(*([places] if isinstance(places, str) else places))


def _path(spelled: Any) -> Path:
    parts = spelled.split(".") if isinstance(spelled, str) else spelled
    return tuple(int(each) if str(each).isdigit() else each for each in parts)
