"""A wire of typed events, stated once: what each type does, and where deltas hold words.

The types that an event stream names, the bounds of an answer, the runs of deltas and the layout of
edits follow from a table. What no table says, a dialect adds where it uses one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field

from conformance.core.json_values import Path, text_at
from conformance.core.reading import Reading
from conformance.dialects.base import DeltaColumns
from conformance.dialects.json_edge import mapping
from conformance.dialects.wire_keys import AnswerBounds
from conformance.editing.layout import StreamLayout, TextKind

OtherColumns = Callable[[Mapping[str, Any]], tuple[str, ...] | None]
Columns = Callable[[Any, Reading], DeltaColumns | None]


class EventTable(Struct, frozen=True, kw_only=True):
    """Types of events by what they do, each once.

    `openings` begin an answer and `finishes` end it; `starts` begin something in it, and `ends` end
    that; `others` do neither. `words` maps the type of a delta to the texts that it may hold, each
    with its path, and `text_ends` the type of an event with a delta to that of the one that ends
    its text. `event_type` is where a payload states its type, and `delta_type` where its delta
    does, if that has types of its own.
    """

    openings: tuple[str, ...]
    finishes: tuple[str, ...]
    starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    words: Mapping[str, Mapping[TextKind, Path]]
    text_ends: Mapping[str, str] = field(default_factory=dict)
    event_type: Path = ("type",)
    delta_type: Path = ()

    @property
    def delta_events(self) -> frozenset[str]:
        return frozenset(self.text_ends if self.delta_type else self.words)

    @property
    def types(self) -> frozenset[str]:
        bounds = (*self.openings, *self.starts, *self.ends, *self.finishes)
        return self.delta_events.union(bounds, self.others)

    def bounds(self, prefix: str = "") -> AnswerBounds:
        """By which events two answers are distinguished: every opening begins one.

        The wire events of the types have the names of these, after `prefix`.
        """
        openings = frozenset(prefix + kind for kind in self.openings)
        finishes = frozenset(prefix + kind for kind in self.finishes)
        return AnswerBounds(first=openings, once=openings, last=finishes)

    def layout(self, **more: Any) -> StreamLayout:
        """Where edits find what they change; `more` are fields of the layout that no table has."""
        stated: dict[str, Any] = {
            "texts": self.words,
            "text_type": self.delta_type,
            "openings": self.openings,
            "starts": (*self.openings, *self.starts),
            "ends": (*self.ends, *self.finishes),
            "terminals": self.finishes,
            "text_ends": self.text_ends,
        }
        return StreamLayout(**{**stated, **more})

    def columns(
        self, others: OtherColumns = lambda _fields: (), within: Mapping[str, str] | None = None
    ) -> Columns:
        """Gives what the deltas of one run differ in; None for a payload that is no delta.

        That is the text that it holds, where it is the only one, and what `others` names: paths of
        other fields that differ from delta to delta, or None for a delta that goes with no other.
        """
        forms = {
            kind: tuple((path, ".".join(map(str, path))) for path in each.values())
            for kind, each in self.words.items()
        }
        known: dict[tuple[str, ...], DeltaColumns] = {}
        delta_events = self.delta_events

        def delta_columns(payload: Any, _reading: Reading) -> DeltaColumns | None:
            kind = text_at(payload, *self.event_type)
            if kind not in delta_events:
                return None
            if self.delta_type:
                kind = text_at(payload, *self.delta_type)
            texts = [text for path, text in forms.get(kind, ()) if text_at(payload, *path)]
            more = others(mapping(payload)) if len(texts) == 1 else None
            if more is None:
                return None
            paths = (texts[0], *more)
            if paths not in known:
                known[paths] = DeltaColumns(paths, texts[0], within or {})
            return known[paths]

        return delta_columns
