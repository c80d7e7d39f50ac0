"""Where the values of a JSON file stand in it, found again without a parser of our own.

Elements of an array follow each other, so each is looked for behind the one before: linear time.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import msgspec

# A string, or the white space between tokens.
_TOKEN: Final = re.compile(rb'("[^"\\]*+(?:\\.[^"\\]*+)*+")|[ \t\r\n]++', re.DOTALL)
_Fields = dict[str, msgspec.Raw]


class Part(NamedTuple):
    """A value as it is spelled, and the 1-based line on which it begins."""

    line: int
    raw: bytes

    @property
    def compact(self) -> bytes:
        """The value on one line."""
        return _TOKEN.sub(lambda token: token[1] or b"", self.raw)


def part(data: bytes, *path: str) -> Part:
    """The value at a path of keys. KeyError if there is none; `data` is known to be JSON."""
    raw, at = data, 0
    for key in path:
        inner = bytes(msgspec.json.decode(raw, type=_Fields)[key])
        at += raw.index(inner)
        raw = inner
    return Part(1 + data.count(b"\n", 0, at), raw)


def array_elements(data: bytes, *path: str) -> list[Part]:
    """The elements of the array at a path of keys; as `part`."""
    line, raw = part(data, *path)
    found, at = [], 0
    for element in map(bytes, msgspec.json.decode(raw, type=list[msgspec.Raw])):
        start = raw.index(element, at)
        line += raw.count(b"\n", at, start)
        found.append(Part(line, element))
        line += element.count(b"\n")
        at = start + len(element)
    return found
