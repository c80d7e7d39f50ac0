"""Output of `curl --trace` and `--trace-ascii`: requests, heads, bodies, and the time of each read.

Each block of received data is one read, and one chunk; `--trace-time` gives it a time. Bodies are
as they came over the wire, so transfer chunks and content codings are taken off.

`curl --trace-ascii` shows line ends as dots. A dot is a line end where a real dot is impossible:
outside of JSON strings, except between digits; and after a field of an event stream that is
followed by another field, or by the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.cassette.header import Cassette, CassetteClock, Header
from conformance.cassette.importers import ForeignFile, ImportedRecording, Importer
from conformance.cassette.importers.curl_blocks import BEGINNING, TraceBlock, read_blocks
from conformance.cassette.importers.http_messages import (
    DecodedBody,
    decode_body,
    drop_empty,
    header_pairs,
    read_head,
    request_of,
)
from conformance.cassette.positions import Layout
from conformance.core.events import Chunk, Ending, Exchange, Request, Response

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
        dots = _DOTS.match(found, end)
        stop = dots.end() if dots else end
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


_REQUEST_LINE: Final = re.compile(rb"([A-Z]{1,20}) ([^ \r\n]{1,65536})(?: HTTP/[\d.]+)?\r?$")
_ASCII: Final = (
    "--trace-ascii writes a dot for each line end and each byte that is no ASCII: line ends were"
    " restored, texts may differ; --trace keeps all"
)
_OTHER_ENDS: Final[tuple[tuple[re.Pattern[bytes], Ending], ...]] = (
    (
        re.compile(rb"connection reset|recv failure|stream .*not closed cleanly", re.IGNORECASE),
        "reset",
    ),
    (re.compile(rb"timed? ?out|operation too slow", re.IGNORECASE), "idle-timeout"),
    (
        re.compile(rb"transfer closed with|end of response with|illegal or missing", re.IGNORECASE),
        "protocol-error",
    ),
    (re.compile(rb"left intact|closing connection|shutting down", re.IGNORECASE), "eof"),
)


class _Transfer(Struct):
    """The blocks of one request and its answer."""

    blocks: list[TraceBlock] = field(default_factory=list)
    answered: bool = False

    def of(self, kind: str) -> list[TraceBlock]:
        return [each for each in self.blocks if each.kind == kind]

    def joined(self, kind: str) -> bytes:
        return b"".join(each.data for each in self.of(kind))


def _is_trace(file: ForeignFile) -> bool:
    return BEGINNING.match(file.head) is not None


def _read_trace(file: ForeignFile) -> ImportedRecording | None:
    """Every request with its answer, numbered from 1. Raises CassetteError."""
    if not _is_trace(file):
        return None
    found = [each for each in _split_transfers(read_blocks(file)) if each.of("response head")]
    if not found:
        raise file.error("the trace shows no answer")
    read = [_exchange_of(file, number, each) for number, each in enumerate(found, 1)]
    exact = all(block.plain for each in found for block in each.blocks)
    header = Header(
        origin="imported",
        fidelity="bytes" if exact else "events",
        dialect=file.dialect,
        recorder={"name": "curl"},
    )
    cassette = Cassette(
        header,
        tuple(exchange for exchange, _, _ in read),
        clocks={exchange.number: clock for exchange, clock, _ in read},
        torn=any(exchange.end == "open" for exchange, _, _ in read),
        notes=() if exact else (_ASCII,),
    )
    return ImportedRecording(cassette, tuple(layout for _, _, layout in read))


def _split_transfers(blocks: Iterable[TraceBlock]) -> Iterator[_Transfer]:
    """Blocks by their requests; a new one begins where a head is sent after an answer began."""
    found: list[_Transfer] = []
    open_ones: dict[bytes, _Transfer] = {}
    for block in blocks:
        known = open_ones.get(block.transfer)
        if known is None or (known.answered and block.kind == "request head"):
            known = open_ones[block.transfer] = _Transfer()
            found.append(known)
        known.blocks.append(block)
        known.answered = known.answered or block.kind == "response head"
    yield from found


def _exchange_of(
    file: ForeignFile, number: int, transfer: _Transfer
) -> tuple[Exchange, CassetteClock, Layout]:
    response = _final_head(file, transfer)
    bodies = transfer.of("response body")
    head = transfer.of("response head")[-1]
    decoded = decode_body(file, response, _timed_chunks(head, bodies))
    chunks, lines = drop_empty(decoded.chunks, [block.line for block in bodies])
    if not all(block.plain for block in bodies):
        chunks = _with_line_ends(chunks)
    exchange = Exchange(
        number=number,
        request=_request_of(file, transfer),
        response=decoded.response,
        chunks=tuple(chunks),
        end=_transfer_ending(transfer, decoded),
        dialect=file.dialect,
    )
    offsets = [0, *accumulate(len(chunk.data) for chunk in chunks)][: len(chunks)]
    return exchange, _transfer_clock(transfer, head, chunks), Layout(head.line, offsets, lines)


def _final_head(file: ForeignFile, transfer: _Transfer) -> Response:
    """The answer's own head; those of a proxy and of 1xx come before it."""
    data, at, found = transfer.joined("response head"), 0, None
    while (head := read_head(data, at)) is not None:
        found, at = head.response, at + head.size
    if found is None:
        raise file.error("expected a response head", transfer.of("response head")[0].line)
    return found


