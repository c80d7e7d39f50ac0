"""JSON as `json.dumps(value, indent=2)` writes it, in pieces: some would not fit into memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec


def indented_json(value: dict[str, Any]) -> Iterator[str]:
    """The object and a line end, in pieces that end with a line or after a value.

    An iterator in it is written as a list, one value after the other, and so is one in such a
    value. Raises ValueError for a number that JSON cannot hold.
    """
    yield from _value_pieces(value, "\n")
    yield "\n"


def _value_pieces(value: Any, line: str) -> Iterator[str]:
    """`line` is a line end with the spaces that the value's own lines begin with."""
    deeper = f"{line}  "
    if isinstance(value, dict) and any(isinstance(each, Iterator) for each in value.values()):
        opening = "{"
        for name, each in value.items():
            yield f"{opening}{deeper}{json.dumps(name)}: "
            yield from _value_pieces(each, deeper)
            opening = ","
        yield f"{line}}}"
    elif isinstance(value, Iterator):
        opening = "["
        for each in value:
            yield f"{opening}{deeper}"
            yield from _value_pieces(each, deeper)
            opening = ","
        yield "[]" if opening == "[" else f"{line}]"
    else:
        # No string holds a line end: JSON escapes it.
        yield _indent_value(value).replace("\n", line)


def _indent_value(value: Any) -> str:
    """As the standard library, which indents in Python and takes several times as long."""
    plain = json.dumps(value, allow_nan=False)
    try:
        return msgspec.json.format(plain, indent=2)
    except msgspec.DecodeError:  # half a surrogate pair, which a recording may hold
        return json.dumps(value, indent=2, allow_nan=False)
