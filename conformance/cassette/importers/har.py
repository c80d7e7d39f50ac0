"""HTTP archives (HAR 1.2), as browsers and proxies save them.

http://www.softwareishard.com/blog/har-12-spec: `log.entries[]` with `request` (method, url,
headers, postData), `response` (status, headers, content: text, maybe in base64) and `timings` in
milliseconds. Bodies are joined and decoded; of times only that of the response head is told.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from conformance.cassette.header import CassetteClock, Header
from conformance.cassette.importers import ForeignFile, ImportedRecording, Importer
from conformance.cassette.importers.http_messages import Headers, request_of
from conformance.cassette.importers.traffic import SeenExchange, judged_traffic
from conformance.cassette.payloads import TextPart, array_elements, part
from conformance.cassette.positions import Layout
from conformance.core.events import Chunk, Ending, Exchange, Fidelity, Request, Response
from conformance.core.json_values import list_at, text_at, value_at
from conformance.core.lines import BOM

_BEGINNING: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"log"\s*:\s*\{')
_LONGEST_TIME: Final = 64
_MOST_MS: Final = 3.2e13
_HINT: Final = "save the archive with contents, while the developer tools are open"
_DECODED: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})


def _begins_archive(file: ForeignFile) -> bool:
    return _BEGINNING.match(file.head) is not None


def _read_archive(file: ForeignFile) -> ImportedRecording | None:
    """Entries of APIs that are judged, numbered from 1. Raises CassetteError."""
    if not (_begins_archive(file) or file.name.endswith(".har")):
        return None
    log = value_at(file.json, "log")
    if not isinstance(value_at(log, "entries"), list):
        raise file.error("expected a HAR file: an object `log` with a list `entries`", 1)
    entries = log["entries"]
    header = Header(
        origin="imported",
        fidelity=_log_fidelity(entries),
        dialect=file.dialect,
        recorder=_log_creator(log),
        recorded_at=_first_time(entries),
    )
    return judged_traffic(file, _read_entries(file, entries), header, hint=_HINT)


def _read_entries(file: ForeignFile, entries: list[Any]) -> Iterator[SeenExchange]:
    parts = array_elements(file.data.removeprefix(BOM), "log", "entries")
    for number, (placed, entry) in enumerate(zip(parts, entries, strict=True), 1):
        if not isinstance(entry, dict) or not isinstance(entry.get("response"), dict):
            raise file.error(f"entry {number} has no response", placed.line)
        try:
            body = _body_of(entry)
            request = _request_of(entry)
        except ValueError as err:
            raise file.error(f"entry {number} cannot be read: {err}", placed.line) from err
        exchange = Exchange(
            request=request,
            response=_response_of(entry["response"]),
            chunks=(Chunk(body),) if body else (),
            end=_answer_ending(entry["response"]),
        )
        layout = partial(_content_layout, placed)
        yield SeenExchange(exchange, layout, _entry_clock(entry), body is not None)


def _content_layout(entry: TextPart) -> Layout:
    """All of a body stands in one JSON string."""
    try:
        text = part(entry.raw, "response", "content", "text")
    except (KeyError, msgspec.DecodeError):
        return Layout(entry.line)
    line = entry.line + text.line - 1
    return Layout(entry.line, (0,), (line,))


def _body_of(entry: Mapping[str, Any]) -> bytes | None:
    """The body; None where it was not kept. Raises ValueError for broken base64."""
    content = value_at(entry, "response", "content")
    text = value_at(content, "text")
    if not isinstance(text, str):
        return None
    if text_at(content, "encoding") == "base64":
        return base64.b64decode(text, validate=True)
    if not text:
        return None  # an empty text stands for a body that was not kept, too
    return _wire_bytes(text)


def _wire_bytes(text: str) -> bytes:
    """What the text was made of: some programs take UTF-8 without a charset for Latin-1."""
    try:
        data = text.encode("latin-1")
        data.decode()
    except UnicodeError:
        return text.encode("utf-8", "surrogatepass")
    return data


def _request_of(entry: Mapping[str, Any]) -> Request:
    request = entry.get("request")
    body = _wire_bytes(text_at(request, "postData", "text"))
    return request_of(
        text_at(request, "method"), text_at(request, "url"), _header_pairs(request), body
    )


def _response_of(answer: Mapping[str, Any]) -> Response:
    status = answer.get("status")
    is_status = isinstance(status, int) and not isinstance(status, bool) and status > 0
    version = text_at(answer, "httpVersion").rpartition("/")[2]
    http = version if re.fullmatch(r"\d(?:\.\d)?", version) else ""
    kept = tuple(pair for pair in _header_pairs(answer) if pair[0].lower() not in _DECODED)
    if not any(name.lower() == "content-type" for name, _ in kept):
        mime = text_at(answer, "content", "mimeType")
        kept += (("content-type", mime),) if mime else ()
    return Response(status if is_status else None, http, kept)


def _header_pairs(message: Any) -> Headers:
    pairs = (
        (text_at(each, "name"), text_at(each, "value")) for each in list_at(message, "headers")
    )
    return tuple((name, value) for name, value in pairs if name and not name.startswith(":"))


def _answer_ending(answer: Mapping[str, Any]) -> Ending:
    """Browsers write down why a request failed under a name of their own."""
    return "reset" if text_at(answer, "_error") else "eof"


def _entry_clock(entry: Mapping[str, Any]) -> CassetteClock:
    wait = value_at(entry, "timings", "wait")
    is_known = isinstance(wait, int | float) and not isinstance(wait, bool)
    return CassetteClock(float(wait)) if is_known and 0 <= wait <= _MOST_MS else CassetteClock()


def _log_fidelity(entries: list[Any]) -> Fidelity:
    """Text is decoded and encoded again; what stands in base64 is as it came."""
    encodings = {text_at(each, "response", "content", "encoding") for each in entries}
    return "bytes" if encodings == {"base64"} else "text"


def _log_creator(log: Any) -> dict[str, Any]:
    known = {key: text_at(log, "creator", key) for key in ("name", "version")}
    return {key: value for key, value in known.items() if value}


def _first_time(entries: list[Any]) -> str | None:
    begun = text_at(entries, 0, "startedDateTime")
    return begun if 0 < len(begun) <= _LONGEST_TIME else None


IMPORTER: Final = Importer(
    "har",
    (".har", ".json", ""),
    _begins_archive,
    _read_archive,
    says="an HTTP archive of a browser or a proxy; what is no model's API is passed over",
)
