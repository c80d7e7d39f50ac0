"""Every key of every kind of event, lost, misspelt or of another type, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from conformance.core.json_values import Path, cut_at, put_at, value_at
from conformance.dialects import get
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream
from conformance.mutate.lost_texts import with_misspelt_key

_KINDS: Final = ("type", "event_type", "sessionUpdate", "method")
RETYPED: Final[dict[str, tuple[str, Any]]] = {
    "text": ("number", 7),
    "number": ("text", "seven"),
    "boolean": ("text", "seven"),
    "list": ("object", {"other": "Hm."}),
    "object": ("text", "Hm."),
}
"""By the type of a value, the other type that is put there, and the value of it."""


class KeyEdit(NamedTuple):
    """A key by the type of its event, its path without positions, and what was done to it.

    `stated` are the types that what holds the key states, outermost first; `held` is the type of
    its value, in words.
    """

    stated: str
    path: str
    held: str
    edit: str

    def __str__(self) -> str:
        return f"{self.stated} {self.path} ({self.held}) {self.edit}"


def key_edits(stream: Stream) -> Iterator[tuple[KeyEdit, Stream]]:
    """The stream with one key edited, the first of each kind."""
    free = frozenset(get(stream.dialect).keys.free)
    seen: set[KeyEdit] = set()
    for place, piece in stream.events():
        for path in _keys(piece.payload, free):
            value = value_at(piece.payload, *path)
            held = type_of(value)
            for edit, payload in _edited(piece.payload, path, held):
                kind = KeyEdit(_stated(piece, path), _shown(path), held, edit)
                if kind not in seen:
                    seen.add(kind)
                    yield kind, stream.with_payload(place, payload)


def _edited(payload: Any, path: Path, held: str) -> Iterator[tuple[str, Any]]:
    yield "dropped", cut_at(payload, path)
    if held == "null":
        return
    yield "misspelt", with_misspelt_key(payload, path)
    yield "null", put_at(payload, path, None)
    if held != "empty text":
        name, value = RETYPED[held]
        yield name, put_at(payload, path, value)


def type_of(value: Any) -> str:
    """The type of a JSON value in words; a text and one that is empty are two."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "text" if value else "empty text"
        case list():
            return "list"
    return "object"


def _keys(value: Any, free: frozenset[str]) -> Iterator[Path]:
    """Paths of all keys, except of those that stand in what may have any form."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (key,)
            yield from ((key, *rest) for rest in (_keys(inner, free) if key not in free else ()))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from ((number, *rest) for rest in _keys(inner, free))


def _stated(piece: Piece, path: Path) -> str:
    holders = [value_at(piece.payload, *path[:end]) for end in range(1, len(path))]
    types = [held.get(key) for held in holders if isinstance(held, dict) for key in _KINDS]
    return "/".join(
        filter(None, [piece.type or piece.name, *(t for t in types if isinstance(t, str))])
    )


def _shown(path: Path) -> str:
    return ".".join("*" if isinstance(step, int) else step for step in path)
