"""Shapes of many streams counted together, and what changed between two populations.

A *trait* is one thing that a stream's shape shows: an event type, a field and the kind of its
value, a telling word, the order of its events, a fact such as the content type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from conformance.diff.changes import ChangeKind, WireChange
from conformance.diff.shape import ExchangeShape

STREAMS: Final = ("streams", "")
"""The trait that every stream has: how many were looked at."""
_CHANCE: Final = 0.001  # that an unchanged sender would show such a difference
_LONGEST: Final = 2000  # characters of an order

ShapeTrait = tuple[str, str]  # kind of change, and what it is


def shape_traits(shape: ExchangeShape) -> Iterator[ShapeTrait]:
    """Each trait of one stream's shape, once."""
    yield STREAMS
    yield from (("event", kind) for kind in shape.counts)
    for path, field in shape.fields.paths.items():
        name = f"{path[0]}: {'.'.join(path[1:])}"
        yield from (("field", f"{name} is {kind}") for kind in field.kinds)
        yield from (("field", f"{name} = {word}") for word in field.words)
    yield "order", " ".join(shape.semantic.collapsed_steps())[:_LONGEST]
    yield from (("fact", f"{name}: {value}") for name, value in shape.facts.items() if value)


class PopulationChange(NamedTuple):
    """A trait that appeared or vanished: in `had` of `before` streams, then in `has` of `now`."""

    change: WireChange
    had: int
    before: int
    has: int
    now: int


def population_changes(
    old: Mapping[ShapeTrait, int], new: Mapping[ShapeTrait, int]
) -> Iterator[PopulationChange]:
    """Traits that only one of two populations has, where chance does not explain it.

    If nothing had changed, streams of the one would have the trait as often as those of the other.
    """
    before, now = old.get(STREAMS, 0), new.get(STREAMS, 0)
    for trait in sorted(old.keys() | new.keys()):
        had, has = old.get(trait, 0), new.get(trait, 0)
        if trait == STREAMS or (had and has):
            continue
        share, others = ((had, before), now) if had else ((has, now), before)
        if _is_chance(*share, others):
            continue
        change = WireChange(_kind_of(trait), trait[1], _times(had, before), _times(has, now))
        yield PopulationChange(change, had, before, has, now)


def _is_chance(having: int, streams: int, others: int) -> bool:
    """Whether none of the others could have it by chance; one more stream without it is assumed."""
    return (1 - having / (streams + 1)) ** others > _CHANCE


def _times(having: int, streams: int) -> str:
    return f"{having} of {streams}"


def _kind_of(trait: ShapeTrait) -> ChangeKind:
    kinds: Mapping[str, ChangeKind] = {
        "event": "event",
        "field": "field",
        "order": "order",
        "fact": "fact",
    }
    return kinds[trait[0]]


def merge_traits(counts: Counter[ShapeTrait], shape: ExchangeShape) -> None:
    """Adds one stream to what is counted."""
    counts.update(dict.fromkeys(shape_traits(shape), 1))
