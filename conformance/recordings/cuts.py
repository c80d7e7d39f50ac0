"""Events that break off inside their JSON."""

from __future__ import annotations

from typing import NamedTuple

from conformance.core.events import Exchange, Frame
from conformance.core.framing import exchange_frames
from conformance.core.json_values import NOT_JSON, decode_json


class CutEvent(NamedTuple):
    """The number of a broken event, from 1, its byte, and whether nothing but comments follows."""

    number: int
    offset: int
    is_last: bool


def cut_events(exchange: Exchange) -> list[CutEvent]:
    """Every event of an answer that begins like JSON and is none."""
    found, last = [], 0
    for number, (frame, _) in enumerate(exchange_frames(exchange), 1):
        last = last if frame.kind == "comment" else number
        if _is_cut(frame):
            found.append(CutEvent(number, frame.offset, is_last=False))
    return [each._replace(is_last=each.number == last) for each in found]


def _is_cut(frame: Frame) -> bool:
    """Whether the JSON of an event ends early; a missing blank line alone is no cut."""
    if frame.kind == "ignored-line":
        return frame.event == "unfinished"
    if frame.kind == "ignored":
        if frame.event != "unfinished":
            return False
        lines = (line.partition(":") for line in frame.data.splitlines())
        data = "\n".join(value.removeprefix(" ") for name, _, value in lines if name == "data")
    else:
        data = frame.data
    return data[:1] in ("{", "[") and data != "[DONE]" and decode_json(data) is NOT_JSON
