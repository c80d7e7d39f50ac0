"""The script of one exchange: head, pieces of the body, and how it ends.

A script knows the recording and the options; how HTTP frames the pieces is the player's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from conformance.cassette import CassetteClock
from conformance.core.chunked import chunk_bytes
from conformance.core.errors import CassetteError
from conformance.core.events import Chunk, Ending, Exchange, Response
from conformance.core.framing import Framing, framing_of
from conformance.dialects.script import CONTENT_TYPES
from conformance.targets.replay.cutting import (
    TimedChunk,
    chunks_until,
    cut_chunks,
    frame_ends,
    with_comments,
    with_crlf,
    with_flipped_bit,
)
from conformance.targets.replay.options import BodySpot, ReplayOptions
from conformance.wire.heads import CONNECTION_HEADERS, Headers, without_headers

AnswerEnd = Literal["whole", "fin", "rst", "stall"]

# A FIN before the body's end is what a reader calls a broken protocol; where the client had left or
# the recorder died, it is unknown what would have come.
_ENDS: Final[dict[Ending, AnswerEnd]] = {
    "eof": "whole",
    "reset": "rst",
    "idle-timeout": "stall",
    "protocol-error": "fin",
    "client-closed": "fin",
    "open": "fin",
}
# Ours to say, per connection: https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1
_NOT_SENT: Final = CONNECTION_HEADERS | {
    "x-decoded-from",  # a recorder's note, not the server's
}
_LENGTH_HEADER: Final = "content-length"
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_LENGTH: Final = re.compile(r"[0-9]{1,15}")
_KEPT: Final = 256 * 1024  # bytes of an answer
_KEPT_CHUNKS: Final = 2_000
_WITHOUT_BODY: Final = (204, 304)


@dataclass(frozen=True)
class AnswerScript:
    """One answer. Times are in milliseconds, sizes in bytes.

    `length` is the recorded content-length where it holds for this body; None: the body's end is
    known by its framing. `size` is what goes out, `whole` what would without a cut or stall.
    `has_body` is False for a status that allows none, `has_head` where the connection broke before
    any answer.
    """

    status: int
    http: str
    headers: Headers
    length: int | None
    head_ms: float
    end_ms: float
    end: AnswerEnd
    size: int
    whole: int
    has_head: bool
    has_body: bool
    chunks: tuple[Chunk, ...]
    ends: tuple[int, ...]
    salt: str
    options: ReplayOptions

    @cached_property
    def transfer_chunks(self) -> tuple[tuple[float, bytes, int], ...] | None:
        """As `timed_chunks`, framed, with the sizes of the data; None where that would be many.

        Most answers are short and given again and again: framing them anew costs a tenth more.
        """
        many = self.size > _KEPT or len(self.chunks) > _KEPT_CHUNKS
        if many or self.options.chunking.kind != "recorded":
            return None
        return tuple((ms, chunk_bytes(data), len(data)) for ms, data in self.timed_chunks())

    def timed_chunks(self) -> Iterator[TimedChunk]:
        """The body, cut as the options say, up to where it breaks off; empty pieces are left out.

        Gaps are the recorded ones times the options' factor.
        """
        cuts = cut_chunks(self.chunks, self.options.chunking, ends=self.ends, salt=self.salt)
        factor, waited = self.options.timing.factor, 0.0
        for ms, data in chunks_until(cuts, self.size) if self.size < self.whole else cuts:
            waited += ms * factor
            if data:  # an empty transfer chunk would end the body
                yield waited, data
                waited = 0.0


def answer_script(exchange: Exchange, clock: CassetteClock, options: ReplayOptions) -> AnswerScript:
    """Return the script. Raises CassetteError for a head that HTTP cannot carry."""
    response = exchange.response or Response()
    framing = framing_of(exchange)
    chunks = exchange.chunks
    if framing == "sse":
        chunks = with_comments(chunks) if options.comments else chunks
        chunks = with_crlf(chunks) if options.crlf else chunks
    whole = sum(len(chunk.data) for chunk in chunks)
    ends = _frame_ends(framing, chunks) if _needs_ends(options) else ()
    if options.corrupt is not None:
        chunks = with_flipped_bit(chunks, place_of(options.corrupt, ends, whole))
    size, end = broken_off(ends, whole, _ENDS[exchange.end], options)
    factor = options.timing.factor
    length = _recorded_length(response, whole, exchange.end)
    return AnswerScript(
        status=_status_to_send(response, exchange),
        http=response.http,
        headers=recorded_headers(response, exchange, has_length=length is not None),
        length=length,
        head_ms=(clock.head or 0.0) * factor,
        end_ms=(clock.end or 0.0) * factor,
        end=end,
        size=size,
        whole=whole,
        has_head=bool(exchange.response or exchange.chunks or exchange.end == "eof"),
        has_body=response.status not in _WITHOUT_BODY,
        chunks=chunks,
        ends=ends,
        salt=str(exchange.number),
        options=options,
    )


def event_count(exchange: Exchange) -> int:
    """How many events the recorded body has: the highest K of a cut or stall `event:K`."""
    return len(_frame_ends(framing_of(exchange), exchange.chunks))


def _needs_ends(options: ReplayOptions) -> bool:
    spots = [spot.unit for spot in (options.cut, options.stall, options.corrupt) if spot]
    return options.chunking.kind == "events" or "event" in spots


def _frame_ends(framing: Framing, chunks: Sequence[Chunk]) -> tuple[int, ...]:
    if framing == "body":
        return ()
    return frame_ends(b"".join(chunk.data for chunk in chunks), framing)


def broken_off(
    ends: tuple[int, ...], whole: int, recorded: AnswerEnd, options: ReplayOptions
) -> tuple[int, AnswerEnd]:
    """How many bytes go out, and what comes then. A spot beyond the body changes nothing."""
    spots: tuple[tuple[BodySpot | None, AnswerEnd], ...] = (
        (options.cut, options.how),
        (options.stall, "stall"),
    )
    for spot, end in spots:
        places: Sequence[int] = range(whole + 1) if spot and spot.unit == "byte" else (0, *ends)
        if spot and spot.at < len(places):
            return places[spot.at], end
    return whole, recorded


def place_of(spot: BodySpot, ends: tuple[int, ...], whole: int) -> int:
    """The byte after a spot; 0 where that is beyond the body."""
    places: Sequence[int] = range(whole + 1) if spot.unit == "byte" else (0, *ends)
    return places[spot.at] if spot.at < len(places) else 0


def recorded_headers(
    response: Response, exchange: Exchange, *, has_length: bool = False
) -> Headers:
    """Return the recorded headers to send. Raises CassetteError for what HTTP cannot carry."""
    drop = _NOT_SENT if has_length else _NOT_SENT | {_LENGTH_HEADER}
    kept = without_headers(response.headers, *drop)
    for name, value in kept:
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            shown = f"{name}: {value}"[:80]
            raise CassetteError(f"exchange {exchange.number} has a header HTTP forbids: {shown!r}")
    known = any(name.lower() == "content-type" for name, _ in kept)
    if known or response.status is not None:
        return kept
    return (("content-type", CONTENT_TYPES[framing_of(exchange)]), *kept)


def _status_to_send(response: Response, exchange: Exchange) -> int:
    status = 200 if response.status is None else response.status
    if not 200 <= status <= 599:
        raise CassetteError(
            f"exchange {exchange.number} has the status {status}, expected 200 to 599"
        )
    return status


def _recorded_length(response: Response, whole: int, end: Ending) -> int | None:
    """The recorded length, if there is one, and the body has it or was cut before it."""
    texts = [value for name, value in response.headers if name.lower() == _LENGTH_HEADER]
    if len(texts) != 1 or not _LENGTH.fullmatch(texts[0].strip()):
        return None
    length = int(texts[0])
    return length if length == whole or (end != "eof" and length > whole) else None
