"""Shapes of many streams counted together, and what changed between two populations.

A *trait* is one thing that a stream's shape shows: an event type, a field and the kind of its
value, a telling word, the order of its events, a fact such as the content type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from conformance.diff.changes import ChangeKind, WireChange
from conformance.diff.fields import parent_path
from conformance.diff.shape import ExchangeShape

STREAMS: Final = ("streams", "")
"""The trait that every stream has: how many were looked at."""
_OBJECT: Final = "object"
_CHANCE: Final = 0.001  # that unchanged senders show any difference at all
_LONGEST: Final = 2000  # characters of an order
_KINDS: Final[Mapping[str, ChangeKind]] = {
    "event": "event",
    "field": "field",
    "order": "order",
    "fact": "fact",
}

ShapeTrait = tuple[str, str]  # its kind, and what it is


def shape_traits(shape: ExchangeShape) -> Iterator[ShapeTrait]:
    """Each trait of one stream's shape, once."""
    yield STREAMS
    yield from (("event", kind) for kind in shape.counts)
    objects = shape.fields.objects
    yield from ((_OBJECT, _path_name(path)) for path in objects)
    for path, field in shape.fields.paths.items():
        name = f"{_path_name(parent_path(path, objects))}\t{path[-1]}"
        yield from (("field", f"{name} is {kind}") for kind in field.kinds)
        yield from (("field", f"{name} = {word}") for word in field.words)
    yield "order", " ".join(shape.semantic.collapsed_steps())[:_LONGEST]
    yield from (("fact", f"{name}: {value}") for name, value in shape.facts.items() if value)


def merge_traits(counts: Counter[ShapeTrait], shape: ExchangeShape) -> None:
    counts.update(dict.fromkeys(shape_traits(shape), 1))


class PopulationChange(NamedTuple):
    """A trait that appeared or vanished: in `had` of `before` streams, then in `has` of `now`.

    Those are the streams that could have had it: a field needs its object.
    """

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
    traits = sorted(trait for trait in old.keys() | new.keys() if trait[0] in _KINDS)
    chance = _CHANCE / max(1, len(traits))
    for trait in traits:
        had, has = old.get(trait, 0), new.get(trait, 0)
        if had and has:
            continue
        holder = _holder_of(trait)
        before, now = old.get(holder, 0), new.get(holder, 0)
        share, others = ((had, before), now) if had else ((has, now), before)
        # One more stream without the trait is assumed: a few that agree prove little.
        if (1 - share[0] / (share[1] + 1)) ** others > chance:
            continue
        path = trait[1].replace("\t", ".", 1).replace(": .", ": ", 1)
        counts = f"{had} of {before}", f"{has} of {now}"
        yield PopulationChange(WireChange(_KINDS[trait[0]], path, *counts), had, before, has, now)


def _holder_of(trait: ShapeTrait) -> ShapeTrait:
    kind, what = trait
    return (_OBJECT, what.partition("\t")[0]) if kind == "field" else STREAMS


def _path_name(path: tuple[str, ...]) -> str:
    return f"{path[0]}: {'.'.join(path[1:])}"
