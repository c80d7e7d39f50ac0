"""Events that break off inside their JSON, and two answers in what should be one exchange."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from conformance.core.events import Event, Exchange
from conformance.core.framing import exchange_frames
from conformance.core.json_values import NOT_JSON, decode_json
from conformance.dialects.wire_keys import AnswerBounds


class CutEvent(NamedTuple):
    """The number of a broken event, from 1, and whether nothing but comments follows."""

    number: int
    is_last: bool


def cut_events(exchange: Exchange, events: Iterable[Event]) -> list[CutEvent]:
    """Every event of an answer that begins like JSON and is none; `events` are all it gave."""
    found, last = [], 0
    for event in events:
        if event.layer != "transport" or not event.number or event.type == "http.end":
            continue
        last = last if event.type == "sse.comment" else event.number
        if _is_cut(event):
            found.append(event.number)
    if not last and _begins_like_json(body := _body_text(exchange)):
        found += [1] if decode_json(body) is NOT_JSON else []  # a whole body has no frame events
        last = 1
    return [CutEvent(number, number == last) for number in found]


def frame_offset(exchange: Exchange, number: int) -> int:
    """The byte at which the frame of a number begins; -1 where there is none."""
    frames = islice(exchange_frames(exchange), number - 1, number)
    return next((frame.offset for frame, _ in frames), -1)


def _is_cut(event: Event) -> bool:
    """Whether the JSON of an event ends early; a missing blank line alone is no cut."""
    if event.type in ("sse.frame", "line.frame", "element.frame", "binary.frame"):
        return "json" not in event.data and _begins_like_json(event.data["data"])
    if event.data.get("reason") != "unfinished":
        return False
    if event.type in ("line.ignored", "element.ignored", "binary.ignored"):
        return True
    lines = (line.partition(":") for line in event.data["text"].splitlines())
    data = "\n".join(value.removeprefix(" ") for name, _, value in lines if name == "data")
    return _begins_like_json(data) and decode_json(data) is NOT_JSON


def _body_text(exchange: Exchange) -> str:
    return exchange.body.decode("utf-8", "replace").removeprefix("\ufeff")


def _begins_like_json(data: str) -> bool:
    return data[:1] in ("{", "[") and data != "[DONE]"


def find_splice(events: Iterable[Event], bounds: AnswerBounds) -> int | None:
    """Number of the frame in which a second answer begins; None if there is one answer only.

    `bounds` are those of the dialect.
    An answer begins with its first wire event, also where the one before never ended, and where
    another id brings a role or a text after the finish.
    """
    begun, ended, shown, finished = False, False, "", ""
    for event in events:
        if event.layer == "semantic":
            finished = shown if event.type == "finish" else finished
        if event.layer != "wire":
            continue
        if (ended and event.type in bounds.first) or (begun and event.type in bounds.once):
            return event.number
        begun = begun or event.type in bounds.once
        if event.type == bounds.identified:
            shown = str(event.data.get("id"))
        if finished not in ("", shown) and bounds.speaks(event):
            return event.number
        ended = ended or event.type in bounds.last
    return None
