"""Operators of a dialect as rows: `operators.yaml` next to its `mutation.py`.

Rule 1: a row has an `id`, what it `says`, one edit, and the places `at` which it acts. Without `at`
it acts wherever the value is that it edits.
Rule 2: places are types of events, or a mapping with one key of `_PLACES`. `$name` are places that
only code can find: those of `_name` in `mutation.py`. What no row can state is code there.
Rule 3: a path is keys and indices with dots, or a list of them where a key has dots itself.
Rule 4: in a value that an edit writes, `$path` is what is at that path of the edited payload.
Rule 5: `elements` edits those of a list, `in` a path, that have something at the paths of `having`,
or, where that is a mapping, what it states. Of each it can `drop` or `set` a value, `write` one as
JSON text, or `leave_out` the element itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any, Final

from conformance.core.json_values import Path
from conformance.editing import chunks, edits
from conformance.editing.elements import edit_elements, element_sites
from conformance.editing.filled import path_of
from conformance.editing.operator import Edit, Operator, Sites
from conformance.editing.stream import Stream
from conformance.rules import document
from conformance.rules.node import Node

FILE_NAME: Final = "operators.yaml"
PathReader = Callable[[Any], Path]
_STATED: Final = ("must", "reason", "most", "renumbers")
_PIECES: Final[Mapping[str, Edit]] = {
    "drop": edits.drop_piece,
    "double": edits.double_piece,
    "move back": edits.move_before,
    "cut": lambda stream, site: stream.with_pieces(stream.pieces[:site]),
}
_EDITS: Final[Mapping[str, Callable[[Any], Edit]]] = {
    "drop": lambda path: edits.drop_value(*path_of(path)),
    "set": lambda given: edits.set_filled(given[1], *path_of(given[0])),
    "prefix": lambda given: edits.prefix_text(given[1], *path_of(given[0])),
    "before": lambda given: edits.insert_like(given, after=0),
    "after": lambda given: edits.insert_like(given, after=1),
    "chunk_after": chunks.add_chunk,
    "drop_all": lambda types: lambda stream, _site: stream.without(*stream.typed(*types)),
    "drop_same": lambda given: edits.drop_same(given[0], *given[1:]),
    "elements": edit_elements,
    "prolong": lambda given: edits.prolong_text(given[1], *path_of(given[0])),
    "add": lambda given: edits.raise_value(*path_of(given[0]), change=given[1]),
    "reverse": lambda path: edits.turn_around(*path_of(path)),
    "piece": _PIECES.__getitem__,
    "move_after_next": edits.move_after_next,
    "reuse_index": lambda given: edits.reuse_index(*given),
    "request": lambda more: edits.request_with(**more),
    "halve_asked": lambda given: edits.ask_otherwise(
        edits.shortened, *given[0].split("."), sibling=given[1]
    ),
}
_OF_VALUES: Final[Mapping[str, Callable[[Any], Sites]]] = {
    "drop": lambda path: edits.places_with(*path_of(path)),
    "reverse": lambda path: edits.places_with(*path_of(path)),
    "halve_asked": lambda given: edits.request_sites(*given[0].split("."), sibling=given[1]),
    "elements": element_sites,
    **dict.fromkeys(
        ("set", "prefix", "prolong", "add"), lambda given: edits.places_with(*path_of(given[0]))
    ),
}
_PLACES: Final[Mapping[str, Callable[[Any], Sites]]] = {
    "chunk": lambda path: chunks.chunks_with(*path_of(path)),
    "has": lambda path: edits.places_with(*path_of(path)),
    "deltas": edits.deltas_of,
    "later": lambda path: edits.later_with(*path_of(path)),
    "text": lambda path: edits.texts_at(*path_of(path)),
    "among": lambda given: edits.stating(_sites(given[0]), *given[2:], path=path_of(given[1])),
    "last": lambda places: edits.some_of(_sites(places), slice(-1, None)),
    "but_first": lambda places: edits.some_of(_sites(places), slice(1, None)),
    "of_stream": lambda places: edits.where_body(_sites(places), wanted=False),
    "of_body": lambda places: edits.where_body(_sites(places), wanted=True),
    "if_any": lambda given: edits.where_any(*map(_sites, given)),
    "element": element_sites,
    "typed": lambda given: edits.typed_by(given[0], *path_of(given[1]))(*given[2:]),
    "first": lambda places: edits.first_of(_sites(places)),
    "of_application": lambda places: edits.with_upstream(_sites(places)),
    "right_after": lambda given: edits.right_after(*map(_sites, given)),
    "end_before_start": lambda given: edits.ends_before(*given),
    "list": lambda given: edits.lists_between(*path_of(given[0]), first=given[1], last=given[2]),
}

_NAMED: Final[Mapping[str, Sites]] = {
    "thinking_shown": edits.thinking_shown,
    "whole_stream": edits.whole_stream,
    "finish_places": chunks.finish_places,
    "message_places": chunks.message_places,
    "plain_places": chunks.plain_places,
    "usage_places": chunks.usage_places,
}


def operator_rows(
    module: str,
    code: Mapping[str, Any] = MappingProxyType({}),
    *,
    base: PathReader | None = None,
    **named: Sites,
) -> tuple[Operator, ...]:
    """The rows in the folder of a module with this code; `named` are further places.

    `base` gives the path in a payload below which edits change values, if it is not all of it.
    """
    rows = document.load(FilePath(module).with_name(FILE_NAME)).sequence()
    own = {name.removeprefix("_"): each for name, each in code.items() if callable(each)}
    return tuple(_read_operator(row, {**own, **_NAMED, **named}, base) for row in rows)


def _read_operator(row: Node, named: Mapping[str, Sites], base: PathReader | None) -> Operator:
    keys = row.mapping(known={"id", "says", "at", *_STATED, *_EDITS})
    verbs = [key for key in keys if key in _EDITS]
    if len(verbs) != 1:
        raise row.error("a row has one edit")
    edit, given = verbs[0], keys[verbs[0]].plain()
    places = _resolved(keys["at"].plain(), named) if "at" in keys else None
    sites = _OF_VALUES[edit](given) if places is None else _sites(places)
    stated = {key: keys[key].plain() for key in _STATED if key in keys}
    name, says = row.required("id").string(), row.required("says").string()
    how = _EDITS[edit](given) if base is None or edit == "piece" else _edit_below(base, edit, given)
    return Operator(name, says, sites, how, **stated)


def _edit_below(base: PathReader, verb: str, given: Any) -> Edit:
    """An edit whose path begins where the event is in its payload."""

    def edited(stream: Stream, site: int) -> Stream | None:
        at = base(stream.pieces[site].payload)
        path, *more = (given,) if verb == "drop" else given
        below = [*at, *path_of(path)]
        return _EDITS[verb]([below, *more] if more else below)(stream, site)

    return edited


def _resolved(places: Any, named: Mapping[str, Sites]) -> Any:
    """Places in which those of the code stand for their names."""
    if isinstance(places, str) and places.startswith("$"):
        return named[places[1:]]
    if isinstance(places, dict):
        return {key: _resolved(each, named) for key, each in places.items()}
    return [_resolved(each, named) for each in places] if isinstance(places, list) else places


def _sites(places: Any) -> Sites:
    if isinstance(places, dict):
        ((kind, given),) = places.items()
        return _PLACES[kind](given)
    if callable(places):
        found: Sites = places
        return found
    return edits.places_of(*([places] if isinstance(places, str) else places))
