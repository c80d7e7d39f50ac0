"""One side of a comparison: where its values are, and the values as they are collected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from conformance.core.events import Event
from conformance.rules.forms.base import CapReachedError
from conformance.rules.paths import getter
from conformance.rules.patterns import is_number
from conformance.rules.repetition import Stretch

MOST_BYTES: Final = 16 * 1024 * 1024
MERGED_FIELDS: Final = (
    *("choice", "channel", "kind", "data", "text", "reason", "name", "arguments"),
    *("input", "output", "reasoning", "total"),
)
_OF_TEXTS: Final = frozenset({"concat", "list"})

Gather = Literal["concat", "list", "sum", "count", "merged"]
View = Literal["wire", "client"]
TurnAge = Literal["current", "earlier", "named"]


class Side(Struct, frozen=True):
    """One side of a comparison: the exchange or view, and the values collected from it.

    `concat` joins texts, `list` keeps each by itself.
    `merged` lists the events themselves, adjacent deltas joined, without empty ones, numbers and
    blocks.
    A linked comparison has an `answer` on one side, and on the other the turn of a later `request`
    that brings it back: any such turn, or only those of the named kind of `turn`. A turn is current
    while only results of calls came after it, and named where the request has its id alone: the
    server keeps the rest. `in_answer`: what counts of the later exchange is its answer.
    """

    paths: Mapping[str, str]
    how: Gather
    role: str = ""
    hop: str = ""
    view: View = "wire"
    link: Literal["answer", "request", ""] = ""
    turn: TurnAge | None = None
    in_answer: bool = False


class GatheredSide:
    """One side's value, growing."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.parts: list[Any] = []
        self.size = 0

    def add_event(self, event: Event, name: str) -> None:
        """Takes what the side wants of an event under one of its names."""
        if self.side.how == "merged":
            self._merge_event(event)
            return
        value = getter(self.side.paths[name])(event.data)
        if self.side.how in _OF_TEXTS and isinstance(value, list):  # a path with `*`
            for each in value:
                self._add_value(each)
        else:
            self._add_value(value)

    def _add_value(self, value: Any) -> None:
        fits = isinstance(value, str) if self.side.how in _OF_TEXTS else is_number(value)
        if self.side.how == "count" or fits:
            self._grow_by(len(value) if isinstance(value, str) else 0)
            self.parts.append(value)

    def _merge_event(self, event: Event) -> None:
        shape = _shared_fields(event)
        text = event.data.get("text")
        if text == "":
            return  # clients do not show it
        self._grow_by(_spelled_length(shape) + (len(text) if isinstance(text, str) else 0))
        before = self.parts[-1] if self.parts else None
        if text is not None and before is not None and before[0] == shape:
            before[1].append(text)
        else:
            self.parts.append((shape, [text] if text is not None else None))

    def merges(self, event: Event) -> bool:
        return bool(self.parts) and bool(self.parts[-1][0] == _shared_fields(event))

    def weight(self, stretch: Stretch, column: str) -> int:
        """What a stretch of events adds to the size."""
        texts = len(stretch.columns[column].joined)
        if self.side.how == "concat":
            return texts
        return texts + _spelled_length(_shared_fields(stretch.event)) * stretch.count

    def add_column(self, stretch: Stretch, column: str) -> None:
        """Takes a stretch of events that fits."""
        into = self.parts if self.side.how == "concat" else self.parts[-1][1]
        into.append(stretch.columns[column].joined)
        self.size += self.weight(stretch, column)

    def has_room(self, stretch: Stretch, column: str) -> bool:
        """Whether a stretch of events stays within the cap."""
        return self.size + self.weight(stretch, column) <= MOST_BYTES

    def _grow_by(self, size: int) -> None:
        self.size += size
        if self.size > MOST_BYTES:
            raise CapReachedError(f"a side of the comparison grew beyond {MOST_BYTES} bytes")

    def value(self) -> Any:
        if self.side.how == "concat":
            return "".join(self.parts)
        if self.side.how == "list":
            return list(self.parts)
        if self.side.how == "sum":
            return sum(self.parts)
        if self.side.how == "count":
            return len(self.parts)
        return [s if texts is None else {**s, "text": "".join(texts)} for s, texts in self.parts]


def _shared_fields(event: Event) -> dict[str, Any]:
    """What adjacent deltas must share to be joined."""
    shown = {key: event.data[key] for key in MERGED_FIELDS if key in event.data and key != "text"}
    if event.type == "thinking.part":  # a delta's part is a client's own business
        shown["part"] = event.data.get("part")
    return {"type": event.type, **shown}


def _spelled_length(shape: dict[str, Any]) -> int:
    return len(msgspec.json.encode(shape).decode())
