"""Imports calls of a model from OpenTelemetry: spans and events by its conventions for GenAI.

Each record with messages (`gen_ai.input.messages`, `gen_ai.output.messages`) is an exchange: the
input is its request, the output its body. Telemetry has no heads, chunks or ends, so the rules
judge only the content, and what later calls repeat of it.

Rule 1: a record is an object at any depth of the file with `attributes` (a map, or OTLP's list of
keys and values), or with such keys itself. A file is OTLP in JSON (one document, or one per line),
the output of a console exporter, or an array of spans.
Rule 2: attributes lose `gen_ai.`, and dots become underscores; others are left out. Messages may be
JSON in a text, as in spans.
Rule 3: records of agents and tools repeat their calls, and are skipped. Of a span and an event of
one call the first counts.
Rule 4: if every call has a time, calls are in the order in which they began.
Rule 5: what Langfuse and Logfire keep of a call in their own words is one, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from json import JSONDecoder
from typing import Any, Final

import msgspec
from msgspec import Struct

from conformance.cassette.header import Cassette, Header
from conformance.cassette.importers import (
    ForeignFile,
    ImportedRecording,
    Importer,
    NothingJudgedError,
)
from conformance.cassette.importers.openinference import MARK, as_conventions
from conformance.cassette.importers.otlp_values import plain_attributes
from conformance.cassette.positions import Layout
from conformance.core.errors import Place
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.core.json_values import decode_json
from conformance.core.lines import BOM
from conformance.dialects.otel_genai import observations

_PREFIX: Final = "gen_ai."
_GIVEN: Final = "gen_ai.input.messages"
_SAID: Final = "gen_ai.output.messages"
_FAILED: Final = "error.type"
_MARKS: Final = (_GIVEN.encode(), _SAID.encode(), MARK, *observations.MARKS)
_IN_JSON: Final = (_GIVEN, _SAID, "gen_ai.system_instructions", "gen_ai.tool.definitions")
_OF_ANSWERS: Final = ("gen_ai.output.", "gen_ai.response.", "gen_ai.usage.", _FAILED)
_NO_CALLS: Final = frozenset(
    {"invoke_agent", "create_agent", "invoke_workflow", "execute_tool", "embeddings", "retrieval"}
)
_TIMES: Final = (
    *("startTimeUnixNano", "start_time", "timeUnixNano", "startTime", "start_timestamp"),
    "timestamp",
)
_SPANS: Final = ("spanId", "span_id")
_JSON: Final = (("content-type", "application/json"),)
_NOTE: Final = "telemetry keeps no heads, chunks or ends of answers: only their content is judged"


Fields = Mapping[str, Any]


class TelemetryRecord(Struct, frozen=True):
    """A record of a call: the line it is in, when it began, its span, and its attributes."""

    line: int
    began: Any
    span: str
    attributes: Fields


def _values(file: ForeignFile) -> Iterator[tuple[int, Any]]:
    """The values of JSON in a file, one after the other, each with the line where it begins."""
    text = file.data.removeprefix(BOM).decode("utf-8", "replace")
    decoder, at, line = JSONDecoder(), 0, 1
    while at < len(text):
        begin = at
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        line += text.count("\n", begin, at)
        if at == len(text):
            return
        try:
            end = decoder.raw_decode(text, at)[1]
            value = decode_json(text[at:end])
        except (ValueError, RecursionError):
            value, end = None, text.find("\n", at) % (len(text) + 1)  # only this line is lost
        yield line, value
        line += text.count("\n", at, end)
        at = end


def _records(line: int, value: Any) -> Iterator[TelemetryRecord]:
    """Rule 1."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += reversed(each)
        elif isinstance(each, dict):
            found = as_conventions(plain_attributes(each.get("attributes")))
            attributes = next(filter(_is_call, (found, each)), None)
            attributes = attributes or observations.as_call(found) or observations.as_call(each)
            if attributes:
                yield _record(line, each, attributes)
            else:
                waiting += reversed(list(each.values()))


def _is_call(attributes: Fields) -> bool:
    return _SAID in attributes or (_GIVEN in attributes and _FAILED in attributes)


