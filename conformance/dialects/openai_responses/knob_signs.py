"""What a Responses stream was seen to do, as values of the dialect's knobs.

A knob that the stream did not show is left out. Bounded: at most `MOST_ITEMS` items are reported
apart, each by a few facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from conformance.core.events import Event
from conformance.dialects.json_edge import mapping, objects, string, whole

MOST_ITEMS: Final = 4096
_FLAGS: Final = frozenset({"thinking.delta", "[DONE]", "done"})  # that they came is enough
_NO_EVENTS: Final = frozenset({"response.item", "response.unknown"})  # of a body, of no type
_FIRST: Final = {"response.created": "created", "response.queued": "queued"}
_RAW_NAMES: Final = {
    "response.reasoning_part.added": "reasoning_part",
    "response.reasoning.delta": "reasoning",
    "response.reasoning_text.delta": "reasoning_text",
}
_MASK: Final = ("encrypted_content", "fingerprint", "obfuscation", "status")


class _Item(Struct):
    """Facts of the item at one output_index; `events` names the kinds of its events."""

    id: str = ""
    events: frozenset[str] = frozenset()
    summarised: bool = False
    whole_arguments: bool = False


class ResponsesKnobs:
    """Observed values of the knobs of `openai.responses`."""

    def __init__(self) -> None:
        self._events = 0
        self._named = 0
        self._first = ""
        self._first_number: int | None = None
        self._next_number: int | None = None
        self._response_id = ""
        self._open = 0
        self._items: dict[int, _Item] = {}
        self._done_ids: list[str] = []
        self._output: list[dict[str, Any]] | None = None
        self._flags: set[str] = set()

    def see(self, event: Event) -> None:
        if event.type in _FLAGS:
            self._flags.add(event.type)
        if event.layer == "wire" and _is_event(event.type):
            self._see_event(event)
        take = _TAKE.get(event.type)
        if take is not None:
            take(self, event)

    def values(self, *, framed: bool) -> dict[str, Any]:
        if not self._events:
            return {}
        found = {
            **dict(self._framing_values(framed=framed)),
            **dict(self._order_values()),
            **dict(self._content_values()),
        }
        return {name: value for name, value in found.items() if value is not None}

    # --- what comes

    def _see_event(self, event: Event) -> None:
        data = event.data
        self._first = self._first or event.type
        self._events += 1
        number = whole(data.get("sequence_number"))
        if number is None:
            self._flags.add("unnumbered")
        elif self._first_number is None:
            self._first_number, self._next_number = number, number + 1
        else:
            self._flags |= set() if number == self._next_number else {"gap"}
            self._next_number = number + 1
        self._same_id(string(mapping(data.get("response")).get("id")))
        index = whole(data.get("output_index"))
        if index is not None:
            self._see_item(index, event)

    def _same_id(self, name: str) -> None:
        if name and self._response_id and name != self._response_id:
            self._flags.add("rotates")
        self._response_id = self._response_id or name

    def _see_item(self, index: int, event: Event) -> None:
        if index not in self._items and len(self._items) >= MOST_ITEMS:
            return
        item = self._items.setdefault(index, _Item())
        data = event.data
        name = string(mapping(data.get("item")).get("id")) or string(data.get("item_id"))
        if name and item.id and name != item.id:
            self._flags.add("rotates")
        item.id = item.id or name
        item.events |= {event.type}
        if event.type == "response.function_call_arguments.done":
            item.whole_arguments = bool(string(data.get("arguments")))

    def added(self, event: Event) -> None:
        kind = string(mapping(event.data.get("item")).get("type"))
        if self._open > 0:
            self._flags.add("overlap")
        if kind == "reasoning" and "message" in self._flags:
            self._flags.add("late reasoning")
        self._flags.add(kind)
        self._open += 1

    def done(self, event: Event) -> None:
        item = mapping(event.data.get("item"))
        self._open -= 1
        if len(self._done_ids) < MOST_ITEMS:
            self._done_ids.append(string(item.get("id")))
        index = whole(event.data.get("output_index"))
        if index in self._items and objects(item.get("summary")):
            self._items[index].summarised = True

    def completed(self, event: Event) -> None:
        self._output = objects(mapping(event.data.get("response")).get("output"))[:MOST_ITEMS]

    def part(self, event: Event) -> None:
        if mapping(event.data.get("part")).get("type") == "reasoning_text":
            self._flags.add("raw part")

    def framed(self, event: Event) -> None:
        self._named += bool(event.data.get("named"))

    def counted(self, event: Event) -> None:
        self._flags.add("counted" if event.data.get("reasoning") else "uncounted")

    # --- what it comes to

    def _framing_values(self, *, framed: bool) -> Iterator[tuple[str, Any]]:
        if framed:
            if self._flags & {"done", "[DONE]"}:
                yield "done", "required" if "[DONE]" in self._flags else "forbidden"
            every = self._named >= self._events
            yield "event_lines", "required" if every else "optional" if self._named else "absent"
        yield "sequence", self._sequence_value()
        yield "first_event", _FIRST.get(self._first)
        yield "id_stability", "rotates" if "rotates" in self._flags else "constant"

    def _sequence_value(self) -> str | None:
        if self._first_number is None:
            return "absent"
        if self._flags & {"gap", "unnumbered"}:
            return None
        return "resumed" if self._first_number else "from_zero"

    def _order_values(self) -> Iterator[tuple[str, Any]]:
        if self._items:
            yield "item_overlap", "overlap" in self._flags
        if "reasoning" in self._flags:
            yield "interleaved", "late reasoning" in self._flags
        if self._output is not None and self._done_ids:
            yield "snapshot", "full" if self._output else "empty"
            ids = sorted(string(item.get("id")) for item in self._output)
            if len(ids) == len(self._done_ids) and ids != sorted(self._done_ids):
                yield "snapshot_mask", [*_MASK, "id"]

    def _content_values(self) -> Iterator[tuple[str, Any]]:
        if "thinking.delta" in self._flags and self._flags & {"counted", "uncounted"}:
            yield "reasoning_tokens", "counted" if "counted" in self._flags else "zero"
        items = self._items.values()
        calls = [item for item in items if item.whole_arguments]
        if calls:
            deltas = all("response.function_call_arguments.delta" in item.events for item in calls)
            yield "args_carrier", "deltas" if deltas else "done"
        events = frozenset().union(*(item.events for item in items))
        raw = [name for kind, name in _RAW_NAMES.items() if kind in events]
        if raw:
            yield "raw_event", raw[0]
        if "reasoning_text" in raw and raw[0] == "reasoning_text":
            yield "raw_parts", "parts" if "raw part" in self._flags else "none"
        yield "summary_carrier", _summary_carrier(items)


def _is_event(kind: str) -> bool:
    return kind.startswith("response.") and kind not in _NO_EVENTS


def _has_summary_events(item: _Item) -> bool:
    return any("reasoning_summary" in kind for kind in item.events)


def _summary_carrier(items: Iterable[_Item]) -> str | None:
    """How summaries came: by the least complete of them."""
    found = [item for item in items if item.summarised or _has_summary_events(item)]
    if not found:
        return None
    if not all(map(_has_summary_events, found)):
        return "item_done"
    parts = all("response.reasoning_summary_part.added" in item.events for item in found)
    return "events" if parts else "none"


_TAKE: Final[Mapping[str, Callable[[ResponsesKnobs, Event], None]]] = {
    "response.output_item.added": ResponsesKnobs.added,
    "response.output_item.done": ResponsesKnobs.done,
    "response.completed": ResponsesKnobs.completed,
    "response.content_part.added": ResponsesKnobs.part,
    "sse.frame": ResponsesKnobs.framed,
    "usage": ResponsesKnobs.counted,
}
