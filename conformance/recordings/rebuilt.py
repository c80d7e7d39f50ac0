"""The trace of a judged exchange, rebuilt from its bytes: it is not stored anywhere.

Numbers, wire events and semantic events are those that the judge saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from conformance import dialects
from conformance.core.errors import ConformanceError
from conformance.core.events import Event, Exchange, Frame
from conformance.judging.trace import Trace, frames
from conformance.profiles.profile import Profile, find, reading

_STRICT: Final = "strict"


class Rebuilt(NamedTuple):
    """One frame again. `frame` is None for the heads (number 0) and for the end.

    `ms` since the response head; None once a chunk has no clock.
    """

    number: int
    ms: float | None
    frame: Frame | None
    events: Sequence[Event]


def rebuilt(exchange: Exchange, dialect: str, profile: Profile) -> Iterator[Rebuilt]:
    """Every frame of an exchange, from the request to the end, one at a time."""
    trace = Trace(dialects.get(dialect).reader(reading(profile)))
    yield Rebuilt(0, 0.0, None, trace.head(exchange.request, exchange.response))
    ms: float | None = 0.0
    for frame, ms in frames(exchange):
        events = trace.frame(frame)
        yield Rebuilt(trace.number, ms, frame, events)
    events = trace.end(exchange.end)
    yield Rebuilt(trace.number, ms, None, events)


def profile_at_hand(name: str, dialect: str) -> Profile:
    """The profile of that name, or strict where it came from a file or folder of the user's."""
    try:
        return find(name, dialect)
    except ConformanceError:
        return find(_STRICT, dialect)