def _record(line: int, holder: Fields, attributes: Fields) -> TelemetryRecord:
    context = holder.get("context")
    named = {**(context if isinstance(context, dict) else {}), **holder}
    span = next((named[key] for key in _SPANS if isinstance(named.get(key), str)), "")
    began = next((named[key] for key in _TIMES if named.get(key)), None)
    return TelemetryRecord(line, began, span, {**attributes, **_decoded(attributes)})


def _decoded(attributes: Fields) -> dict[str, Any]:
    """Rule 2: what stands as JSON in a text; a list may be in an object under `messages`."""
    found: dict[str, Any] = {}
    for key in _IN_JSON:
        value = attributes.get(key)
        value = decode_json(value) if isinstance(value, str) else value
        if isinstance(value, dict) and isinstance(value.get("messages"), list):
            value = value["messages"]
        if isinstance(value, list):
            found[key] = value
    return found


class TelemetryCalls:
    """The calls of a file, and how many records are none."""

    def __init__(self, file: ForeignFile) -> None:
        self.records: list[TelemetryRecord] = []
        self.of_agents = self.unread = self.again = 0
        spans: set[str] = set()
        for line, value in _values(file):
            for record in _records(line, value):
                self._add(record, spans)
        if all(isinstance(each.began, str) for each in self.records):
            self.records.sort(key=lambda each: (len(each.began), each.began))

    def _add(self, record: TelemetryRecord, spans: set[str]) -> None:
        if record.attributes.get("gen_ai.operation.name") in _NO_CALLS:
            self.of_agents += 1
        elif not isinstance(record.attributes.get(_SAID, []), list):
            self.unread += 1
        elif record.span and record.span in spans:
            self.again += 1
        else:
            spans.add(record.span)
            self.records.append(record)

    def notes(self) -> tuple[str, ...]:
        said = {
            "records of agents and tools, which repeat what calls said, were skipped": (
                self.of_agents
            ),
            "records whose messages cannot be read were skipped": self.unread,
            "calls that were recorded again were skipped": self.again,
        }
        return (_NOTE, *(f"{why}: {count}" for why, count in said.items() if count))


def _exchange(number: int, record: TelemetryRecord, dialect: str | None) -> Exchange:
    given: dict[str, Any] = {}
    said: dict[str, Any] = {}
    for key, value in record.attributes.items():
        if key.startswith(_PREFIX) or key == _FAILED:
            side = said if key.startswith(_OF_ANSWERS) else given
            side[key.removeprefix(_PREFIX).replace(".", "_")] = value
    return Exchange(
        number=number,
        request=Request("POST", "", _JSON, given),
        response=Response(None, "", _JSON),
        chunks=(Chunk(msgspec.json.encode(said)),),
        end="eof",
        dialect=dialect,
    )


def _is_telemetry(file: ForeignFile) -> bool:
    """Whether messages of a model are named, and records have them."""
    if not file.head.removeprefix(BOM).lstrip().startswith((b"{", b"[")):
        return False
    if not any(mark in file.data for mark in _MARKS):
        return False
    return any(True for line, value in _values(file) for _ in _records(line, value))


def _read_telemetry(file: ForeignFile) -> ImportedRecording | None:
    """The calls of a file. Raises NothingJudgedError where none is of a model."""
    if not _is_telemetry(file):
        return None
    calls = TelemetryCalls(file)
    if not calls.records:
        raise NothingJudgedError("telemetry without a call of a model", place=Place(str(file.path)))
    exchanges = tuple(
        _exchange(number, record, file.dialect) for number, record in enumerate(calls.records, 1)
    )
    header = Header(
        origin="imported",
        fidelity="events",
        dialect=file.dialect,
        recorder={"name": "opentelemetry"},
    )
    layouts = tuple(Layout(each.line, (0,), (each.line,)) for each in calls.records)
    return ImportedRecording(Cassette(header, exchanges, notes=calls.notes()), layouts)


IMPORTER: Final = Importer(
    "otel",
    (".json", ".jsonl", ".ndjson", ""),
    _is_telemetry,
    _read_telemetry,
    says=(
        "calls of a model in spans or events of OpenTelemetry (`gen_ai.*`), OpenInference, "
        "Logfire, and in observations of Langfuse"
    ),
    trusted="`events`: answers are put together from attributes",
    keeps="request",
)
