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
from conformance.cassette.json_parts import elements
from conformance.cassette.payloads import Payload, reframe
from conformance.cassette.positions import Layout
from conformance.core.errors import CassetteError, Place
from conformance.core.events import Chunk, Exchange, Response

_HEAD: Final = re.compile(rb'"events"\s*:\s*\[\s*\{\s*"data"\s*:\s*"')
_LONGEST_TIME: Final = 64
_KEPT: Final = "an Opal fixture keeps payloads: no request, head, chunks or times"


def is_fixture(value: Any) -> bool:
    """Whether a JSON value has the shape of a fixture."""
    events = value.get("events") if isinstance(value, dict) else None
    if not isinstance(events, list) or not (events or "recorded_at" in value):
        return False
    return all(_data(each) is not None for each in events)


def begins_like_one(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a fixture."""
    return _HEAD.search(head) is not None


def fixture(file: str, data: bytes, value: Any, dialect: str | None) -> tuple[Cassette, Layout]:
    """The fixture as one exchange, and where its events stand. `value` is `data` decoded.

    Raises CassetteError if it holds no event.
    """
    texts = [_data(each) or "" for each in value["events"]]
    if not texts:
        raise CassetteError("the fixture holds no event", place=Place(file))
    parts = elements(data, "events")
    rebuilt = reframe([_payload(p.line, text) for p, text in zip(parts, texts, strict=True)])
    exchange = Exchange(response=Response(), chunks=(Chunk(rebuilt.body),), dialect=dialect)
    cassette = Cassette(_header(value, dialect), (exchange,), notes=(_KEPT, *rebuilt.notes))
    return cassette, rebuilt.layout


def _data(event: Any) -> str | None:
    data = event.get("data") if isinstance(event, dict) else None
    return data if isinstance(data, str) else None


def _payload(line: int, text: str) -> Payload:
    data = text.encode()
    try:
        return Payload.of(line, data, msgspec.json.decode(data))
    except (msgspec.DecodeError, RecursionError):
        return Payload.of(line, data, None)


def _header(value: dict[str, Any], dialect: str | None) -> Header:
    described, taken = value.get("description"), value.get("recorded_at")
    return Header(
        origin="imported",
        fidelity="events",
        dialect=dialect,
        recorder={"name": "opal"},
        recorded_at=taken if isinstance(taken, str) and len(taken) <= _LONGEST_TIME else None,
        extra={"description": described} if isinstance(described, str) else {},
    )
