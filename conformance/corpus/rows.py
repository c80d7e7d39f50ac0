"""One row of a corpus as a stream that can be judged, or the reason why it cannot."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from conformance.cassette import Cassette, Recording
from conformance.cassette.header import Header
from conformance.core.errors import CassetteError
from conformance.core.events import ENDINGS, Chunk, Exchange, Request, Response
from conformance.core.excerpts import clipped
from conformance.corpus.columns import ColumnNames, path_values, value_at
from conformance.recordings.in_memory import InMemory

WHOLE_FRAGMENT: Final = -1  # the row of what is wrong with a fragment, not with a row of it
_MODEL: Final = re.compile(rb'"model"\s*:\s*"([^"\\]{1,200})"')
_MODEL_WITHIN: Final = 4096  # bytes of a body
_ROWS_AT_ONCE: Final = 64
_BYTES_AT_ONCE: Final = 1 << 20
_MOST_TEXT: Final = 300  # characters of a word from a column
_MOST_KEPT: Final = 1 << 14  # of a kept one, before it is redacted: half a secret has no shape
# Seconds, milliseconds, microseconds and nanoseconds since 1970 are distinguished by their size.
_UNITS: Final = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9))
_HEADER: Final = Header(origin="imported")
_JSON: Final = msgspec.json.Decoder()


class CorpusStream(Struct, frozen=True):
    """A stream, and what its source says of it. `row` counts from 0 within its fragment.

    `dialect` and `profile` are None where the source does not name them; the others are empty.
    """

    row: int
    id: str
    recording: Recording
    size: int
    dialect: str | None = None
    profile: str | None = None
    provider: str = ""
    model: str = ""
    time: datetime | None = None
    path: str = ""  # of the file, where each stream has its own
    kept: tuple[str, ...] = ()  # in the order of the columns to keep
    session: str = ""  # the conversation that it is of


class UnreadableStream(Struct, frozen=True):
    """A row that is not judged, and why; the row is WHOLE_FRAGMENT where it is more than one."""

    row: int
    id: str
    reason: str
    path: str = ""


FragmentRow = CorpusStream | UnreadableStream


def few_at_once(rows: Iterable[FragmentRow]) -> Iterator[list[FragmentRow]]:
    """The rows, so many at a time that what is done with each runs warm, and few bodies are held.

    A file of its own comes alone: a copy of it may be gone when the next one is requested.
    """
    few: list[FragmentRow] = []
    size = 0
    for row in rows:
        few.append(row)
        size += row.size if isinstance(row, CorpusStream) else 0
        if row.path or size >= _BYTES_AT_ONCE or len(few) >= _ROWS_AT_ONCE:
            yield few
            few, size = [], 0
    if few:
        yield few


def row_stream(
    values: Mapping[str, Any], columns: ColumnNames, row: int, source: Path, place: str
) -> FragmentRow:
    """The stream of a row; its id is `place` and the row where the source has none."""
    given = {part: value_at(values, column) for part, column in columns.pairs}
    name = _word(given["id"]) or f"{place}#{row}"
    try:
        body = _body_bytes(given["body"])
        exchange = Exchange(
            request=_request_of(given["request"]),
            response=_response_of(given["status"], given["headers"]),
            chunks=tuple(_chunks_of(body, given["chunks"])),
            end=_ending_of(given["end"]),
        )
        time = time_of(given["time"])
    except (ValueError, TypeError, OverflowError, binascii.Error) as err:
        return UnreadableStream(row, name, _one_line(err))
    recording = InMemory(source, "row", Cassette(_HEADER, (exchange,)))
    return CorpusStream(
        row,
        name,
        recording,
        len(body),
        _word(given["dialect"]) or None,
        _word(given["profile"]) or None,
        _word(given["provider"]),
        _word(given["model"]) or model_of(exchange, body),
        time,
        kept=kept_words(values, columns),
        session=_word(given["session"]),
    )


def kept_words(values: Mapping[str, Any], columns: ColumnNames) -> tuple[str, ...]:
    """The values of the columns to keep as text; empty where there is none."""
    return tuple(_kept_word(value_at(values, column)) for column in columns.keep)


def _kept_word(value: Any) -> str:
    """A plain value as text; of others only that they are none."""
    if isinstance(value, Mapping | list | tuple):
        return "(an object)" if isinstance(value, Mapping) else "(a list)"
    if isinstance(value, bool):
        return "true" if value else "false"
    return clipped(_word(value), _MOST_KEPT)


def model_of(exchange: Exchange, body: bytes) -> str:
    """The model that was requested, else the one that the answer names first."""
    requested = exchange.request.json if exchange.request else None
    model = requested.get("model") if isinstance(requested, Mapping) else None
    if isinstance(model, str) and model:
        return clipped(model, _MOST_TEXT)
    found = _MODEL.search(body, 0, _MODEL_WITHIN)
    return found[1].decode("utf-8", "replace") if found else ""


def time_of(value: Any) -> datetime | None:
    """A time of a column: a timestamp, ISO 8601, or a number since 1970. Raises ValueError."""
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, str):
        try:
            return time_of(datetime.fromisoformat(value))
        except ValueError:
            return time_of(float(value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"the time is of a kind that is not read: {type(value).__name__}")
    divisor = next((by for most, by in _UNITS if abs(value) < most), None)
    if divisor is None:
        raise ValueError(f"the time is out of range: {value}")
    return datetime.fromtimestamp(value / divisor, UTC)


def week_of(time: datetime | None) -> str:
    """The ISO week, `2026-W47`; empty without a time."""
    if time is None:
        return ""
    year, week, _ = time.isocalendar()
    return f"{year}-W{week:02}"


def _body_bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if value is None:
        raise ValueError("the body is null")
    if isinstance(value, Mapping) and set(value) == {"base64"}:
        return base64.b64decode(value["base64"], validate=True)
    raise TypeError("the body is a parsed value, not the bytes that came")


def _request_of(value: Any) -> Request | None:
    if value in (None, "", b""):
        return None
    if isinstance(value, str | bytes):
        raw = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        try:
            value = _JSON.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return Request().with_raw(raw)
    if not isinstance(value, Mapping):
        return Request(json=value)
    if isinstance(value.get("method"), str) and "path" in value:
        headers = tuple(_header_pairs(value.get("headers")))
        path = _word(value["path"])
        return Request(value["method"], path, headers, value.get("json", value.get("body")))
    return Request(json=value)


def _response_of(status: Any, headers: Any) -> Response | None:
    pairs = tuple(_header_pairs(headers))
    code = int(status) if status is not None and status != "" else None
    return Response(code, headers=pairs) if pairs or code is not None else None


def _header_pairs(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str | bytes) and value:
        value = _JSON.decode(value)
    if value is None or value == "":
        return
    items = value.items() if isinstance(value, Mapping) else value
    for item in items:
        name, text = item.values() if isinstance(item, Mapping) else item
        for one in text if isinstance(text, list | tuple) else (text,):
            yield str(name), "" if one is None else str(one)


def _chunks_of(body: bytes, value: Any) -> Iterator[Chunk]:
    """Chunks of stated times and sizes; one without a clock where none are stated."""
    if isinstance(value, str | bytes) and value:
        value = _JSON.decode(value)
    if not value:
        yield Chunk(body)
        return
    at = 0
    for item in value:
        ms, size = item.values() if isinstance(item, Mapping) else item
        yield Chunk(body[at : at + int(size)], None if ms is None else float(ms))
        at += int(size)
    if at != len(body):
        raise ValueError(f"the chunks have {at} bytes, the body has {len(body)}")


def _ending_of(value: Any) -> Any:
    if value is None or value == "":
        return "eof"
    if value not in ENDINGS:
        raise ValueError(f"no ending {value!r}; there are {', '.join(ENDINGS)}")
    return value


def _word(value: Any) -> str:
    if value is None:
        return ""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.encode("utf-8", "replace").decode()


def _one_line(error: BaseException) -> str:
    return clipped(" ".join(str(error).split()), _MOST_TEXT) or type(error).__name__


def recording_stream(
    recording: Recording, row: int, path: str, size: int, columns: ColumnNames
) -> FragmentRow:
    """The stream of a recording's file; of columns it has those that its folders name."""
    if not recording.exchanges:
        raise CassetteError("the recording holds no exchange")
    header = recording.header
    first = recording.exchanges[0]
    names = (header.target.get("name"), header.model.get("name"), header.model.get("id"))
    provider, *models = (each if isinstance(each, str) else "" for each in names)
    try:
        time = time_of(header.recorded_at)
    except (ValueError, TypeError):
        time = None
    beginning = b"".join(each.data for each in first.chunks[:8])[:_MODEL_WITHIN]
    model = next(filter(None, models), "") or model_of(first, beginning)
    return CorpusStream(
        row,
        path,
        recording,
        size,
        provider=provider,
        model=model,
        time=time,
        path=path,
        kept=kept_words(path_values(path), columns),
    )
