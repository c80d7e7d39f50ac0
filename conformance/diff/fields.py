"""The fields of events of one type: paths, kinds of values, frequency, characteristic words.

Rule 1: texts of the model, ids, times and counts do not belong to the shape: of values only a few
words are kept (a role, a status, a reason), of ids the beginning (`resp_`).
Rule 2: a list counts by its elements, an object with a `type` by that type, so an output item of
another kind is not a change of the first.
Rule 3: free-form values (arguments, metadata, schemas) are not examined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field

from conformance.dialects import WIRE_KEYS

_FREE: Final = frozenset(WIRE_KEYS.free)
# Lists whose elements are separate events, below payloads of these types.
_UNROLLED: Final = frozenset(WIRE_KEYS.unrolled)
_UNROLLING: Final = WIRE_KEYS.unrolling
_WORDS: Final = frozenset(WIRE_KEYS.words)
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]{0,47}")
_PREFIX: Final = re.compile(r"[a-z]{1,12}[-_]")
_MOST_PATHS: Final = 4000
_MOST_WORDS: Final = 12
_MOST_DEPTH: Final = 16
_NAME: Final = 80  # characters of one key


class FieldShape(Struct):
    """One path: the kinds of its values, the number of objects that have it, and its words."""

    kinds: set[str] = field(default_factory=set)
    count: int = 0
    words: set[str] = field(default_factory=set)


class FieldShapes(Struct):
    """The fields of all events of an exchange. `objects` counts the objects at a path.

    A path is a tuple, the event's type first. `is_clipped`: a stream invented too many of them.
    """

    paths: dict[tuple[str, ...], FieldShape] = field(default_factory=dict)
    objects: dict[tuple[str, ...], int] = field(default_factory=dict)
    is_clipped: bool = False

    def add_payload(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Takes the payload of one wire event."""
        pending: list[tuple[tuple[str, ...], Any]] = [((kind,), payload)]
        while pending:
            path, value = pending.pop()
            pending.extend(self._inner_values(path, value))

    def _inner_values(
        self, path: tuple[str, ...], value: Any
    ) -> Iterator[tuple[tuple[str, ...], Any]]:
        if isinstance(value, Mapping):
            self.objects[path] = self.objects.get(path, 0) + 1
            for key, inner in value.items():
                below = (*path, str(key)[:_NAME])
                if self._note_field(below, inner) and not _is_opaque(below):
                    yield _typed_path(below, inner), inner
        elif isinstance(value, list | tuple):
            yield from ((_typed_path((*path[:-1], f"{path[-1]}[]"), each), each) for each in value)

    def _note_field(self, path: tuple[str, ...], value: Any) -> bool:
        known = self.paths.get(path)
        if known is None:
            if len(self.paths) >= _MOST_PATHS:
                self.is_clipped = True
                return False
            known = self.paths[path] = FieldShape()
        known.count += 1
        known.kinds.add(_value_kind(value))
        word = _telling_word(path[-1], value)
        if word and len(known.words) < _MOST_WORDS:
            known.words.add(word)
        return True


def parent_path(path: tuple[str, ...], objects: Mapping[tuple[str, ...], int]) -> tuple[str, ...]:
    return path[:-1] if path[:-1] in objects else path[:1]


def _is_opaque(path: tuple[str, ...]) -> bool:
    """Whether nothing below a path is looked at."""
    is_unrolled = path[-1] in _UNROLLED and path[0].startswith(_UNROLLING)
    return is_unrolled or path[-1] in _FREE or len(path) >= _MOST_DEPTH


def _typed_path(path: tuple[str, ...], value: Any) -> tuple[str, ...]:
    stated = value.get("type") if isinstance(value, Mapping) else None
    if isinstance(stated, str) and _WORD.fullmatch(stated):
        return (*path[:-1], f"{path[-1]}<{stated}>")
    return path


def _value_kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    kinds = ((str, "string"), (int | float, "number"), (Mapping, "object"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "array")


def _telling_word(key: str, value: Any) -> str:
    if not isinstance(value, str):
        return ""
    if key == "id" or key.endswith("_id"):
        prefix = _PREFIX.match(value)
        return f"{prefix[0]}*" if prefix else ""
    return value if key in _WORDS and _WORD.fullmatch(value) else ""
