"""Data lines that stand together, read in one go; nearly all lines of a cassette are such.

A *plain* line is an object with `text` and perhaps `ms`, and nothing else. Plain lines are decoded
as one JSON array with a raw line feed behind each comma. Every line begins an object with a key,
so a value cannot go on over a line; a line that held two values would make one too many.
Whatever is not certain is left to `records`, which reads line by line and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from conformance.cassette.records import Milliseconds

_BEGINNINGS: Final = (b'{"ms":', b'{"text":')


class Plain(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One data line; `ms` begins a chunk."""

    text: str
    ms: Milliseconds | UnsetType | None = UNSET


_PLAIN: Final = msgspec.json.Decoder(list[Plain])


def plain_extent(lines: Sequence[bytes], at: int) -> int:
    """The index behind the last of the lines from `at` on that look plain."""
    upto = at
    while upto < len(lines) and lines[upto].startswith(_BEGINNINGS):
        upto += 1
    return upto


def decode_plain(lines: Sequence[bytes]) -> list[Plain] | None:
    """What the lines hold; None unless each of them is plain."""
    try:
        found: list[Plain] = _PLAIN.decode(b"[" + b",\n".join(lines) + b"]")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return found if len(found) == len(lines) else None
