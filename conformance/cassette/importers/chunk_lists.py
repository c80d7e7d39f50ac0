r"""Chunks as programs write them down: a JSON array of them, or lines with the time of each.

    [{"choices": ...}, {"choices": ...}]                 payloads, of which the framing is rebuilt
    ["data: {...}\n\n", ...]                               texts as they came
    {"ts": 1718000000.123, "chunk": {...}}               one a line, or in an array: with its time
    {"event": "message_start", "data": {...}}            without a time
    {"id": "0", "event": "messages", "data": [...]}      likewise; the name shows what it is
    {"dir": "recv", "line": {...}}                       a line of an agent, with its direction

If any text holds a line end, the texts are pieces of the stream; otherwise each is a line, as a
loop over lines gives them. A text that is JSON is a payload.
Only times with a certain unit count: seconds, milli-, micro- or nanoseconds since 1970 (recognised
by their size), a date (ISO 8601), or a name that ends in `ms`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice, pairwise
from typing import Any, Final, NamedTuple

import msgspec

from conformance.cassette.header import Cassette, Header
from conformance.cassette.importers import ForeignFile, ImportedRecording, Importer
from conformance.cassette.importers.kept_end import TAKEN, missing_end
from conformance.cassette.payloads import (
    DONE,
    Payload,
    Rebuilt,
    TextPart,
    array_elements,
    join_frames,
    part,
    reframe,
    sends_lines,
    spoken_dialect,
)
from conformance.core.errors import CassetteError
from conformance.core.events import Chunk, Exchange, Fidelity, Response
from conformance.core.json_values import NOT_JSON, decode_json

_TIMES: Final = ("ts", "time", "timestamp", "t", "at", "ms", "ts_ms", "t_ms", "elapsed_ms")
_CHUNKS: Final = ("chunk", "data", "event", "payload", "line", "raw", "text")
_SPELLED: Final = rb'"(?:%b)"' % "|".join(_TIMES).encode()
_TIMED: Final = re.compile(
    rb'\s*\[?\s*\{\s*%b\s*:\s*(?:"[^"\\]{1,64}"|[-+0-9.eE]{1,32})\s*,\s*"(?:%b)"\s*:\s*["{]'
    % (_SPELLED, "|".join(_CHUNKS).encode())
)
_WRAPS: Final = ("data", "line")  # `Ok` of Rust holds what a program has made of an event
_LABEL: Final = rb'"(?:id|event|dir|direction)"\s*:\s*(?:"[^"\\]{0,64}"|\d{1,18})\s*,\s*'
_WRAPPED: Final = re.compile(
    rb'\s*\[?\s*\{\s*(?:(?:%b){0,3}"(?:%b)"\s*:\s*["{]|(?:%b){1,3}"data"\s*:\s*\[)'
    % (_LABEL, "|".join(_WRAPS).encode(), _LABEL)
)
_EPOCH: Final = ((1e9, 1e3), (1e12, 1.0), (1e15, 1e-3), (1e18, 1e-6))  # from, milliseconds per unit
_EPOCH_SPAN: Final = 10.0
_LOOKED_AT: Final = 16
_LONGEST_MS: Final = 3.2e13  # as long as a cassette may say
_NO_TIMES: Final = "times were left out: their unit is not certain, or not every chunk has one"
_FIRST_TIME: Final = "times begin with the first chunk: when the response head came is not known"


class _KeptChunk(NamedTuple):
    """One chunk: its 1-based line, its time in ms, its text, and the value of that text."""

    line: int
    ms: float | None
    text: bytes
    value: Any


def _is_timed(file: ForeignFile) -> bool:
    return _TIMED.match(file.head) is not None


def _read_timed(file: ForeignFile) -> ImportedRecording | None:
    """Objects with a time and a chunk, in lines or in an array. Raises CassetteError."""
    if not _is_timed(file):
        return None
    return _recording_of(
        file, [_unwrap_chunk(file, each) for each in _outer_parts(file)], timed=True
    )


def _outer_parts(file: ForeignFile) -> Iterable[TextPart]:
    is_array = file.head.lstrip().startswith(b"[")
    return _array_parts(file) if is_array else _line_parts(file)


def _is_wrapped(file: ForeignFile) -> bool:
    """Whether objects hold one payload each, and an early one shows its API."""
    if _first_wrapped(file.head) is None:
        return False
    try:
        outer = list(islice(_wrapped_parts(file), _LOOKED_AT))
        kept = [_unwrap_chunk(file, each, _WRAPS) for each in outer]
    except CassetteError:
        return False
    texts = [file.head.partition(b"\n")[0], *(each.raw for each in outer)]
    speaks_itself = any(
        spoken_dialect(decode_json(each.decode("utf-8", "replace"))) for each in texts
    )
    return not speaks_itself and _dialect_of(kept) is not None


def _first_wrapped(head: bytes) -> int | None:
    """How many lines stand before the first such object: none, or one that describes the file."""
    if _WRAPPED.match(head) is not None:
        return 0
    first, ended, rest = head.partition(b"\n")
    is_object = first.startswith(b"{") and first.rstrip().endswith(b"}")
    return 1 if is_object and ended and _WRAPPED.match(rest) is not None else None


def _wrapped_parts(file: ForeignFile) -> Iterable[TextPart]:
    return islice(_outer_parts(file), _first_wrapped(file.head), None)


def _read_wrapped(file: ForeignFile) -> ImportedRecording | None:
    """Objects that hold a payload each, in lines or in an array. Raises CassetteError."""
    if not _is_wrapped(file):
        return None
    kept = [_unwrap_chunk(file, each, _WRAPS) for each in _wrapped_parts(file)]
    return _recording_of(file, kept, timed=False)


def _begins_array(file: ForeignFile) -> bool:
    """Whether the file is an array of payloads, or of texts of a stream."""
    if not file.head.lstrip().startswith(b"["):
        return False
    value = decode_json(file.data.decode("utf-8", "replace"))
    if not isinstance(value, list) or spoken_dialect(value) is not None:
        return False  # an API that answers with an array: then it is the answer
    first = value[:16]
    if first and all(isinstance(each, str) for each in first):
        return any(each.startswith(("data:", "event:", "{")) for each in first)
    return any(spoken_dialect(each) is not None for each in first)


def _read_array(file: ForeignFile) -> ImportedRecording | None:
    if not _begins_array(file):
        return None
    kept = [_kept_chunk(each, None, each) for each in _array_parts(file)]
    return _recording_of(file, kept, timed=False)


def _array_parts(file: ForeignFile) -> list[TextPart]:
    if not isinstance(file.json, list):
        raise file.error("expected one JSON array")
    return list(array_elements(file.data))


def _line_parts(file: ForeignFile) -> Iterator[TextPart]:
    for number, line in enumerate(file.data.split(b"\n"), 1):
        if text := line.strip():
            yield TextPart(number, text)


def _unwrap_chunk(
    file: ForeignFile, kept: TextPart, names_of_chunks: Sequence[str] = _CHUNKS
) -> _KeptChunk:
    """The chunk in an object that holds one, and perhaps its time."""
    value = decode_json(kept.raw.decode("utf-8", "replace"))
    names = value.keys() if isinstance(value, dict) else ()
    inner = next((name for name in names_of_chunks if name in names), None)
    if inner is None:
        found = kept.raw[:60].decode("utf-8", "replace")
        wanted = "a time and a chunk" if names_of_chunks is _CHUNKS else "a payload"
        raise file.error(f"expected an object with {wanted}, got {found}", kept.line)
    name = next((each for each in _TIMES if each in names), "")
    try:
        found_part = part(kept.raw, inner)
    except (KeyError, msgspec.DecodeError, UnicodeDecodeError) as err:  # a key that is not UTF-8
        raise file.error("expected an object in UTF-8", kept.line) from err
    placed = TextPart(kept.line + found_part.line - 1, found_part.raw)
    return _kept_chunk(placed, _as_milliseconds(name, value.get(name)), placed)


def _kept_chunk(placed: TextPart, ms: float | None, spelled: TextPart) -> _KeptChunk:
    value = decode_json(spelled.raw.decode("utf-8", "replace"))
    if isinstance(value, str):
        text = value.encode("utf-8", "surrogatepass")
        return _KeptChunk(placed.line, ms, text, value)
    return _KeptChunk(placed.line, ms, spelled.compact, value)


def _as_milliseconds(name: str, value: Any) -> float | None:
    """A time in ms, from any origin; None if its unit is not certain."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp() * 1e3
        except (ValueError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if name.endswith("ms"):
        return float(value)
    units = (unit for low, unit in _EPOCH if low <= value < low * _EPOCH_SPAN)
    unit = next(units, None)
    return None if unit is None else value * unit


def _recording_of(
    file: ForeignFile, kept: Sequence[_KeptChunk], *, timed: bool
) -> ImportedRecording:
    """One exchange of these chunks. Raises CassetteError where they cannot be put together."""
    rebuilt, fidelity = _body_of(file, kept)
    if fidelity == "text" and (lacking := missing_end(rebuilt.body)):
        rebuilt = Rebuilt(rebuilt.body + lacking, rebuilt.layout, (*rebuilt.notes, TAKEN))
    cuts = [*rebuilt.layout.offsets[: len(kept)], len(rebuilt.body)]
    times = _chunk_times([each.ms for each in kept])
    note = _FIRST_TIME if times[0] is not None else _NO_TIMES
    chunks = tuple(
        Chunk(rebuilt.body[start:stop], ms)
        for (start, stop), ms in zip(pairwise(cuts), times, strict=True)
    )
    headers = (("content-type", "application/x-ndjson"),) if _are_lines(file, kept) else ()
    exchange = Exchange(response=Response(headers=headers), chunks=chunks, dialect=file.dialect)
    header = Header(origin="imported", fidelity=fidelity, dialect=file.dialect)
    cassette = Cassette(header, (exchange,), notes=(*rebuilt.notes, *((note,) if timed else ())))
    return ImportedRecording(cassette, (rebuilt.layout,))


def _body_of(file: ForeignFile, kept: Sequence[_KeptChunk]) -> tuple[Rebuilt, Fidelity]:
    texts = [each for each in kept if isinstance(each.value, str)]
    if not texts:
        return _payloads_of(file, kept), "events"
    if len(texts) < len(kept):
        other = next(each for each in kept if not isinstance(each.value, str))
        raise file.error("expected a text as the other chunks are, got an object", other.line)
    lines = [each.line for each in kept]
    if any("\n" in each.value or "\r" in each.value for each in kept):
        return join_frames([each.text for each in kept], lines), "text"
    decoded = [each._replace(value=decode_json(each.value)) for each in kept]
    if all(each.value is not NOT_JSON or each.text == DONE for each in decoded):
        return _payloads_of(file, decoded), "events"
    return join_frames(list(_ended_lines(kept)), lines), "events"


def _payloads_of(file: ForeignFile, kept: Sequence[_KeptChunk]) -> Rebuilt:
    if _are_lines(file, kept):
        return join_frames([each.text + b"\n" for each in kept], [each.line for each in kept])
    payloads = (
        Payload.of(each.line, each.text, None if each.text == DONE else each.value) for each in kept
    )
    return reframe(list(payloads))


def _are_lines(file: ForeignFile, kept: Sequence[_KeptChunk]) -> bool:
    return sends_lines(file.dialect or _dialect_of(kept))


def _dialect_of(kept: Iterable[_KeptChunk]) -> str | None:
    values = (
        decode_json(each.value) if isinstance(each.value, str) else each.value for each in kept
    )
    return next((found for value in values if (found := spoken_dialect(value))), None)


def _ended_lines(kept: Sequence[_KeptChunk]) -> Iterator[bytes]:
    """Lines of an event stream with their ends, and a blank line after data if it was dropped."""
    keeps_blanks = any(not each.text for each in kept)
    for each in kept:
        ends_event = not keeps_blanks and each.text.startswith(b"data:")
        yield each.text + (b"\n\n" if ends_event else b"\n")


def _chunk_times(moments: Sequence[float | None]) -> list[float | None]:
    """Since the chunk before, from 0; none where one is not known, or time runs backwards."""
    known = [moment for moment in moments if moment is not None]
    steps = [0.0, *(round(after - before, 3) for before, after in pairwise(known))]
    if len(known) < len(moments) or not all(0 <= step <= _LONGEST_MS for step in steps):
        return [None] * len(moments)
    return [*steps]


TIMED: Final = Importer(
    "timed-chunks",
    (".jsonl", ".ndjson", ".json", ""),
    _is_timed,
    _read_timed,
    says='objects of a time and a chunk, {"ts": ..., "chunk": ...}, in lines or in an array',
    trusted="`text` for texts with line ends, else `events`",
    keeps="times",
)
WRAPPED: Final = Importer(
    "wrapped-payloads",
    (".jsonl", ".ndjson", ".json", ""),
    _is_wrapped,
    _read_wrapped,
    says='objects that hold one payload each, {"event": ..., "data": ...}, in lines or in an array',
    trusted="`events`",
    keeps="nothing",
)
ARRAY: Final = Importer(
    "chunk-array",
    (".json", ""),
    _begins_array,
    _read_array,
    says="a JSON array of chunks, or of texts as they came",
    trusted="`text` for texts, else `events`",
    keeps="nothing",
)
