"""Reading a list of frames through a dialect, as the tests of this folder need it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from conformance import dialects
from conformance.core.events import SEMANTIC_EVENTS, Ending, Event, Frame

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
    if frame.kind == "text":
        return frame.data
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


def check_sound(events: list[Event]) -> None:
    """Known fields, no empty delta, balanced starts and ends, one of done and cut."""
    semantic = [event for event in events if event.layer == "semantic"]
    open_blocks: set[tuple[Any, ...]] = set()
    for event in semantic:
        assert set(event.data) <= SEMANTIC_EVENTS[event.type] | {"choice"}
        kind, _, what = event.type.partition(".")
        key = (kind, event.data["choice"], event.data.get("block", event.data.get("index")))
        if what == "start" and kind != "message":
            assert key not in open_blocks
            open_blocks.add(key)
        elif what == "delta" and kind != "refusal":
            assert event.data.get("text") or event.data.get("arguments")
            assert key in open_blocks
        elif what == "end":
            assert key in open_blocks
            open_blocks.remove(key)
    assert not open_blocks
    assert semantic[-1].type in {"done", "cut"}
    assert events == sorted(events, key=lambda event: event.number)


@pytest.fixture(scope="session")
def assert_sound() -> Callable[[list[Event]], None]:
    """`assert_sound(events)`: known fields, no empty delta, balanced starts and ends."""
    return check_sound
