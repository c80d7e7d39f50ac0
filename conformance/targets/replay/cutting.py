"""Chunks of a body, cut again or edited: what this does, a correct client never notices.

A cut changes no bytes, only where one chunk ends and the next begins; a piece comes when its last
byte came in the recording. An edit adds what the format of events allows.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, cycle, takewhile
from typing import Final

from conformance.core.binary import message_length
from conformance.core.events import STREAMED, Chunk
from conformance.core.framing import Framer, Framing
from conformance.targets.replay.options import Chunking

# Milliseconds to wait before, and the bytes. A chunk without a clock does not wait.
TimedChunk = tuple[float, bytes]

_SHARE: Final = 0.4  # of the sore spots, for one seed
_SIZES: Final = (1, 2, 3, 7, 40, 300, 4096)
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)")
# Where a cut inside is worth a try: field names up to the space, CR LF and blank lines, characters.
_SORE: Final = re.compile(rb"data: ?|event: ?|[\r\n]{2,}|[\x80-\xff]{2,}")
# The second looks like a field, the third is the shortest there is.
_COMMENTS: Final = (b": keep-alive", b":data: no data", b":")
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_BARE_LF: Final = re.compile(rb"(?<!\r)\n")
_BOM: Final = b"\xef\xbb\xbf"


def frame_ends(body: bytes, framing: Framing) -> tuple[int, ...]:
    """Where each event, line, element or message of a body ends: after the byte that completes it.

    What completes no event has no end: a block without data, a comment, a blank line. Of raw text
    it is where each marker ends, and each line between markers.
    """
    framer = Framer(framing=framing)
    if framing == "binary":
        starts = [frame.offset for frame in framer.feed(body) if frame.kind in STREAMED]
        lengths = (message_length(body, start) for start in starts)
        return tuple(start + length for start, length in zip(starts, lengths, strict=True))
    if framing == "text":
        starts = [frame.offset for frame in (*framer.feed(body), *framer.close())]
        return (*starts[1:], len(body)) if starts else ()
    if framing == "array":  # an element ends at its last bracket, wherever lines end
        elements = (frame for frame in framer.feed(body) if frame.kind == "element")
        return tuple(frame.offset + len(frame.data.encode()) for frame in elements)
    return tuple(
        line.end()
        for line in _LINE.finditer(body)
        if any(frame.kind in STREAMED for frame in framer.feed(line[0]))
    )


def cut_chunks(
    chunks: Sequence[Chunk], chunking: Chunking, *, ends: Iterable[int] = (), salt: str = ""
) -> Iterator[TimedChunk]:
    """The chunks, cut again. `ends` are the frame ends; `salt` makes one seed serve many bodies."""
    if chunking.kind == "recorded":
        return ((chunk.ms or 0.0, chunk.data) for chunk in chunks)
    body = b"".join(chunk.data for chunk in chunks)
    if chunking.kind == "events":
        return _with_times(chunks, body, ends)
    if chunking.kind == "bytes":
        return _with_times(chunks, body, range(chunking.number, len(body), chunking.number))
    return _with_times(chunks, body, _seeded_cuts(body, f"{chunking.number}/{salt}"))


def chunks_until(pieces: Iterable[TimedChunk], stop: int) -> Iterator[TimedChunk]:
    """The pieces up to the byte `stop`; one that straddles it is cut there."""
    left = stop
    for ms, data in pieces:
        if left <= 0:
            return
        yield ms, data[:left]
        left -= len(data)


def _seeded_cuts(body: bytes, seed: str) -> list[int]:
    rng = random.Random(seed)  # noqa: S311  # repeatable, not secret
    cuts, at = set(), rng.choice(_SIZES)
    while at < len(body):
        cuts.add(at)
        at += rng.choice(_SIZES)
    for spot in _SORE.finditer(body):
        cuts.update(at for at in range(spot.start() + 1, spot.end()) if rng.random() < _SHARE)
    return sorted(cuts)


def _with_times(chunks: Sequence[Chunk], body: bytes, cuts: Iterable[int]) -> Iterator[TimedChunk]:
    sizes = list(accumulate(len(chunk.data) for chunk in chunks))
    clock = list(accumulate(chunk.ms or 0.0 for chunk in chunks))
    at, now = 0, 0.0
    for stop in chain(takewhile(lambda cut: cut < len(body), cuts), (len(body),)):
        if stop > at:
            came = clock[bisect_right(sizes, stop - 1)]
            yield came - now, body[at:stop]
            at, now = stop, came


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


def with_flipped_bit(chunks: Sequence[Chunk], stop: int) -> tuple[Chunk, ...]:
    """The lowest bit of the byte before `stop` is another one; at 0 nothing is."""
    edited, at = [], 0
    for chunk in chunks:
        place, at = stop - 1 - at, at + len(chunk.data)
        data = bytearray(chunk.data)
        if 0 <= place < len(data):
            data[place] ^= 1
        edited.append(Chunk(bytes(data), chunk.ms))
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
