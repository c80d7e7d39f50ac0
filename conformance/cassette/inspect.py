"""Shows a recorded stream as it was: the real lines, beside a gutter of time, chunks and events.

    +ms      chunk  event
    0.3         #1      1 | event: response.created
                          | data: {...}
    52.2        #2        : se.in_progress

`|` begins a line of the stream, `:` goes on with it where another chunk begins inside. Times are
milliseconds since the response head. Events are numbered as frames are, from 1. A binary message
is a line, and its headers and payload are told where it came in one piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from conformance.core.binary import read_text_message
from conformance.core.clock import chunk_times
from conformance.core.events import Exchange, Response
from conformance.core.excerpts import clipped
from conformance.core.framing import exchange_frames, framing_of

_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_HEAD: Final = f"{'+ms':>10} {'chunk':>7} {'event':>6}"
_CLIP: Final = 400
# What would move, hide or reorder text on a terminal.
_CONTROL: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)


class _LinePiece(NamedTuple):
    """A stretch of one line within one chunk; `chunk` is its number where it begins here."""

    start: int
    stop: int
    chunk: int | None
    begins_line: bool


def inspect(exchange: Exchange, *, full: bool = False) -> Iterator[str]:
    """The exchange as lines of text; long lines are clipped unless `full`."""
    yield from _head_lines(exchange)
    body = exchange.body
    events = _event_numbers(exchange)
    times = _chunk_times(exchange)
    for piece in _line_pieces(exchange, body):
        gutter = _gutter_text(piece, times, events)
        text = _message_text(body, piece) or visible(body[piece.start : piece.stop])
        bar = "|" if piece.begins_line else ":"
        yield f"{gutter} {bar} {text if full else _clip_line(text)}"
    yield f"* end: {exchange.end}"


def visible(data: bytes) -> str:
    r"""Text that is safe to print: control characters as pictures or escapes, a final LF left out.

    Bytes that are not UTF-8 by themselves become `\\xNN`.
    """
    text = data.removesuffix(b"\n").decode("utf-8", "backslashreplace")
    return _CONTROL.sub(_control_picture, text)


def _head_lines(exchange: Exchange) -> Iterator[str]:
    request, response = exchange.request, exchange.response
    if request is not None:
        yield f"> {_printable(request.method)} {_printable(request.path)}"
        if (raw := request.raw) is not None:
            shown = _printable(clipped(raw.decode("utf-8", "replace"), _CLIP))
            yield f"> {len(raw)} bytes that are not JSON: {shown}"
    if response is not None:
        yield f"< {_status_line(response)}"
        yield from (
            f"< {_printable(name)}: {_printable(value)}" for name, value in response.headers
        )
    yield _HEAD


def _status_line(response: Response) -> str:
    status = "status not recorded" if response.status is None else str(response.status)
    return f"{status} HTTP/{_printable(response.http)}" if response.http else status


def _printable(text: str) -> str:
    return visible(text.encode("utf-8", "surrogateescape"))


def _line_pieces(exchange: Exchange, body: bytes) -> Iterator[_LinePiece]:
    """Chunks, cut where lines begin; an empty chunk has a piece of its own."""
    starts = _line_starts(exchange, body)
    at = 0  # the first of `starts` that is not behind us
    stop = 0
    for number, chunk in enumerate(exchange.chunks, 1):
        start, stop = stop, stop + len(chunk.data)
        mark: int | None = number
        while True:
            begins = at < len(starts) and starts[at] == start
            at += begins and stop > start
            cut = starts[at] if at < len(starts) and starts[at] < stop else stop
            yield _LinePiece(start, cut, mark, begins)
            start, mark = cut, None
            if start >= stop:
                break


def _line_starts(exchange: Exchange, body: bytes) -> list[int]:
    """Where lines begin, or binary messages; one more behind the last where it has ended."""
    if framing_of(exchange) == "binary":
        return sorted({frame.offset for frame, _ in exchange_frames(exchange)})
    starts = [line.start() for line in _LINE.finditer(body)]
    return [*starts, len(body)] if not body or body.endswith((b"\r", b"\n")) else starts


def _message_text(body: bytes, piece: _LinePiece) -> str:
    """A binary message of texts that came in one chunk, its headers before its payload."""
    found = read_text_message(body, piece.start) if piece.begins_line else None
    if found is None or found[2] != piece.stop - piece.start:
        return ""
    headers = ", ".join(f"{name} {value}" for name, value in found[0].items())
    return visible(f"{headers}: {found[1]}".encode())


def _chunk_times(exchange: Exchange) -> list[str]:
    """Per chunk, the time since the response head; empty from where no clock was kept."""
    return ["" if ms is None else f"{ms:.1f}" for _, ms in chunk_times(exchange.chunks)]


def _event_numbers(exchange: Exchange) -> dict[int, str]:
    """Offset -> the numbers of the frames that begin there."""
    numbers: dict[int, str] = {}
    for number, (frame, _) in enumerate(exchange_frames(exchange), 1):
        before = f"{numbers[frame.offset]}," if frame.offset in numbers else ""
        numbers[frame.offset] = f"{before}{number}"
    return numbers


def _gutter_text(piece: _LinePiece, times: list[str], events: Mapping[int, str]) -> str:
    chunk = f"#{piece.chunk}" if piece.chunk is not None else ""
    time = times[piece.chunk - 1] if piece.chunk is not None else ""
    event = events.get(piece.start, "") if piece.stop > piece.start else ""
    return f"{time:>10} {chunk:>7} {event:>6}"


def _clip_line(text: str) -> str:
    return text if len(text) <= _CLIP else f"{clipped(text, _CLIP)}... ({len(text) - _CLIP} more)"


def _control_picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\\u{code:04x}"
