"""Files that are one response body as it came over the wire, or lines that are payloads of one.

The name shows what such a file is; where it shows nothing, the first bytes do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import Any, Final

import msgspec

from conformance.cassette.header import Cassette, Header
from conformance.cassette.importers import (
    ForeignFile,
    ImportedRecording,
    Importer,
    NothingJudgedError,
)
from conformance.cassette.importers.kept_end import (
    REBUILT,
    TAKEN,
    missing_end,
    without_blank_lines,
)
from conformance.cassette.payloads import DONE, join_frames, rebuild, sends_lines, spoken_dialect
from conformance.cassette.pipes import is_pipe
from conformance.cassette.positions import Layout, line_starts
from conformance.cassette.token_ids import HINT, holds_token_ids
from conformance.core.binary import message_length
from conformance.core.errors import CassetteError, Place
from conformance.core.events import Chunk, Exchange, Fidelity, Request, Response
from conformance.core.json_values import NOT_JSON, decode_json
from conformance.core.lines import BOM
from conformance.core.text import MARKER_BEGINNING
from conformance.dialects import SUPPORTED
from conformance.dialects.gemini_generate.sdk_objects import body_as_sent
from conformance.dialects.lone_event import is_lone_event, is_lone_line

_SSE_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")
_LINES_TO_RECOGNISE: Final = 16
_BINARY_TYPE: Final = "application/vnd.amazon.eventstream"
_LINES_TYPE: Final = "application/x-ndjson"
_JSON_TYPE: Final = "application/json"
_NOTE_BEGINNING: Final = b'{"_'
_NOTES: Final = "lines whose keys all begin with _ are notes of who kept the file: left out"


def imported_body(
    file: ForeignFile,
    body: bytes,
    fidelity: Fidelity,
    layout: Layout | Callable[[], Layout] | None = None,
    *,
    content_type: str = "",
    notes: tuple[str, ...] = (),
) -> ImportedRecording:
    """One answer of which only the body was kept; without a layout the body is the file."""
    headers = (("content-type", content_type),) if content_type else ()
    response = Response(headers=headers)
    exchange = Exchange(response=response, chunks=(Chunk(body),), dialect=file.dialect)
    header = Header(origin="imported", fidelity=fidelity, dialect=file.dialect)
    found = layout or partial(line_starts, body)
    return ImportedRecording(Cassette(header, (exchange,), notes=notes), (found,))


def _begins_with_field(file: ForeignFile) -> bool:
    """Also a byte order mark alone: files of JSON, which may have one, are known by the brace."""
    head = file.head.lstrip()
    begun = head.removeprefix(BOM).lstrip()
    return begun.startswith(_SSE_FIELDS) or (begun != head and not begun.startswith((b"{", b"[")))


def _read_events(file: ForeignFile) -> ImportedRecording | None:
    if not (file.name.endswith(".sse") or _begins_with_field(file)):
        return None
    events = None if is_pipe(file.path) else without_blank_lines(file.data)
    if events is not None:
        frames = [each.rstrip(b"\r\n") + b"\n\n" for each in events]
        firsts = accumulate((each.count(b"\n") for each in events[:-1]), initial=1)
        rebuilt = join_frames(frames, list(firsts), (REBUILT,))
        return imported_body(file, rebuilt.body, "events", rebuilt.layout, notes=rebuilt.notes)
    lacking = missing_end(file.data)
    layout, notes = partial(line_starts, file.data), (TAKEN,) if lacking else ()
    return imported_body(file, file.data + lacking, "bytes", layout, notes=notes)


def _begins_with_marker(file: ForeignFile) -> bool:
    return file.head.lstrip().startswith(MARKER_BEGINNING)


def _read_text(file: ForeignFile) -> ImportedRecording | None:
    # Without a marker only who names the dialect knows that it is raw text.
    named = file.dialect is not None and file.name.endswith(".txt")
    if not (named or _begins_with_marker(file)):
        return None
    return imported_body(file, file.data, "bytes", content_type="text/plain")


def _holds_messages(file: ForeignFile) -> bool:
    """By its name, or by the checksum of what its first message begins with."""
    is_named = file.name.endswith((".eventstream", ".eventstream.bin"))
    return is_named or message_length(file.head, 0) > 0


def _read_messages(file: ForeignFile) -> ImportedRecording | None:
    if not _holds_messages(file):
        return None
    return imported_body(file, file.data, "bytes", content_type=_BINARY_TYPE)


def _holds_lines(file: ForeignFile) -> bool:
    """Whether the file has several lines, and the first is a line of an API that sends lines."""
    dialect = _first_dialect(file) if _has_several_lines(file) else None
    return sends_lines(dialect)


def _read_lines(file: ForeignFile) -> ImportedRecording | None:
    if not (file.name.endswith(".ndjson") or _holds_lines(file)):
        return None
    if _NOTE_BEGINNING in file.data:
        lines = file.data.splitlines(keepends=True)
        kept = [(line, n) for n, line in enumerate(lines, 1) if not _is_note(line)]
        if 0 < len(kept) < len(lines):
            rebuilt = join_frames([line for line, _ in kept], [n for _, n in kept], (_NOTES,))
            return imported_body(
                file,
                rebuilt.body,
                "events",
                rebuilt.layout,
                content_type=_LINES_TYPE,
                notes=rebuilt.notes,
            )
    fidelity: Fidelity = "events" if file.name.endswith(".jsonl") else "bytes"
    return imported_body(file, file.data, fidelity, content_type=_LINES_TYPE)


def _is_note(line: bytes) -> bool:
    """Whether who keeps the lines wrote this one next to them: all its keys begin with `_`."""
    if not line.lstrip().startswith(_NOTE_BEGINNING):
        return False
    value = decode_json(line.decode("utf-8", "replace"))
    return isinstance(value, dict) and all(key.startswith("_") for key in value)


def _first_dialect(file: ForeignFile) -> str | None:
    """The dialect of the first lines; None if one of them is not JSON."""
    for line in file.data.split(b"\n", _LINES_TO_RECOGNISE)[:_LINES_TO_RECOGNISE]:
        text = line.strip()
        value = decode_json(text.decode("utf-8", "replace")) if text not in (b"", DONE) else None
        if value is NOT_JSON:
            return None
        if (found := spoken_dialect(value)) is not None:
            return found
    return None


def _has_several_lines(file: ForeignFile) -> bool:
    head = file.head.lstrip()
    return head.startswith(b"{") and b"\n" in file.data.strip()


def _holds_payloads(file: ForeignFile) -> bool:
    named = file.name.endswith((".jsonl", ".chunks.txt"))
    return (named or _has_several_lines(file)) and _first_dialect(file) is not None


def _read_payloads(file: ForeignFile) -> ImportedRecording | None:
    if not (file.name.endswith((".jsonl", ".chunks.txt")) or _holds_payloads(file)):
        return None
    _refuse_token_ids(file)
    if _first_dialect(file) is None and _holds_answer(file):
        return _read_answer(file)  # one answer over many lines, whatever its name says
    if not _has_several_lines(file):
        _refuse_lone_line(file)
    rebuilt = rebuild(str(file.path), file.data)
    return imported_body(file, rebuilt.body, "events", rebuilt.layout, notes=rebuilt.notes)


def _holds_answer(file: ForeignFile) -> bool:
    if not file.head.removeprefix(BOM).lstrip().startswith((b"{", b"[")):
        return False
    value = decode_json(file.data.removeprefix(BOM).decode("utf-8", "replace"))
    if value is NOT_JSON or spoken_dialect(value) is None:
        return False
    _refuse_lone_event(file, value)
    return True


def _refuse_lone_event(file: ForeignFile, value: Any) -> None:
    """What came before one event and after it was not kept: there is no answer to judge."""
    if is_lone_event(value, file.dialect):
        raise _lone_event_error(file)


def _refuse_lone_line(file: ForeignFile) -> None:
    value = decode_json(file.data.decode("utf-8", "replace"))
    if value is not NOT_JSON and is_lone_line(value, file.dialect):
        raise _lone_event_error(file)


def _lone_event_error(file: ForeignFile) -> NothingJudgedError:
    return NothingJudgedError(
        "holds one event of a stream, no whole answer",
        place=Place(str(file.path)),
        hint="keep the whole stream, its events one a line in a file NAME.jsonl",
    )


def _request_body(file: ForeignFile) -> dict[str, Any] | None:
    """The body of a request of the dialect that the user names; None where the file holds none.

    Only the name shows: requests of several dialects have the same keys.
    """
    spoken = SUPPORTED.get(file.dialect or "")
    form = spoken.request if spoken is not None else None
    if form is None or not file.head.lstrip().startswith(b"{"):
        return None
    value = decode_json(file.data.decode("utf-8", "replace"))
    if not isinstance(value, dict) or not isinstance(value.get(form.history), list):
        return None
    return None if spoken_dialect(value) is not None else value


def _imported_request(file: ForeignFile, body: dict[str, Any]) -> ImportedRecording:
    """A request whose answer was not recorded."""
    request = Request("POST", "", (("content-type", _JSON_TYPE),), body)
    exchange = Exchange(request=request, end="open", dialect=file.dialect)
    header = Header(origin="imported", fidelity="bytes", dialect=file.dialect)
    notes = ("the file holds a request, and no answer to it",)
    found = partial(line_starts, file.data)
    return ImportedRecording(Cassette(header, (exchange,), notes=notes), (found,))


def _read_answer(file: ForeignFile) -> ImportedRecording | None:
    if (request_body := _request_body(file)) is not None:
        return _imported_request(file, request_body)
    named = file.name.endswith(".json")
    if named:
        _refuse_token_ids(file)
    if not _holds_answer(file) and not named:
        return None
    sent = body_as_sent(file.json) if b'"sdk_http_response"' in file.data else None
    if sent is not None:
        return imported_body(
            file, msgspec.json.encode(sent), "events", Layout(1), content_type=_JSON_TYPE
        )
    return imported_body(file, file.data, "bytes", content_type=_JSON_TYPE)


def _refuse_token_ids(file: ForeignFile) -> None:
    if holds_token_ids(file.head):
        raise CassetteError("holds token ids", place=Place(str(file.path)), hint=HINT)


EVENTS: Final = Importer(
    "sse",
    (".sse", ""),
    _begins_with_field,
    _read_events,
    says="an event stream, as it came",
    trusted="`bytes`",
    keeps="nothing",
)
LINES: Final = Importer(
    "ndjson",
    (".ndjson", ""),
    _holds_lines,
    _read_lines,
    says="lines of JSON of an API that sends lines (Ollama), as they came",
    trusted="`bytes`",
    keeps="nothing",
)
MESSAGES: Final = Importer(
    "binary",
    (".eventstream", ".eventstream.bin", ".bin", ".txt", ""),
    _holds_messages,
    _read_messages,
    says="binary messages of an AWS event stream, as they came",
    trusted="`bytes`",
    keeps="nothing",
)
TEXT: Final = Importer(
    "text",
    (".txt", ""),
    _begins_with_marker,
    _read_text,
    says="what a model said, with its markers (`<|channel|>`)",
    trusted="`bytes`",
    keeps="nothing",
)
PAYLOADS: Final = Importer(
    "jsonl",
    (".jsonl", ".chunks.txt", ""),
    _holds_payloads,
    _read_payloads,
    says="the payload of one event a line; the framing is rebuilt",
    trusted="`events`",
    keeps="nothing",
)
ANSWER: Final = Importer(
    "json",
    (".json", ""),
    _holds_answer,
    _read_answer,
    says="one whole answer, as it came; with --dialect also the body of one request",
    trusted="`bytes`",
    keeps="nothing, or the request alone",
)
