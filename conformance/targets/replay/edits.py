"""Legal edits of an SSE body, chunk by chunk: what they add, a correct client never notices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle
from typing import Final

from conformance.core.events import Chunk

# The second looks like a field, the third is the shortest there is.
_COMMENTS: Final = (b": keep-alive", b":data: no data", b":")
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_BARE_LF: Final = re.compile(rb"(?<!\r)\n")
_BOM: Final = b"\xef\xbb\xbf"


def with_crlf(chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """Every line that ends with LF ends with CR LF; a lone CR stays."""
    edited, after_cr = [], False
    for chunk in chunks:
        data = chunk.data
        # The LF that ends a CR LF across two chunks is no bare one.
        first, rest = (data[:1], data[1:]) if after_cr and data[:1] == b"\n" else (b"", data)
        edited.append(Chunk(first + _BARE_LF.sub(b"\r\n", rest), chunk.ms))
        after_cr = data.endswith(b"\r") if data else after_cr
    return tuple(edited)


def with_comments(chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """A comment line before every other line: between events, and between an event's lines."""
    body = b"".join(chunk.data for chunk in chunks)
    return tuple(_with_texts(chunks, _comment_lines(body)))


def _comment_lines(body: bytes) -> Iterator[tuple[int, bytes]]:
    texts = cycle(_COMMENTS)
    start = len(_BOM) if body.startswith(_BOM) else 0
    for number, line_end in enumerate(_LINE_END.finditer(body)):
        # Never before a blank line: its event would be dispatched a chunk later.
        if number % 2 == 0 and line_end.start() > start:
            yield start, next(texts) + line_end[0]
        start = line_end.end()


def _with_texts(
    chunks: Sequence[Chunk], insertions: Iterable[tuple[int, bytes]]
) -> Iterator[Chunk]:
    """Each insertion goes into the chunk that holds the byte in front of which it stands."""
    waiting = iter(insertions)
    at, text = next(waiting, (-1, b""))
    start = 0
    for chunk in chunks:
        stop, done, parts = start + len(chunk.data), start, []
        while start <= at < stop:
            parts += [chunk.data[done - start : at - start], text]
            done = at
            at, text = next(waiting, (-1, b""))
        yield Chunk(b"".join((*parts, chunk.data[done - start :])), chunk.ms)
        start = stop
