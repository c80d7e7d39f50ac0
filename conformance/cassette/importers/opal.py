"""Fixtures of Opal: the payloads of a stream's events, each as JSON inside a string.

`{"description", "recorded_at", "events": [{"data": "{...}"}]}` (matteing/opal,
`opal/test/support/fixtures`). Neither request nor response head, event names, chunks and times were
kept, and `[DONE]` was left out. A payload may end early: its recorder worked on split lines.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from conformance.cassette.header import Cassette, Header
from conformance.cassette.importers import ForeignFile, ImportedRecording, Importer
from conformance.cassette.payloads import Payload, array_elements, reframe
from conformance.core.events import Chunk, Exchange, Response

_HEAD: Final = re.compile(rb'"events"\s*:\s*\[\s*\{\s*"data"\s*:\s*"')
_LONGEST_TIME: Final = 64
_KEPT: Final = "an Opal fixture keeps payloads: no request, head, chunks or times"


def _is_fixture(value: Any) -> bool:
    events = value.get("events") if isinstance(value, dict) else None
    if not isinstance(events, list) or not (events or "recorded_at" in value):
        return False
    return all(_event_data(each) is not None for each in events)


def _begins_like_fixture(file: ForeignFile) -> bool:
    return _HEAD.search(file.head) is not None


def _read_fixture(file: ForeignFile) -> ImportedRecording | None:
    """The fixture as one exchange. Raises CassetteError if it holds no event."""
    value = file.json
    if not _is_fixture(value):
        return None
    texts = [_event_data(each) or "" for each in value["events"]]
    if not texts:
        raise file.error("the fixture holds no event")
    parts = array_elements(file.data, "events")
    rebuilt = reframe([_payload_of(p.line, text) for p, text in zip(parts, texts, strict=True)])
    exchange = Exchange(response=Response(), chunks=(Chunk(rebuilt.body),), dialect=file.dialect)
    header = _fixture_header(value, file.dialect)
    cassette = Cassette(header, (exchange,), notes=(_KEPT, *rebuilt.notes))
    return ImportedRecording(cassette, (rebuilt.layout,))


def _event_data(event: Any) -> str | None:
    data = event.get("data") if isinstance(event, dict) else None
    return data if isinstance(data, str) else None


def _payload_of(line: int, text: str) -> Payload:
    data = text.encode()
    try:
        return Payload.of(line, data, msgspec.json.decode(data))
    except (msgspec.DecodeError, RecursionError):
        return Payload.of(line, data, None)


def _fixture_header(value: dict[str, Any], dialect: str | None) -> Header:
    described, taken = value.get("description"), value.get("recorded_at")
    return Header(
        origin="imported",
        fidelity="events",
        dialect=dialect,
        recorder={"name": "opal"},
        recorded_at=taken if isinstance(taken, str) and len(taken) <= _LONGEST_TIME else None,
        extra={"description": described} if isinstance(described, str) else {},
    )


IMPORTER: Final = Importer(
    "opal",
    (".json",),
    _begins_like_fixture,
    _read_fixture,
    says="a fixture of Opal: payloads as JSON inside strings",
)