def _request_of(file: ForeignFile, transfer: _Transfer) -> Request | None:
    data = transfer.joined("request head")
    lines = data.split(b"\n")
    first_line = _REQUEST_LINE.match(lines[0])
    if first_line is None:
        return None
    body = transfer.joined("request body")
    if not all(block.plain for block in transfer.of("request body")):
        body = restore_line_ends(body)
    method, target = first_line[1].decode(), first_line[2].decode("latin-1")
    try:
        return request_of(method, target, header_pairs(lines[1:]), body)
    except ValueError as err:
        raise file.error(f"the request asks for no URL: {err}", transfer.blocks[0].line) from err


def _timed_chunks(head: TraceBlock, bodies: Sequence[TraceBlock]) -> tuple[Chunk, ...]:
    before = head.ms
    found: list[Chunk] = []
    for block in bodies:
        known = block.ms is not None and before is not None
        ms = round(block.ms - before, 3) if known else None  # type: ignore[operator]
        found.append(Chunk(block.data, ms))
        before = block.ms
    return tuple(found)


def _with_line_ends(chunks: Sequence[Chunk]) -> list[Chunk]:
    body = restore_line_ends(b"".join(chunk.data for chunk in chunks))
    ends = list(accumulate(len(chunk.data) for chunk in chunks))
    return [
        replace(chunk, data=body[end - len(chunk.data) : end])
        for chunk, end in zip(chunks, ends, strict=True)
    ]


def _transfer_ending(transfer: _Transfer, decoded: DecodedBody) -> Ending:
    if decoded.is_whole:
        return "eof"
    last = transfer.of("response head")[-1]
    infos = [block.data for block in transfer.of("info") if block.line > last.line]
    for pattern, ending in _OTHER_ENDS:
        if any(pattern.search(each) for each in infos):
            return "protocol-error" if ending == "eof" and decoded.is_whole is False else ending
    return "open"


def _transfer_clock(
    transfer: _Transfer, head: TraceBlock, chunks: Sequence[Chunk]
) -> CassetteClock:
    """Times that no chunk holds."""
    sent = [block.ms for block in transfer.blocks if block.kind.startswith("request")]
    last = transfer.blocks[-1].ms
    if head.ms is None or last is None or not sent or sent[-1] is None:
        return CassetteClock()
    passed = sum(chunk.ms or 0.0 for chunk in chunks)
    end = max(0.0, round(last - head.ms - passed, 3))
    return CassetteClock(max(0.0, round(head.ms - sent[-1], 3)), end)


IMPORTER: Final = Importer(
    "curl-trace",
    (".trace", ""),
    _is_trace,
    _read_trace,
    says="what `curl --trace` or `--trace-ascii` wrote, with times by `--trace-time`",
    trusted="`bytes`; `events` for `--trace-ascii`, which writes dots",
    keeps="request, head, times of chunks",
)
