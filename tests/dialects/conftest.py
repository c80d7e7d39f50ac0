"""Reading a list of frames through a dialect, as the tests of this folder need it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from conformance import dialects
from conformance.events import Ending, Event, Frame

ReadStream = Callable[..., list[Event]]


def as_frame(value: Any) -> Frame:
    """A frame of a vector: bare data, `{data, event}`, `{body}`, or the payload itself."""
    if isinstance(value, str):
        return Frame("event", "message", value, "", 0)
    if isinstance(value, dict) and set(value) == {"body"}:
        return Frame("body", "", json.dumps(value["body"]), "", 0)
    if isinstance(value, dict) and "data" in value and set(value) <= {"data", "event"}:
        data = value["data"]
        text = data if isinstance(data, str) else json.dumps(data)
        return Frame("event", value.get("event", "message"), text, "", 0, "event" in value)
    return Frame("event", "message", json.dumps(value), "", 0)


def payload_of(frame: Frame) -> Any:
    try:
        return msgspec.json.decode(frame.data)
    except msgspec.DecodeError:
        return dialects.NOT_JSON


def read(
    dialect: str,
    values: Sequence[Any],
    reading: dialects.Reading | None = None,
    end: Ending = "eof",
) -> list[Event]:
    reader = dialects.get(dialect).reader(reading or dialects.Reading())
    events: list[Event] = []
    for number, value in enumerate(values, 1):
        frame = value if isinstance(value, Frame) else as_frame(value)
        events += reader.read(frame, payload_of(frame), number)
    return [*events, *reader.end(end, len(values) + 1)]


@pytest.fixture(scope="session")
def read_stream() -> ReadStream:
    """`read_stream(dialect, frames, reading=None, end="eof")` gives the events of a stream."""
    return read
