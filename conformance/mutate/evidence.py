"""Which events of a stream the names of a rule stand for, and where these events stand."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from conformance.core.events import Event
from conformance.core.json_values import Path, value_at
from conformance.dialects import get
from conformance.judging.trace import Framer, Trace
from conformance.mutate.stream import Stream
from conformance.profiles.profile import Profile, reading
from conformance.rules.patterns import UNASKED
from conformance.rules.plans import Named, Plan

# Wire events of array elements, and where such an element stands in its payload.
_ELEMENTS: Final[Mapping[str, Path]] = {
    "chat.choice": ("choices", 0),
    "chat.message": ("choices", 0, "message"),
    "chat.tool": ("choices", 0, "delta", "tool_calls", 0),
    "chat.detail": ("choices", 0, "delta", "reasoning_details", 0),
    "models.entry": ("data", 0),
}
_HISTORY: Final = ("messages", "input")
REQUEST: Final = -1


@dataclass(frozen=True, slots=True)
class Seen:
    """One event and the piece that it came from; REQUEST for what was asked."""

    place: int
    event: Event


def seen(stream: Stream, profile: Profile) -> list[Seen]:
    """Every event of the stream in order, the request's first."""
    trace = Trace(get(stream.dialect).reader(reading(profile)))
    exchange = stream.exchange
    found = [Seen(REQUEST, event) for event in trace.head(exchange.request, exchange.response)]
    framer = Framer(body=stream.is_body)
    starts = list(accumulate((len(piece.raw) for piece in stream.pieces), initial=0))
    for frame in (*framer.feed(stream.body), *framer.close()):
        place = bisect_right(starts, frame.offset) - 1
        found += [Seen(place, event) for event in trace.frame(frame)]
    return found


def occurrences(plan: Plan, events: list[Seen]) -> dict[str, list[Seen]]:
    """The events that each name of the rule stands for."""
    return {named.name: [s for s in events if _means(named, s.event)] for named in plan.names}


def nearly(named: Named, events: list[Seen]) -> Iterator[Seen]:
    """Events of the right layer and type on which a condition of the name does not hold."""
    for each in events:
        if _is_typed(named, each.event) and not _means(named, each.event):
            yield each


def _is_typed(named: Named, event: Event) -> bool:
    return named.alias.layer == event.layer and named.is_type(event.type, UNASKED)


def _means(named: Named, event: Event) -> bool:
    if not _is_typed(named, event):
        return False
    return all(test(get_(event.data), event.data, UNASKED) for get_, test in named.conditions)


def path_in(stream: Stream, what: Seen, dotted: str) -> Path | None:
    """Where a field of an event stands in the payload or request; None where it has no place."""
    steps: Path = tuple(int(s) if s.isdecimal() else 0 if s == "*" else s for s in _steps(dotted))
    event = what.event
    if event.layer == "transport":
        return steps[1:] if steps[:1] == ("json",) else None
    if event.layer == "wire":
        return (*_element(stream, what), *steps)
    return _way_to(stream.pieces[what.place].payload, value_at(event.data, *steps))


def _steps(dotted: str) -> list[str]:
    return dotted.split(".")


def _element(stream: Stream, what: Seen) -> Path:
    if what.event.type == "request.item":
        body = stream.exchange.request.json if stream.exchange.request else None
        key = next((key for key in _HISTORY if isinstance(value_at(body, key), list)), _HISTORY[0])
        return (key, int(what.event.data.get("position", 0)))
    return _ELEMENTS.get(what.event.type, ())


def _way_to(value: Any, wanted: Any) -> Path | None:
    """The path of the first string or number that is the wanted one."""
    if isinstance(wanted, bool) or not isinstance(wanted, str | int | float) or wanted == "":
        return None
    stack: list[tuple[Path, Any]] = [((), value)]
    while stack:
        way, each = stack.pop()
        if isinstance(each, dict):
            stack += [((*way, key), inner) for key, inner in reversed(each.items())]
        elif isinstance(each, list):
            stack += [((*way, n), inner) for n, inner in reversed(list(enumerate(each)))]
        elif each == wanted and not isinstance(each, bool):
            return way
    return None
