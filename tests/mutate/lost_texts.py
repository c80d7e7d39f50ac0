"""Edits of one text of a stream: its key misspelt, dropped, or a value of another type under it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from conformance.core.json_values import Path, cut_at, put_at, value_at
from conformance.dialects import get
from conformance.editing.stream import Stream

OTHERS: Final[dict[str, Any]] = {
    "list": ["Hm."],
    "object": {"other": "Hm."},
    "number": 7,
    "null": None,
}
EDITS: Final = ("misspelt", "dropped", *OTHERS)
_KINDS: Final = ("type", "event_type", "sessionUpdate", "method")
_ECHOED: Final = ("response", "reasoning", "summary")  # a word of the request, not a text


class TextKind(NamedTuple):
    """A text by the type of its event and its path, without the positions in lists."""

    event: str
    path: str


def text_places(stream: Stream) -> dict[TextKind, list[tuple[int, Path]]]:
    """Every text of the streamed events, by kind, with the places that hold it."""
    keys = frozenset(get(stream.dialect).keys.texts)
    free = frozenset(get(stream.dialect).keys.free) - keys
    found: dict[TextKind, list[tuple[int, Path]]] = {}
    for place, piece in stream.events():
        if piece.kind == "body":
            continue
        for path in _texts(piece.payload, keys, free):
            if path == _ECHOED:
                continue
            shown = ".".join("*" if isinstance(step, int) else step for step in path)
            inner = _inner_type(piece.payload, path)
            kind = TextKind("/".join(filter(None, (piece.type or piece.name, inner))), shown)
            found.setdefault(kind, []).append((place, path))
    return found


def _inner_type(payload: Any, path: Path) -> str:
    holders = [value_at(payload, *path[:end]) for end in range(1, len(path))]
    types = [h.get(k) for h in holders if isinstance(h, dict) for k in _KINDS]
    return "/".join(t for t in types if isinstance(t, str))


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


def edited(stream: Stream, place: int, path: Path, edit: str) -> Stream:
    """The stream with one text edited."""
    payload = stream.pieces[place].payload
    holder, key = path[:-1], path[-1]
    assert isinstance(key, str)
    if edit in OTHERS:
        return stream.with_payload(place, put_at(payload, path, OTHERS[edit]))
    less = cut_at(payload, path)
    if edit == "misspelt":
        misspelt = key[: len(key) // 2] + key[len(key) // 2 + 1 :]
        less = put_at(less, (*holder, misspelt), value_at(payload, *path))
    return stream.with_payload(place, less)


def holders(
    found: dict[TextKind, list[tuple[int, Path]]],
) -> dict[TextKind, list[tuple[int, Path]]]:
    """What holds those texts, by kind, with the places."""
    held: dict[TextKind, dict[tuple[int, Path], None]] = {}
    for kind, places in found.items():
        for place, path in places:
            for end in range(1, len(path)):
                if isinstance(path[end - 1], str):
                    shown = ".".join("*" if isinstance(step, int) else step for step in path[:end])
                    held.setdefault(TextKind(kind.event, shown), {})[place, path[:end]] = None
    return {kind: list(places) for kind, places in held.items()}


def type_places(
    stream: Stream, found: dict[TextKind, list[tuple[int, Path]]]
) -> dict[TextKind, list[tuple[int, Path]]]:
    """The types of the events and parts that hold those texts."""
    typed: dict[TextKind, dict[tuple[int, Path], None]] = {}
    for kind, places in found.items():
        for place, path in places:
            payload = stream.pieces[place].payload
            for end in range(len(path)):
                holder = value_at(payload, *path[:end])
                for key in _KINDS:
                    if isinstance(holder, dict) and isinstance(holder.get(key), str):
                        own = TextKind(kind.event, f"{end}:{key}")
                        typed.setdefault(own, {})[place, (*path[:end], key)] = None
    return {kind: list(places) for kind, places in typed.items()}


def mistyped(stream: Stream, place: int, path: Path) -> Stream:
    """The stream with a letter less in a type."""
    payload = stream.pieces[place].payload
    word = value_at(payload, *path)
    return stream.with_payload(
        place, put_at(payload, path, word[: len(word) // 2] + word[len(word) // 2 + 1 :])
    )
