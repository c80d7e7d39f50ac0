"""JSON values: what is none, and copies in which one place holds something else, or nothing.

A path is a tuple of keys and list positions. Values are never changed in place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

Path = tuple[str | int, ...]

MOST_DEPTH: Final = 256
_SHALLOW: Final = (
    2 * MOST_DEPTH
)  # characters in which nothing nests deeper: a bracket opens, one closes
# Each may take 240 bytes where it is an object of its own; a text that is shorter holds no more.
MOST_VALUES: Final = 4 * 1024 * 1024
_DECODE: Final = msgspec.json.Decoder().decode
_ENCODE: Final = msgspec.json.Encoder().encode
_BRACKETS: Final = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS: Final = bytes(each for each in range(128) if each not in b"[]{}")
_TOO_MANY: Final = b"[" * (MOST_DEPTH + 1)


class _NotJson:
    def __repr__(self) -> str:
        return "NOT_JSON"


NOT_JSON: Final = _NotJson()
"""The payload of a frame whose data is not one JSON value."""


def decode_json(text: str) -> Any:
    """The JSON value of a frame's data, or NOT_JSON.

    NaN and broken text are not JSON, and neither is what nests deeper than comparing it could go,
    or holds more than `MOST_VALUES`.
    """
    if len(text) > _SHALLOW and _may_be_deep(text) and _nests_too_deep(text):
        return NOT_JSON
    if len(text) > MOST_VALUES and _value_count(text) > MOST_VALUES:
        return NOT_JSON
    try:
        return _DECODE(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return NOT_JSON


def repeated_key(text: str, value: Any) -> str:
    """A key that an object of this JSON text has twice; empty where none has.

    `value` is what the text was decoded to, where the last of both is left: written again, it has
    fewer colons after a quote than the text. Whether that is why is then looked up; so it is where
    the text is written in a way that leaves the count open.
    """
    if not isinstance(value, dict | list):
        return ""
    try:
        is_plain = "\\u0022" not in text and '" :' not in text
        if is_plain and text.count('":') <= _ENCODE(value).count(b'":'):
            return ""
        _KEYS_IN_PAIRS(text)
    except _RepeatedKeyError as found:
        return str(found)
    except (ValueError, RecursionError):
        return ""
    return ""


class _RepeatedKeyError(Exception):
    """Its text is the key."""


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _RepeatedKeyError(key)
        seen.add(key)


_KEYS_IN_PAIRS: Final = json.JSONDecoder(object_pairs_hook=_refuse_repeated).decode


def _may_be_deep(text: str) -> bool:
    return text.count("[") + text.count("{") > MOST_DEPTH


def _nests_too_deep(text: str) -> bool:
    """Whether something is left when the innermost brackets are taken away `MOST_DEPTH` times."""
    outside = text.replace("\\\\", "").replace('\\"', "").split('"')[::2]
    brackets = "".join(outside).encode("ascii", "ignore").translate(_BRACKETS, _NO_BRACKETS)
    for _ in range(MOST_DEPTH):
        # To search a long run of openings again each time would take seconds.
        if not brackets or _TOO_MANY in brackets:
            break
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def _value_count(text: str) -> int:
    """At least the number of values, without those that stand alone in a list."""
    return sum(map(text.count, ",[{"))


def value_at(value: Any, *path: str | int) -> Any:
    """What is at a path; None where there is nothing."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def put_at(value: Any, path: Path, new: Any) -> Any:
    """A copy with `new` at a path; objects on the way are made where there are none."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(step, int):
        return [put_at(each, rest, new) if n == step else each for n, each in enumerate(value)]
    known = value if isinstance(value, dict) else {}
    return {**known, step: put_at(known.get(step), rest, new)}


def cut_at(value: Any, path: Path) -> Any:
    """A copy with nothing at a path; the value itself where nothing is there."""
    *above, last = path
    holder = value_at(value, *above)
    if isinstance(holder, list):
        kept: Any = [each for n, each in enumerate(holder) if n != last]
    elif isinstance(holder, dict):
        kept = {key: each for key, each in holder.items() if key != last}
    else:
        return value
    return put_at(value, tuple(above), kept)


def text_at(value: Any, *path: str | int) -> str:
    """The string at a path; empty where there is none."""
    found = value_at(value, *path)
    return found if isinstance(found, str) else ""


def list_at(value: Any, *path: str | int) -> list[Any]:
    """The list at a path; empty where there is none."""
    found = value_at(value, *path)
    return found if isinstance(found, list) else []


def all_texts(value: Any) -> Iterator[str]:
    """Every text in a value, in order; keys are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from all_texts(each)
