"""What changed on the wire of a provider's model from one week to the next one that was seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from typing import Any

from msgspec import Struct

from conformance.corpus.rows import week_of
from conformance.diff.populations import ShapeTrait, population_changes


class WeekChange(Struct, frozen=True):
    """A trait that appeared or vanished: in `had` of `before` streams, then in `has` of `now`."""

    dialect: str
    provider: str
    model: str
    week: str
    since: str
    kind: str
    what: str
    had: int
    before: int
    has: int
    now: int

    @property
    def word(self) -> str:
        return "appeared" if self.has else "vanished"


class WireHistory(Struct, frozen=True):
    """All changes, and how many streams were looked at for them."""

    changes: tuple[WeekChange, ...]
    streams: int


def wire_history(shapes: Any, since: datetime | None = None) -> WireHistory:
    """The changes that the table of shapes shows."""
    keys = ["dialect", "provider", "model", "week", "kind", "what"]
    counted = shapes.group_by(keys).aggregate([("streams", "sum")])
    populations: dict[tuple[str, str, str], dict[str, Counter[ShapeTrait]]] = {}
    for each in counted.to_pylist():
        who = each["dialect"], each["provider"] or "", each["model"] or ""
        week = populations.setdefault(who, {}).setdefault(each["week"] or "", Counter())
        week[each["kind"], each["what"]] += each["streams_sum"]
    first = week_of(since)
    changes = [
        change
        for who, weeks in sorted(populations.items())
        for change in _week_changes(who, weeks)
        if change.week >= first
    ]
    looked_at = sum(
        week["streams", ""] for weeks in populations.values() for week in weeks.values()
    )
    return WireHistory(tuple(changes), looked_at)


def _week_changes(
    who: tuple[str, str, str], weeks: dict[str, Counter[ShapeTrait]]
) -> Iterator[WeekChange]:
    known = sorted(week for week in weeks if week)
    for before, now in pairwise(known):
        for each in population_changes(weeks[before], weeks[now]):
            what = each.change.what
            counts = each.had, each.before, each.has, each.now
            yield WeekChange(*who, now, before, each.change.kind, what, *counts)
