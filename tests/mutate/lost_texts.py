"""Edits of one text of a stream: its key or type misspelt, or a value of another type under it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from conformance.core.json_values import Path, cut_at, put_at, value_at
from conformance.dialects import get
from conformance.editing.stream import Stream
from conformance.mutate.lost_texts import misspelt, with_misspelt_key

OTHERS: Final[dict[str, Any]] = {
    "list": ["Hm."],
    "object": {"other": "Hm."},
    "number": 7,
    "null": None,
}
EDITS: Final = ("misspelt", "dropped", *OTHERS)
MISTYPED: Final = "mistyped"
_KINDS: Final = ("type", "event_type", "sessionUpdate", "method")
_ECHOED: Final = ("response", "reasoning", "summary")  # a word of the request, not a text

Places = list[tuple[int, Path]]


class TextKind(NamedTuple):
    """A text by the types around it and its path, without the positions in lists."""

    types: str
    path: str


def text_places(stream: Stream) -> dict[TextKind, Places]:
    """Every text of the streamed events, by kind, with the places that hold it.

    Where nothing of a dialect is streamed, every text of its bodies.
    """
    dialect = get(stream.dialect)
    keys = frozenset(dialect.keys.texts)
    free = frozenset(dialect.keys.free) - keys
    found: dict[TextKind, Places] = {}
    for place, piece in stream.events():
        is_read = piece.kind != "body" or dialect.framing == "body"
        for path in _texts(piece.payload, keys, free) if is_read else ():
            if path != _ECHOED:
                stated = [piece.type or piece.name, *_types_around(piece.payload, path)]
                kind = TextKind("/".join(filter(None, stated)), _shown(path))
                found.setdefault(kind, []).append((place, path))
    return found


def holder_places(texts: dict[TextKind, Places]) -> dict[TextKind, Places]:
    """What holds those texts, by kind, with the places."""
    held: dict[TextKind, dict[tuple[int, Path], None]] = {}
    for kind, places in texts.items():
        for place, path in places:
            for end in range(1, len(path)):
                if isinstance(path[end - 1], str):
                    own = TextKind(kind.types, _shown(path[:end]))
                    held.setdefault(own, {})[place, path[:end]] = None
    return {kind: list(places) for kind, places in held.items()}


def type_places(stream: Stream, texts: dict[TextKind, Places]) -> dict[TextKind, Places]:
    """The types of the events and parts that hold those texts, by the path of these."""
    typed: dict[TextKind, dict[tuple[int, Path], None]] = {}
    for kind, places in texts.items():
        for place, path in places:
            for end in range(len(path)):
                holder = value_at(stream.pieces[place].payload, *path[:end])
                for key in _KINDS:
                    if isinstance(holder, dict) and isinstance(holder.get(key), str):
                        own = TextKind(kind.types, _shown(path[:end]))
                        typed.setdefault(own, {})[place, (*path[:end], key)] = None
    return {kind: list(places) for kind, places in typed.items()}


def edited(stream: Stream, place: int, path: Path, edit: str) -> Stream:
    """The stream with one value edited."""
    payload = stream.pieces[place].payload
    if edit in OTHERS:
        new = put_at(payload, path, OTHERS[edit])
    elif edit == MISTYPED:
        new = put_at(payload, path, misspelt(value_at(payload, *path)))
    elif edit == "misspelt":
        new = with_misspelt_key(payload, path)
    else:
        new = cut_at(payload, path)
    return stream.with_payload(place, new)


def _shown(path: Path) -> str:
    return ".".join("*" if isinstance(step, int) else step for step in path)


def _types_around(payload: Any, path: Path) -> list[str]:
    holders = [value_at(payload, *path[:end]) for end in range(1, len(path))]
    stated = [held.get(key) for held in holders if isinstance(held, dict) for key in _KINDS]
    return [kind for kind in stated if isinstance(kind, str)]


def _texts(value: Any, keys: frozenset[str], free: frozenset[str]) -> Iterator[Path]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in keys and isinstance(inner, str) and inner:
                yield (key,)
            elif key not in free:
                yield from ((key, *rest) for rest in _texts(inner, keys, free))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from ((number, *rest) for rest in _texts(inner, keys, free))
