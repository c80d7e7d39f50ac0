"""From an entry of a recorder's file to an exchange, by the row of that recorder."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from itertools import accumulate
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from conformance.cassette.header import CassetteClock
from conformance.cassette.importers import ForeignFile
from conformance.cassette.importers.http_messages import Headers, request_of
from conformance.cassette.importers.kept_end import TAKEN, missing_end
from conformance.cassette.importers.recorders.coding import EXACT, decode
from conformance.cassette.importers.recorders.edited import EDITED, added_member
from conformance.cassette.importers.recorders.entry import EACH, Entry, split_paths
from conformance.cassette.importers.recorders.row import Coded, Recorder
from conformance.cassette.importers.recorders.sockets import KeptSocket, kept_socket
from conformance.cassette.importers.recorders.unpacking import unpacked
from conformance.cassette.importers.traffic import CapturedExchange
from conformance.cassette.payloads import Payload, Rebuilt, reframe
from conformance.cassette.positions import Layout, line_starts
from conformance.core.events import Chunk, Exchange, Fidelity, Request, Response
from conformance.core.json_values import NOT_JSON, decode_json

_DECODED: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_HTTP: Final = re.compile(r"(?:HTTP/)?(\d(?:\.\d)?)")
_MOST_MS: Final = 3.2e13
_TRIMMED: Final = ("txtar", "insta")  # forms that keep no blank line at the end of a text
_DIGITS: Final = 3


class KeptBody(NamedTuple):
    """A body as a recorder kept it; `chunks` may still be packed, `path` is where it is."""

    chunks: tuple[Chunk, ...]
    fidelity: Fidelity
    path: str
    rebuilt: Rebuilt | None = None
    is_json: bool = False


class ReadEntry(NamedTuple):
    """The exchange of an entry, how far its bytes may be trusted, and notes on the conversion."""

    captured: CapturedExchange
    fidelity: Fidelity
    notes: tuple[str, ...] = ()


def read_entry(file: ForeignFile, row: Recorder, entry: Entry, most: int) -> ReadEntry:
    """One exchange; its body inflates to `most` bytes at the most. Raises ValueError."""
    if not isinstance(entry.value, dict):
        raise ValueError("it is no object")  # noqa: TRY004  # a fault of the file
    socket = kept_socket(entry, row.messages) if row.messages else None
    if socket is not None:
        return _read_socket(file, row, entry, socket)
    kept = _kept_body(row, entry)
    headers = _response_headers(row, entry, is_json=kept is not None and kept.is_json)
    chunks = kept.chunks if kept is not None else ()
    if kept is not None and kept.rebuilt is None:
        chunks = unpacked(chunks, _value_of(headers, "content-encoding"), headers, most)
    lacking = missing_end(chunks[0].data) if kept is not None and _is_text(row, kept) else b""
    if lacking:
        chunks = (Chunk(chunks[0].data + lacking, chunks[0].ms),)
    plain = tuple(pair for pair in headers if pair[0].lower() not in _DECODED)
    request, edited = _entry_request(row, entry)
    exchange = Exchange(
        request=request,
        response=Response(_as_status(entry.at(row.status)), _http_version(row, entry), plain),
        chunks=tuple(each for each in chunks if each.data),
        end="reset" if row.failed and entry.at(row.failed) else "eof",
        dialect=file.dialect,
    )
    layout = partial(_chunk_layout, entry, kept, chunks)
    clock = _entry_clock(entry.at(row.waited)) if row.waited else CassetteClock()
    captured = CapturedExchange(exchange, layout, clock, kept is not None, _sent(row, entry))
    notes = kept.rebuilt.notes if kept is not None and kept.rebuilt is not None else ()
    notes = (*notes, *edited)
    notes = (*notes, TAKEN) if lacking and row.form not in _TRIMMED else notes
    fidelity = "bytes" if kept is None else kept.fidelity
    return ReadEntry(captured, "text" if row.form in _TRIMMED else fidelity, notes)


def _is_text(row: Recorder, kept: KeptBody) -> bool:
    """Whether the body is one text, whose last line end an editor or a block of YAML may lose."""
    return row.form in _TRIMMED or (kept.fidelity == "text" and len(kept.chunks) == 1)


def _read_socket(file: ForeignFile, row: Recorder, entry: Entry, socket: KeptSocket) -> ReadEntry:
    """A whole WebSocket, which is taken apart by who judges it. Raises ValueError."""
    gathered = socket.gathered
    exchange = Exchange(
        request=_entry_request(row, entry)[0],
        response=Response(
            _as_status(entry.at(row.status)),
            _http_version(row, entry),
            header_pairs(entry.at(row.headers)),
        ),
        chunks=tuple(gathered.messages),
        end="reset" if row.failed and entry.at(row.failed) else socket.end,
        dialect=file.dialect,
    )
    clock = _entry_clock(entry.at(row.waited)) if row.waited else CassetteClock()
    layout = partial(gathered.layout, entry.line)
    notes = (
        (f"messages of a WebSocket that cannot be read were skipped: {socket.unreadable}",)
        if socket.unreadable
        else ()
    )
    sent = _sent(row, entry)
    captured = CapturedExchange(exchange, layout, clock, bool(gathered.messages), sent)
    return ReadEntry(captured, "text", notes)


def _kept_body(row: Recorder, entry: Entry) -> KeptBody | None:
    """The body; None where none was kept. Raises ValueError."""
    if row.elsewhere and (name := entry.at(row.elsewhere)):
        raise ValueError(f"its body is in a separate file, {str(name)[:80]}")
    for path, coding in row.payloads.items():
        if (found := _payload_body(row, entry, path, coding)) is not None:
            return found
    for path, coding in row.chunks.items():
        if values := entry.each_at(path):
            data = [decode(each, coding) for each in values]
            times = _chunk_times(entry.at(row.times) if row.times else None, len(data))
            pieces = tuple(map(Chunk, data, times))
            return KeptBody(pieces, "bytes" if coding in EXACT else "text", path)
    return _whole_body(row, entry)


def _whole_body(row: Recorder, entry: Entry) -> KeptBody | None:
    for path, stated in row.body.items():
        value = entry.at(path)
        is_other_form = isinstance(value, dict) and stated == "text"
        if value is None or is_other_form or (value == "" and _is_lost(row, entry)):
            continue
        coding = _named_coding(row, entry) or stated
        fidelity: Fidelity = "bytes" if coding in EXACT or isinstance(value, bytes) else "text"
        is_json = not isinstance(value, str | bytes | list)
        return KeptBody((Chunk(decode(value, coding)),), fidelity, path, is_json=is_json)
    return None


def _is_lost(row: Recorder, entry: Entry) -> bool:
    """Whether an empty body was not kept; one whose head counts no byte was empty."""
    counted = _value_of(header_pairs(entry.at(row.headers)), "content-length")
    return row.empty_is_lost and counted.strip() != "0"


def _named_coding(row: Recorder, entry: Entry) -> str | None:
    """The coding that another value of the entry gives the body."""
    for condition, coding in row.codings_by.items():
        path, _, wanted = condition.partition("=")
        found = entry.at(path)
        if (str(found).lower() if isinstance(found, bool) else found) == wanted:
            return coding
    return None


def _payload_body(row: Recorder, entry: Entry, path: str, coding: str) -> KeptBody | None:
    values = payload_values(entry, path, coding)
    if values is None or (len(values) == 1 and row.body and _is_whole(row, entry)):
        return None
    parts = entry.parts_at(path)
    lines = [each.line for each in parts] if parts else [entry.line] * len(values)
    texts = [_as_bytes(each) for each in values]
    if parts and coding == "value" and path.endswith(EACH):
        texts = [each.compact for each in parts]
    placed = zip(lines, texts, strict=True)
    rebuilt = reframe([Payload.of(line, text, _decoded_json(text)) for line, text in placed])
    return KeptBody((Chunk(rebuilt.body),), "events", path, rebuilt)


def _is_whole(row: Recorder, entry: Entry) -> bool:
    """Whether the head says that the body is one value of JSON."""
    stated = _value_of(header_pairs(entry.at(row.headers)), "content-type")
    return stated.partition(";")[0].strip().lower() == "application/json"


def payload_values(entry: Entry, path: str, coding: str) -> list[Any] | None:
    """Payloads of events: texts of JSON (`text`) or values (`value`); None for anything else."""
    values = entry.each_at(path)
    kind = str if coding == "text" else dict
    return values if values and all(isinstance(each, kind) for each in values) else None


def _as_bytes(value: Any) -> bytes:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def _decoded_json(text: bytes) -> Any:
    value = decode_json(text.decode("utf-8", "replace"))
    return None if value is NOT_JSON else value


def _chunk_times(found: Any, count: int) -> list[float | None]:
    """Milliseconds since the chunk before; none if any value is not a time."""
    if not isinstance(found, list) or len(found) != count or not all(map(_is_time, found)):
        return [None] * count
    return [round(float(each), _DIGITS) for each in found]


def _is_time(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and 0 <= value <= _MOST_MS


def _sent(row: Recorder, entry: Entry) -> float | None:
    try:
        return datetime.fromisoformat(str(entry.at(row.sent))).timestamp() if row.sent else None
    except (ValueError, OverflowError):
        return None


def _entry_clock(waited: Any) -> CassetteClock:
    return CassetteClock(float(waited)) if _is_time(waited) else CassetteClock()


def _entry_request(row: Recorder, entry: Entry) -> tuple[Request | None, tuple[str, ...]]:
    """The request as it was sent, and a note where it was edited. Raises ValueError for its URL."""
    url = entry.at(row.url) if row.url else None
    asked = _first_coded(entry, row.asked)
    if not isinstance(url, str) and asked is None:
        return None, ()
    method = entry.at(row.method) if row.method else None
    headers = header_pairs(entry.at(row.asked_headers) if row.asked_headers else None)
    body = asked[1] if asked is not None else None
    server = (entry.at(row.server) or "") if row.server else ""
    named = f"{server}{url}" if isinstance(url, str) else ""
    if isinstance(body, dict | list):
        return replace(request_of(_as_method(method), named, headers, None), json=body), ()
    data = decode(body, asked[0]) if asked is not None else None
    request = request_of(_as_method(method), named, headers, data)
    if not (added := added_member(data, headers)):
        return request, ()
    sent = {name: value for name, value in request.json.items() if name != added}
    return replace(request, json=sent), (EDITED.format(added),)


def _first_coded(entry: Entry, coded: Coded) -> tuple[str, Any] | None:
    """Coding and value of the first path with a value."""
    found = ((coding, entry.at(path)) for path, coding in coded.items())
    return next((each for each in found if each[1] is not None), None)


def _as_method(value: Any) -> str:
    return value.upper() if isinstance(value, str) else ""


def _as_status(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:9])
    is_status = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if is_status else None


def _http_version(row: Recorder, entry: Entry) -> str:
    found = entry.at(row.http) if row.http else None
    match = _HTTP.fullmatch(found) if isinstance(found, str) else None
    return match[1] if match else ""


def _response_headers(row: Recorder, entry: Entry, *, is_json: bool) -> Headers:
    kept = header_pairs(entry.at(row.headers))
    if _value_of(kept, "content-type"):
        return kept
    mime = entry.at(row.mime) if row.mime else "application/json" if is_json else None
    return (*kept, ("content-type", mime)) if isinstance(mime, str) and mime else kept


def header_pairs(value: Any) -> Headers:
    """Headers, however a recorder keeps them: a map, a list of pairs, of objects, or flat."""
    pairs = _raw_pairs(value)
    named = ((_scalar_text(name), _scalar_text(each)) for name, each in pairs)
    return tuple((name, each) for name, each in named if name and not name.startswith(":"))


def _raw_pairs(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        return [(name, one) for name, each in value.items() for one in _values_of(each)]
    if not isinstance(value, list):
        return []
    if all(isinstance(each, str) for each in value):
        return list(zip(value[::2], value[1::2], strict=False))
    listed = [each for each in value if isinstance(each, list) and len(each) == 2]
    pairs = [(each[0], one) for each in listed for one in _values_of(each[1])]
    return [*pairs, *((e.get("name"), e.get("value")) for e in value if isinstance(e, dict))]


def _values_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _scalar_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return "" if value is None or isinstance(value, dict | list) else str(value)


def _value_of(headers: Headers, name: str) -> str:
    return next((value for key, value in headers if key.lower() == name), "")


def _chunk_layout(entry: Entry, kept: KeptBody | None, chunks: tuple[Chunk, ...]) -> Layout:
    """Where the chunks stand; worked out for findings only."""
    if kept is None:
        return Layout(entry.line)
    if entry.is_text:
        found = line_starts(b"".join(each.data for each in chunks))
        lines = tuple(entry.line - 1 + each for each in found.lines)
        return Layout(entry.line, found.offsets, lines)
    if kept.rebuilt is not None:
        return kept.rebuilt.layout
    parts = entry.parts_at(kept.path) if EACH in kept.path else None
    if parts is None or len(parts) != len(chunks):
        path = next((each for each in split_paths(kept.path)), "")
        line = entry.line if entry.at(path) is None else entry.line_at(path)
        return Layout(entry.line, (0,), (line,))
    starts = tuple(accumulate((len(each.data) for each in chunks[:-1]), initial=0))
    return Layout(entry.line, starts, tuple(each.line for each in parts))
