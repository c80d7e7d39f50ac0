"""JSON bodies in one form, so that equal requests are equal whatever their spelling.

Rule 1: the order of keys, whitespace, escapes and the form of a number (`1`, `1.0`, `1e0`) say
nothing. Everything else does: `null` is not the same as a key that is missing.
Rule 2: fields that the caller ignores are left out, on both sides.
Rule 3: a redacted recording holds a stand-in where the client under test sends its key. Both stand
in a place that redaction knows (a field such as `api_key`, or text of a key's shape), so masked
both are the same blank. Opaque reasoning data is compared as it is: a client has it from the
recorded answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from conformance.cassette.redaction.opaque import find_secrets

# A path through objects and lists; "*" stands for any key or index.
KeyPath = tuple[str, ...]

_NOT_JSON: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_BLANK: Final = b"*"
_RUNS: Final = re.compile(rb"\x00+")
_MOST_VISITS: Final = 100_000


def parse_paths(spellings: Sequence[str]) -> tuple[KeyPath, ...]:
    """Dotted paths: `user`, `messages.*.id`."""
    return tuple(tuple(spelling.split(".")) for spelling in spellings)


def canonical_json(body: bytes, ignored: Sequence[KeyPath] = ()) -> bytes | None:
    """The one form of this JSON text; None if it is none, or nested too deeply."""
    try:
        value = _DECODER.decode(body)
        for path in ignored:
            _remove_field(value, path)
        return msgspec.json.encode(value, order="sorted")
    except _NOT_JSON:
        return None


def canonical_value(value: Any, ignored: Sequence[KeyPath] = ()) -> bytes | None:
    """As `canonical`, for a value that was decoded before."""
    try:
        return canonical_json(msgspec.json.encode(value), ignored)
    except (RecursionError, UnicodeEncodeError):
        return None


def mask_secrets(form: bytes) -> bytes:
    """The canonical body with one blank for each secret. Canonical JSON holds no NUL byte."""
    text = bytearray(form)
    for start, stop, _ in find_secrets(form):
        text[start:stop] = bytes(stop - start)
    return _RUNS.sub(_BLANK, bytes(text))


def _parse_number(literal: str) -> int | float | str:
    value = float(literal)
    if value.is_integer():
        return int(value)
    return value if abs(value) < float("inf") else literal


def _remove_field(value: Any, path: KeyPath) -> None:
    """Takes the field out of the value, in place; bounded, whatever the wildcards."""
    waiting, visits = [(value, 0)], 0
    while waiting and visits < _MOST_VISITS:
        visits += 1
        node, at = waiting.pop()
        key = path[at]
        if at + 1 < len(path):
            waiting += [(child, at + 1) for child in _child_values(node, key)]
        elif isinstance(node, dict):
            if key == "*":
                node.clear()
            node.pop(key, None)


def _child_values(node: Any, key: str) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values()) if key == "*" else [node[key]] if key in node else []
    if isinstance(node, list):
        if key == "*":
            return node
        return [node[int(key)]] if key.isdecimal() and int(key) < len(node) else []
    return []


_DECODER: Final = msgspec.json.Decoder(float_hook=_parse_number)
