"""Heads of plain requests, read at once; whatever is not plain is left to h11.

Plain is what nearly every client sends: HTTP/1.1, a path, one host, at most one content-length, no
transfer coding, no expectation. Such a head means the same to h11, at a tenth of the cost.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

Fields = tuple[tuple[str, str], ...]

_HEAD: Final = re.compile(
    rb"([A-Z]{1,20}+) (/[!-~]*+) HTTP/1\.1\r\n"
    rb"((?:[!#$%&'*+.^_`|~0-9A-Za-z-]++:[\t -~\x80-\xff]*+\r\n)*+)\r\n"
)
_FIELD: Final = re.compile(r"([^:]+):[ \t]*([^\r]*?)[ \t]*\r\n")
_LENGTH: Final = re.compile(r"[0-9]{1,15}")
# Whoever says one of these wants something that is not plain.
_OTHERS: Final = frozenset({"expect", "transfer-encoding", "upgrade"})
_METHOD: Final = b"CONNECT"


class PlainHead(NamedTuple):
    """A head, `size` bytes long, and how long the body behind it is."""

    method: str
    target: str
    headers: Fields
    size: int
    length: int
    closes: bool


def plain_head(data: bytes | bytearray) -> PlainHead | None:
    """The head that `data` begins with; None if it is not plain, or not whole."""
    found = _HEAD.match(data)
    if found is None or found[1] == _METHOD:
        return None
    fields = tuple((k.lower(), v) for k, v in _FIELD.findall(found[3].decode("latin-1")))
    named = dict(fields)
    length = named.get("content-length", "0")
    names = [name for name, _ in fields if name in ("host", "content-length")]
    if len(names) != len(set(names)) or "host" not in named or not _OTHERS.isdisjoint(named):
        return None
    if not _LENGTH.fullmatch(length):
        return None
    closes = any("close" in value.lower() for name, value in fields if name == "connection")
    method, target = found[1].decode("ascii"), found[2].decode("ascii")
    return PlainHead(method, target, fields, found.end(), int(length), closes)
