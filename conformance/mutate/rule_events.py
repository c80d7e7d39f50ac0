"""Which events of a stream the names of a rule stand for, and where these events stand."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.events import Chunk, Event
from conformance.core.json_values import Path, value_at
from conformance.dialects import get
from conformance.editing.stream import Stream
from conformance.profiles.profile import Profile, reading
from conformance.rules.compiled import CompiledRule, NamedEvent
from conformance.rules.patterns import NO_REQUEST

REQUEST: Final = -1


class RuleEvent(Struct, frozen=True):
    """One event and the piece that it came from; REQUEST for a request."""

    place: int
    event: Event


def stream_events(stream: Stream, profile: Profile) -> list[RuleEvent]:
    """Every event of the stream in order, the request's first."""
    exchange = replace(stream.exchange, chunks=(Chunk(stream.body),))
    starts = list(accumulate((len(piece.raw) for piece in stream.pieces), initial=0))
    found: list[RuleEvent] = []
    for number, _, frame, events in get(stream.dialect).trace(exchange, reading(profile)):
        if frame is not None or not number:
            place = REQUEST if frame is None else bisect_right(starts, frame.offset) - 1
            found += [RuleEvent(place, event) for event in events]
    return found


def events_by_name(compiled: CompiledRule, events: list[RuleEvent]) -> dict[str, list[RuleEvent]]:
    """The events that each name of the rule stands for."""
    return {
        named.name: [s for s in events if _matches_event(named, s.event)]
        for named in compiled.names
    }


def near_misses(named: NamedEvent, events: list[RuleEvent]) -> list[RuleEvent]:
    """Events of the right layer and type on which a condition of the name does not hold."""
    typed = [each for each in events if _has_type(named, each.event)]
    return [each for each in typed if not _matches_event(named, each.event)]


def _has_type(named: NamedEvent, event: Event) -> bool:
    return named.alias.layer == event.layer and named.is_type(event.type, NO_REQUEST)


def _matches_event(named: NamedEvent, event: Event) -> bool:
    if not _has_type(named, event):
        return False
    return all(each.holds(event.data, NO_REQUEST) for each in named.conditions)


def field_path(stream: Stream, what: RuleEvent, dotted: str) -> Path | None:
    """Where a field of an event is in the payload or request; None where it has no place."""
    steps: Path = tuple(
        int(s) if s.isdecimal() else 0 if s == "*" else s for s in dotted.split(".")
    )
    event = what.event
    if what.place != REQUEST and isinstance(stream.pieces[what.place].payload, str):
        return None  # raw text has no fields
    if event.layer == "transport":
        return steps[1:] if steps[:1] == ("json",) else None
    if event.layer == "wire":
        return (*_element_path(stream, what), *steps)
    return _path_of(stream.pieces[what.place].payload, value_at(event.data, *steps))


def _element_path(stream: Stream, what: RuleEvent) -> Path:
    if what.event.type == "request.item":
        form = get(stream.dialect).request
        return (form.history if form else "", int(what.event.data.get("position", 0)))
    return stream.layout.elements.get(what.event.type, ())


def _path_of(value: Any, wanted: Any) -> Path | None:
    """The path of the first string or number that is the wanted one."""
    if isinstance(wanted, bool) or not isinstance(wanted, str | int | float) or wanted == "":
        return None
    stack: list[tuple[Path, Any]] = [((), value)]
    while stack:
        place, each = stack.pop()
        if isinstance(each, dict):
            stack += [((*place, key), inner) for key, inner in reversed(each.items())]
        elif isinstance(each, list):
            stack += [((*place, n), inner) for n, inner in reversed(list(enumerate(each)))]
        elif each == wanted and not isinstance(each, bool):
            return place
    return None
