"""Line ends in what `curl --trace-ascii` shows, where each of them is a dot.

A dot is a line end where no dot can stand: outside of the strings of JSON, but between digits; and
behind a field of an event stream, where another field follows, or the end.
"""

from __future__ import annotations

import re
from typing import Final

_JSON_TOKEN: Final = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]|(?<!\d)\.|\.(?!\d)', re.DOTALL
)
_DATA: Final = re.compile(rb"data: ?(?=[\[{])")
_NEXT_FIELD: Final = re.compile(rb"(?<!\.)\.++(?=data:|event:|id:|retry:|: |\Z)")
_DOTS: Final = re.compile(rb"[.\r\n]*")


def restore_line_ends(shown: bytes) -> bytes:
    """The text with LF in the places of such dots; its length stays. Linear in its length."""
    found = bytearray(shown)
    at = 0
    while at < len(found):
        data = _DATA.match(found, at)
        begins = data.end() if data else at
        if found.startswith((b"{", b"["), begins):
            end = _restore_json(found, begins)
        else:
            following = _NEXT_FIELD.search(found, at)
            end = following.start() if following else len(found)
        behind = _DOTS.match(found, end)
        stop = behind.end() if behind else end
        found[end:stop] = found[end:stop].replace(b".", b"\n")
        at = max(stop, at + 1)
    return bytes(found)


def _restore_json(found: bytearray, begins: int) -> int:
    """Restores inside one JSON value; where it ends."""
    depth = 0
    for token in _JSON_TOKEN.finditer(found, begins):
        first = token[0][:1]
        if first == b".":
            found[token.start()] = 10  # LF
        elif first in b"[{":
            depth += 1
        elif first in b"]}":
            depth -= 1
            if depth == 0:
                return token.end()
    return len(found)
