"""Blocks that dispatch nothing, to stand between two events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

# Where a delta that must not be read is put.
_HERE: Final = b"@POISON@"
# Line ends to str.splitlines() of Python and to some readers of characters, not to the standard.
_NO_LINE_ENDS: Final = ("\v", "\f", "\x1c", "\x1d", "\x1e", "\u0085", "\u2028", "\u2029")

_BLOCKS: Final = {
    "A-block-without-data": b"event: ping\n\n",
    "A-only-an-id": b"id: 7\n\n",
    "A-id-non-ascii": "id: \u2026\n\n".encode(),
    "A-id-with-nul": b"id: 7\0\n\nid: \0\n\n",
    "A-id-emptied": b"id: 7\n\nid\n\nid:\n\n",
    "A-unknown-field": b"weather: fine\n\n",
    "A-line-without-colon": b"justsometext\n\n",
    "A-name-in-another-case": b"Data: @POISON@\nDATA: @POISON@\n\n",
    "A-name-with-space": b" data: @POISON@\ndata : @POISON@\n\n",
    "A-name-that-goes-on": b"data_5: @POISON@\nda-ta: @POISON@\ndatas: @POISON@\n\n",
    "A-name-with-nul": b"data\0: @POISON@\n\0data: @POISON@\n\n",
    "A-bom-mid-stream": b"\xef\xbb\xbfdata: @POISON@\n\n",
    "A-comment-like-done": b": data: [DONE]\n\n",
    "A-comments": b":\n:\0\n:" + b"x" * 2048 + b"\n:data: @POISON@\n:data: @POISON@\r\n\n",
    "A-comments-that-go-on": b"".join(
        b": a" + each.encode() + b"data: @POISON@\n\n" for each in _NO_LINE_ENDS
    ),
    "A-retry-empty": b"retry\n\nretry:\n\n",
    "A-retry-bogus": b"retry: bogus\n\nretry: 1000x\n\n",
    "A-retry-signed": b"retry: +5\nretry: -5\nretry: 5.0\nretry: 0x10\n\n",
    "A-retry-fullwidth": "retry: \uff11\uff10\uff10\n\n".encode(),
    "A-retry-trailing-space": b"retry: 100 \n\n",
    "A-retry-leading-zero": b"retry: 03000\n\n",
}


def blocks(poison: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every block; `poison` is the payload of a delta."""
    for name, block in _BLOCKS.items():
        yield name, block.replace(_HERE, poison)
