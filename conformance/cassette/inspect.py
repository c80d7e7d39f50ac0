"""Shows a recorded stream: the real lines, with a gutter of time, chunks and events.

    +ms      chunk  event
    0.3         #1      1 | event: response.created
                          | data: {...}
    52.2        #2        : se.in_progress

`|` begins a line of the stream, `:` continues it where another chunk begins inside. Times are
milliseconds since the response head. Events are numbered as frames are, from 1. A binary message
is a line, and its headers and payload are shown where it came in one piece.

Only frames that end after others which began later (an event with comments inside) are collected,
so memory does not grow with the lines.

    +ms    message  event
    0.0         #1    1.0 > {"type":"response.create","model":"m","input":"Hi"}
    412.0       #2    1.1 < {"type":"response.created","sequence_number":0, ...}

`>` is sent by the client, `<` by the server. `1.1` is event 1 of exchange 1, as findings name them;
its request is event 0. A message outside all answers has no number. A binary message that is not
text is shown with escapes.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final, NamedTuple

from conformance.cassette.connections import carried_exchanges
from conformance.cassette.header import Cassette
from conformance.core.binary import read_text_message
from conformance.core.clock import chunk_times
from conformance.core.events import Exchange, Response, SocketMessage
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
    """A stretch of one line within one chunk; `chunk` and `time` are its where it begins here."""

    start: int
    stop: int
    chunk: str
    time: str
    begins_line: bool


def inspect(exchange: Exchange, *, full: bool = False, carries: str = "") -> Iterator[str]:
    """The exchange as lines of text; long lines are clipped unless `full`.

    `carries` says which answers its request continues.
    """
    yield from head_lines(exchange, carries)
    body = exchange.body
    events = _EventNumbers(exchange)
    for piece in _line_pieces(exchange, body):
        event = events.at(piece.start) if piece.stop > piece.start else ""
        gutter = f"{piece.time:>10} {piece.chunk:>7} {event:>6}"
        text = _message_text(body, piece) or visible(body[piece.start : piece.stop])
        bar = "|" if piece.begins_line else ":"
        yield f"{gutter} {bar} {text if full else clip_line(text)}"
    yield f"* end: {exchange.end}"


def visible(data: bytes) -> str:
    r"""Text that is safe to print: control characters as pictures or escapes, a final LF left out.

    Bytes that are not UTF-8 by themselves become `\\xNN`.
    """
    text = data.removesuffix(b"\n").decode("utf-8", "backslashreplace")
    return _CONTROL.sub(_control_picture, text)


def head_lines(exchange: Exchange, carries: str = "") -> Iterator[str]:
    """Request line, which answers it continues, response head, and what the columns are."""
    request, response = exchange.request, exchange.response
    if request is not None:
        yield f"> {_printable(request.method)} {_printable(request.path)}"
        if (raw := request.raw) is not None:
            shown = _printable(clipped(raw.decode("utf-8", "replace"), _CLIP))
            yield f"> {len(raw)} bytes that are not JSON: {shown}"
    if carries:
        yield f"* {clip_line(carries)}"
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
    """Chunks, cut where lines begin; an empty chunk has a separate piece."""
    starts = _line_starts(exchange, body)
    begun = next(starts, len(body) + 1)  # the first start not yet passed
    stop = 0
    for number, (data, ms) in enumerate(chunk_times(exchange.chunks), 1):
        start, stop = stop, stop + len(data)
        chunk, time = f"#{number}", "" if ms is None else f"{ms:.1f}"
        while True:
            begins = begun == start
            if begins and stop > start:
                begun = next(starts, len(body) + 1)
            cut = min(begun, stop)
            yield _LinePiece(start, cut, chunk, time, begins)
            start, chunk, time = cut, "", ""
            if start >= stop:
                break


def _line_starts(exchange: Exchange, body: bytes) -> Iterator[int]:
    """Where lines or binary messages begin; one more after the last if it has ended."""
    if framing_of(exchange) == "binary":
        yield from sorted({frame.offset for frame, _ in exchange_frames(exchange)})
        return
    for line in _LINE.finditer(body):
        yield line.start()
    if not body or body.endswith((b"\r", b"\n")):
        yield len(body)


def _message_text(body: bytes, piece: _LinePiece) -> str:
    """A binary message of texts that came in one chunk, its headers before its payload."""
    found = read_text_message(body, piece.start) if piece.begins_line else None
    if found is None or found[2] != piece.stop - piece.start:
        return ""
    headers = ", ".join(f"{name} {value}" for name, value in found[0].items())
    return visible(f"{headers}: {found[1]}".encode())


class _EventNumbers:
    """The numbers of the frames that begin at an offset; callers use rising offsets."""

    def __init__(self, exchange: Exchange) -> None:
        self._late = array("q")  # numbers of frames that end after one which began later
        latest = -1
        for number, (frame, _) in enumerate(exchange_frames(exchange), 1):
            if frame.offset < latest:
                self._late.append(number)
            latest = max(latest, frame.offset)
        kinds = (False, True) if self._late else (False,)
        self._runs = [_Numbered(self._some(exchange, late=late)) for late in kinds]

    def _some(self, exchange: Exchange, *, late: bool) -> Iterator[tuple[int, int]]:
        """Offset and number of the frames that are late, or of the others."""
        coming = iter(self._late)
        next_late = next(coming, 0)
        for number, (frame, _) in enumerate(exchange_frames(exchange), 1):
            is_late = number == next_late
            if is_late:
                next_late = next(coming, 0)
            if is_late == late:
                yield frame.offset, number

    def at(self, offset: int) -> str:
        return ",".join(map(str, sorted(chain.from_iterable(run.at(offset) for run in self._runs))))


class _Numbered:
    """Offsets and numbers, both rising, read on demand."""

    def __init__(self, pairs: Iterator[tuple[int, int]]) -> None:
        self._pairs = pairs
        self._next = next(pairs, None)

    def at(self, offset: int) -> list[int]:
        found: list[int] = []
        while self._next is not None and self._next[0] <= offset:
            if self._next[0] == offset:
                found.append(self._next[1])
            self._next = next(self._pairs, None)
        return found


def clip_line(text: str) -> str:
    """The text, or its beginning and how much more there is."""
    return text if len(text) <= _CLIP else f"{clipped(text, _CLIP)}... ({len(text) - _CLIP} more)"


def _control_picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\\u{code:04x}"


Places = Mapping[int, str]
"""The number of a message, from 0 -> exchange and event."""
_MARKS: Final = {"client": ">", "server": "<"}


def message_places(kept: Cassette) -> Mapping[int, Places]:
    """Where the messages of each kept exchange are among the answers, by its number."""
    found: dict[int, dict[int, str]] = defaultdict(dict)
    for carried in carried_exchanges(kept):
        places, number = found[carried.kept.number], carried.exchange.number
        if carried.request_message is not None:
            places[carried.request_message] = f"{number}.0"
        for event, at in enumerate(carried.messages or (), 1):
            places[at] = f"{places[at]},{number}.{event}" if at in places else f"{number}.{event}"
    return found


def inspect_connection(exchange: Exchange, places: Places, *, full: bool = False) -> Iterator[str]:
    """The WebSocket as lines of text; any other exchange as `inspect` shows it."""
    if not exchange.is_connection:
        yield from inspect(exchange, full=full)
        return
    yield from head_lines(exchange)
    times = chunk_times(exchange.chunks)
    for at, (message, (data, ms)) in enumerate(zip(exchange.chunks, times, strict=True)):
        assert isinstance(message, SocketMessage)
        text = visible(data)
        gutter = (
            f"{'' if ms is None else f'{ms:.1f}':>10} {f'#{at + 1}':>7} {places.get(at, ''):>6}"
        )
        yield f"{gutter} {_MARKS[message.side]} {text if full else clip_line(text)}"
    code = exchange.close_code
    yield f"* end: {exchange.end}" if code is None else f"* end: {exchange.end}, close {code}"
