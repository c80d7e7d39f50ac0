"""A part ends once, however often the wire says so: events that end one are sent twice.

An event that states a whole part says it again when it comes again, and is no end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from conformance.core.events import Event
from conformance.dialects import Reading, get
from conformance.editing.stream import Stream
from conformance.mutate.base_recordings import shipped_bases

STARTS = ("thinking.start", "text.start", "tool.start")
ENDS = ("thinking.end", "text.end", "tool.end")
DELTAS = ("thinking.delta", "text.delta", "tool.delta")
MOST_STREAMS = 8  # of one dialect


def read_semantic(stream: Stream) -> list[Event]:
    traced = get(stream.dialect).trace(stream.result(), Reading())
    return [event for each in traced for event in each.events if event.layer == "semantic"]


def ended_by(events: Sequence[Event]) -> dict[int, set[str]]:
    """Per frame what it ends, unless it begins something as well."""
    ended: dict[int, set[str]] = {}
    for event in events:
        if event.type in ENDS:
            ended.setdefault(event.number, set()).add(event.type)
    for event in events:
        if event.type in STARTS:
            ended.pop(event.number, None)
    return ended


def repeated_ends() -> Iterator[tuple[str, str, list[Event], list[Event]]]:
    """Per dialect and kind of end: where it is doubled, the events without and with that."""
    tried: Counter[tuple[str, str]] = Counter()
    streams: Counter[str] = Counter()
    for base in shipped_bases():
        for stream in base.streams():
            streams[stream.dialect] += 1
            if stream.is_body or streams[stream.dialect] > MOST_STREAMS:
                continue
            plain = read_semantic(stream)
            ended = ended_by(plain)
            for number, (place, piece) in enumerate(stream.events(), 1):
                for kind in sorted(ended.get(number, ())):
                    if tried[stream.dialect, kind] < 2:
                        tried[stream.dialect, kind] += 1
                        doubled = read_semantic(stream.insert(place + 1, piece))
                        if counted(doubled, DELTAS) == counted(plain, DELTAS):
                            yield f"{base.name}, frame {number}", kind, plain, doubled


def counted(events: Sequence[Event], kinds: Sequence[str]) -> Counter[str]:
    return Counter(event.type for event in events if event.type in kinds)


def test_what_ends_twice_on_the_wire_ends_once() -> None:
    cases = list(repeated_ends())

    assert len(cases) > 50
    for name, kind, plain, doubled in cases:
        assert counted(doubled, STARTS) == counted(plain, STARTS), (name, kind)
        assert counted(doubled, ENDS) == counted(plain, ENDS), (name, kind)
