"""How a chunk is cut into data lines: at event ends, so that a line stays readable.

The cut depends on the chunk's bytes and the content type alone, so writing what was read gives
the same lines again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, Literal

from conformance.core.binary import read_text_message
from conformance.core.framing import Framing

Encoding = Literal["text", "hex", "message"]

# A CR LF counts once: a CR only ends a line by itself where no LF follows.
_BLANK_LINE: Final = re.compile(rb"(?:\r\n|\r(?!\n)|\n){2,}")
_LINE_END: Final = re.compile(rb"\n+")
# Escapes make six bytes of one, so a line stays far below the reader's cap.
_LONGEST: Final = 1024 * 1024
# Undecodable bytes come through `surrogateescape` as these; one line for each run of them.
_STRAY: Final = re.compile(r"([\udc80-\udcff]+)")
_FEW: Final = 16


def segments(data: bytes, framing: Framing | None = None) -> Iterator[tuple[Encoding, Any]]:
    """The chunk's data lines; for an empty chunk one empty text.

    `framing` is what the content type says of it. A `message` is headers and payload of a binary
    one, whose lengths and checksums follow from these.
    """
    if not data:
        yield "text", ""
    start = 0
    while framing == "binary" and (found := read_text_message(data, start)):
        headers, payload, length = found
        yield "message", {"headers": headers, "payload": payload}
        start += length
    if framing == "binary":
        for at in range(start, len(data), _LONGEST):
            yield "hex", data[at : at + _LONGEST].hex()
        return
    for match in (_LINE_END if framing == "lines" else _BLANK_LINE).finditer(data):
        yield from _bounded_pieces(data[start : match.end()])
        start = match.end()
    yield from _bounded_pieces(data[start:])


def message_segments(data: bytes, *, binary: bool) -> Iterator[tuple[Encoding, str]]:
    """The data lines of one message, at least one; `hex` says by itself that it is binary.

    So a text whose first bytes are none is kept as binary: no WebSocket may carry it.
    """
    for start in range(0, max(1, len(data)), _LONGEST):
        piece = data[start : start + _LONGEST]
        try:
            text = None if binary else piece.decode()
        except UnicodeDecodeError:
            text = None
        yield ("hex", piece.hex()) if text is None else ("text", text)


def plain_segments(data: bytes, framing: Framing | None = None) -> list[str]:
    """As `segments`, for events or lines of plain ASCII, as most chunks are; none says nothing."""
    end = "\n" if framing == "lines" else "\n\n"
    if (
        framing == "binary"
        or not data.isascii()
        or len(data) > _LONGEST
        or b"\r" in data
        or b"\x7f" in data
    ):
        return []
    text = data.decode("ascii")
    if f"{end}\n" in text:
        return []
    *events, rest = text.split(end)
    pieces = [event + end for event in events]
    return [*pieces, rest] if rest else pieces


def _bounded_pieces(piece: bytes) -> Iterator[tuple[Encoding, str]]:
    start = 0
    while start < len(piece):
        stop = min(start + _LONGEST, len(piece))
        # Step back to the start of a character: at most three continuation bytes.
        for _ in range(3):
            if stop < len(piece) and piece[stop] & 0xC0 == 0x80:
                stop -= 1
        yield from _encoded_runs(piece[start:stop])
        start = stop


def _encoded_runs(piece: bytes) -> Iterator[tuple[Encoding, str]]:
    text = piece.decode("utf-8", "surrogateescape")
    runs = _STRAY.split(text)
    if len(runs) > _FEW:
        yield "hex", piece.hex()
        return
    for index, run in enumerate(runs):
        if run and index % 2:
            yield "hex", run.encode("utf-8", "surrogateescape").hex()
        elif run:
            yield "text", run
