"""The output of `curl -i`: the response head, then the body as received.

Several heads may follow each other: of a proxy, of `100 Continue`, of redirects that were followed.
The last one is the answer's. Chunks and times are unknown.
gptel keeps such a head as a heading, with `### ` before it.
"""

from __future__ import annotations

import re
from typing import Final

from conformance.cassette.header import Cassette, Header
from conformance.cassette.importers import ForeignFile, ImportedRecording, Importer
from conformance.cassette.importers.http_messages import decode_body, skipped_heads
from conformance.cassette.importers.kept_end import TAKEN, missing_end
from conformance.cassette.positions import Layout, line_starts
from conformance.core.events import Chunk, Exchange

BEGINNING: Final = re.compile(rb"(?:### )?HTTP/(?:1\.[01]|[23](?:\.0)?) \d{3}[ \r\n]")
_HEADING: Final = b"### "
_REBUILT: Final = "the body was coded: lines point at its head"


def _begins_with_head(file: ForeignFile) -> bool:
    return BEGINNING.match(file.head) is not None


def _read_printed(file: ForeignFile) -> ImportedRecording | None:
    if not _begins_with_head(file):
        return None
    before = len(_HEADING) if file.data.startswith(_HEADING) else 0
    heads = list(skipped_heads(file.data[before:]))
    if not heads:
        raise file.error("expected a response head and a blank line", 1)
    size = before + sum(head.size for head in heads)
    body = file.data[size:]
    lacking = missing_end(body)
    decoded = decode_body(file, heads[-1].response, (Chunk(body),) if body else ())
    if lacking and decoded.is_whole is None and decoded.chunks == (Chunk(body),):
        body += lacking  # nothing says that the body ends there
        decoded = decoded._replace(chunks=(Chunk(body),))
    else:
        lacking = b""
    exchange = Exchange(
        response=decoded.response,
        chunks=decoded.chunks,
        end="protocol-error" if decoded.is_whole is False else "eof",
        dialect=file.dialect,
    )
    header = Header(
        origin="imported", fidelity="bytes", dialect=file.dialect, recorder={"name": "curl"}
    )
    as_printed = exchange.body == body
    layout = _body_layout(file.data, size) if as_printed else Layout(1)
    notes = (TAKEN,) if lacking else () if as_printed else (_REBUILT,)
    return ImportedRecording(Cassette(header, (exchange,), notes=notes), (layout,))


def _body_layout(data: bytes, size: int) -> Layout:
    """Of a body that is the rest of the file; the head begins on the first line."""
    before = data.count(b"\n", 0, size)
    found = line_starts(data[size:])
    return Layout(1, found.offsets, tuple(line + before for line in found.lines))


IMPORTER: Final = Importer(
    "curl",
    (".http", ""),
    _begins_with_head,
    _read_printed,
    says="what `curl -i` prints: the head, then the body",
    trusted="`bytes`",
    keeps="head",
)
