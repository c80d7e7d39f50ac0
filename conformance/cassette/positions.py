"""From a byte of a body to the line of the file that holds it, worked out for findings only."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from conformance.cassette.read import CassetteReader
from conformance.core.errors import UsageError


class Layout(Struct, frozen=True):
    """Where one body is in a file: from `offsets[i]` on, it is in line `lines[i]`.

    `head` is the line of the response head, or of what comes nearest.
    """

    head: int
    offsets: Sequence[int] = ()
    lines: Sequence[int] = ()

    def line(self, offset: int) -> int:
        """The 1-based line that holds the byte; the head's for a negative offset."""
        index = bisect_right(self.offsets, offset) - 1
        return self.head if offset < 0 or index < 0 else self.lines[index]


def line_starts(body: bytes) -> Layout:
    """The layout of a file that is the body itself. Lines end at LF, as editors count them."""
    starts = [0]
    at = body.find(b"\n")
    while at >= 0:
        starts.append(at + 1)
        at = body.find(b"\n", at + 1)
    return Layout(1, tuple(starts), tuple(range(1, len(starts) + 1)))


def cassette_layout(path: Path | str, exchange: int) -> Layout:
    """The layout of one exchange of a cassette. Reads the file again; raises CassetteError."""
    where = Path(path)
    stat = where.stat() if where.exists() else None
    changing = (stat.st_ino, stat.st_size, stat.st_mtime_ns) if stat else ()
    found = _cassette_layouts(where, changing).get(exchange)
    if found is None:
        raise UsageError(f"{path} has no exchange {exchange}")
    return found


@lru_cache(maxsize=1)  # callers read the exchanges of a file one after the other
def _cassette_layouts(path: Path, _changing: tuple[int, ...]) -> dict[int, Layout]:
    """The layouts of all exchanges, for a file that has not changed since."""
    drafts = CassetteReader(path, locating=True).drafts()
    return {each.number: Layout(each.head_line, each.offsets, each.lines) for each in drafts}
