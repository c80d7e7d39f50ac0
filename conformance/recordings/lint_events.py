"""Events that break off inside their JSON, and two answers in what should be one exchange."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from conformance.core.events import Event, Exchange, Frame
from conformance.core.framing import exchange_frames
from conformance.core.json_values import NOT_JSON, decode_json
from conformance.dialects import SUPPORTED

_BOUNDS: Final = tuple(dialect.bounds for dialect in SUPPORTED.values())
_FIRST: Final = frozenset[str]().union(*(bounds.first for bounds in _BOUNDS))
_ONCE: Final = frozenset[str]().union(*(bounds.once for bounds in _BOUNDS))
_LAST: Final = frozenset[str]().union(*(bounds.last for bounds in _BOUNDS))
_IDENTIFIED: Final = frozenset(bounds.identified for bounds in _BOUNDS)


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


def find_splice(events: Iterable[Event]) -> int | None:
    """Number of the frame in which a second answer begins; None if there is one answer only.

    An answer begins with its first wire event, also where the one before never ended, and where
    another id brings a role or a text after the finish.
    """
    begun, ended, shown, finished = False, False, "", ""
    for event in events:
        if event.layer == "semantic":
            finished = shown if event.type == "finish" else finished
        if event.layer != "wire":
            continue
        if (ended and event.type in _FIRST) or (begun and event.type in _ONCE):
            return event.number
        begun = begun or event.type in _ONCE
        if event.type in _IDENTIFIED:
            shown = str(event.data.get("id"))
        if finished not in ("", shown) and any(bounds.speaks(event) for bounds in _BOUNDS):
            return event.number
        ended = ended or event.type in _LAST
    return None
