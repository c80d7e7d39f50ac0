"""Output events of a Responses stream, led to the items that they belong to.

Rule 1: a text that no delta carried becomes one delta where it first stands whole.
Rule 2: an item announced a second time under the same index and id is ended and begun again.
Rule 3: the finished item ends its block explicitly; an item that is never finished is ended, not
        explicitly, when the response is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects.blocks import Blocks, Channel
from conformance.dialects.json_edge import arguments_text, elements, mapping, string, whole
from conformance.dialects.openai_responses.items import (
    ACTION_TYPES,
    SEARCHED_BY,
    TOOL_TYPES,
    Item,
    Items,
)
from conformance.dialects.openai_responses.places import Places
from conformance.dialects.openai_responses.runs import Runs
from conformance.dialects.openai_responses.vocabulary import OVERFLOW, PARTS, TextKind
from conformance.dialects.sink import Sink

# The type of item that a kind of text belongs to.
_ITEM_TYPES: Final[Mapping[TextKind, str]] = {
    "raw": "reasoning",
    "summary": "reasoning",
    "text": "message",
    "refusal": "message",
}


class Output:
    """Meaning of the output; `is_over` once there was more than is kept."""

    __slots__ = (
        "_awaits_action",
        "_awaits_function",
        "_items",
        "_sink",
        "is_over",
        "places",
        "runs",
    )

    def __init__(self, sink: Sink, blocks: Blocks) -> None:
        self._awaits_action = False
        self._awaits_function = False
        self._sink = sink
        self._items = Items()
        self.is_over = False
        self.places = Places()
        self.runs = Runs(sink, blocks)

    @property
    def awaits_tools(self) -> bool:
        """Whether the client has to act; what a message follows ran there, functions apart."""
        return self._awaits_function or self._awaits_action

    def added(self, event: dict[str, Any]) -> None:
        """`response.output_item.added`."""
        self.runs.begin()
        if (twin := self._items.twin(event)) is not None:
            self._items.finish(twin)
            self.runs.end(twin)
        self._announce_item(event)

    def part_added(self, event: dict[str, Any]) -> None:
        """`response.reasoning_summary_part.added`."""
        item = self._items.find(event)
        part = whole(event.get("summary_index"))
        if item is not None and item.is_open and part is not None:
            self.runs.part(item, part)
            self._check_size(item)

    def delta(self, kind: TextKind, event: dict[str, Any]) -> None:
        text = event.get("delta")
        if text and isinstance(text, str):
            self._say_delta(kind, event, _part_index(kind, event), text)

    def text_done(self, kind: TextKind, event: dict[str, Any], field: str) -> None:
        self._whole_text(kind, event, _part_index(kind, event), string(event.get(field)))

    def part_done(self, event: dict[str, Any]) -> None:
        """The end of a content, reasoning or summary part, which states the part's text."""
        item = self._items.find(event)
        part = mapping(event.get("part"))
        kind, text = _part_text(part, is_thinking=item is not None and item.type == "reasoning")
        self._whole_text(kind, event, _part_index(kind, event), text)

    def item_done(self, event: dict[str, Any]) -> None:
        self.runs.begin()
        data = mapping(event.get("item"))
        kind = string(data.get("type"))
        item = self._items.find(event)
        if item is not None and item.type != kind and not {item.type, kind} <= TOOL_TYPES:
            item = None
        if kind == "reasoning":
            self._reasoning_done(item, data, event)
        elif kind == "message":
            self._message_done(item, data, event)
        elif kind in TOOL_TYPES:
            self._tool_done(item, data, event)
        if item is not None:
            self._items.finish(item)

    def whole_item(self, index: int, data: Any) -> None:
        """An item of a body, or of a response whose stream had no output events."""
        event = {"output_index": index, "item": data}
        self.added(event)
        self.item_done(event)

    def close(self) -> None:
        """Ends still owed: the response is over."""
        self.runs.end_loose()
        for item in self._items.finish_all():
            self.runs.end(item)

    def _announce_item(self, event: dict[str, Any]) -> Item | None:
        data = mapping(event.get("item"))
        kind = string(data.get("type"))
        item = self._items.add(kind, event)
        if item is None:
            self._say_overflow()
        elif kind == "reasoning":
            self.runs.announce_thinking(item, _announced_channel(data))
        elif kind in TOOL_TYPES:
            self.runs.announce_tool(item, string(data.get("call_id")), string(data.get("name")))
            self._awaits_function |= kind == "function_call"
            self._awaits_action |= kind != "function_call"
        elif kind in ACTION_TYPES or data.items() >= SEARCHED_BY.items():
            self._awaits_action = True
        elif kind == "image_generation_call":
            self._sink.show()
        elif kind == "message":
            self._awaits_action = False
        return item

    def _open_item(self, kind: TextKind, event: dict[str, Any]) -> Item | None:
        """The open item that takes this kind of text."""
        item = self._items.find(event)
        if item is None or not item.is_open:
            return None
        if kind == "arguments":
            return item if item.tool is not None else None
        return item if item.type == _ITEM_TYPES[kind] else None

    def _whole_text(
        self, kind: TextKind, event: dict[str, Any], part: int | None, text: str
    ) -> None:
        """Rule 1: says the text if no delta gave it."""
        if text and not self._is_sent(kind, event, part, text):
            self._say_delta(kind, event, part, text)

    def _is_sent(self, kind: TextKind, event: dict[str, Any], part: int | None, text: str) -> bool:
        item = self._items.find(event)
        if kind == "arguments":
            return item is not None and item.tool is not None and item.tool.has_arguments
        if item is not None and (item.has_sent(kind, part, None) or item.covers(kind, None, text)):
            return True
        loose, place = self.runs.loose, whole(event.get("output_index"))
        if self._open_item(kind, event) is None and loose.has_sent(kind, part, place):
            return True
        return loose.covers(kind, place, text)

    def _say_delta(
        self, kind: TextKind, event: dict[str, Any], part: int | None, text: str
    ) -> None:
        runs, place = self.runs, None
        if not runs.has_begun:
            runs.begin()
        item = self._open_item(kind, event)
        if kind == "arguments":
            self._say_arguments(item, event, text)
            return
        if item is None:
            item, place = runs.loose, whole(event.get("output_index"))
        if kind == "text":
            runs.write(item, text)
        elif kind == "refusal":
            runs.refuse(text)
        else:
            runs.think(item, kind, part, text)
        if item.keep(kind, part, place, text):
            self._check_size(item)

    def _check_size(self, item: Item) -> None:
        if item.is_full:
            self._say_overflow()

    def _say_overflow(self) -> None:
        if not self.is_over:
            self.is_over = True
            self._sink.wire(OVERFLOW, {})

    def _say_arguments(self, item: Item | None, event: dict[str, Any], arguments: str) -> None:
        if item is None:
            item = self._announce_item({**event, "item": {"type": "function_call"}})
        if item is not None:
            self.runs.call(item, arguments)

    def _reasoning_done(
        self, item: Item | None, data: dict[str, Any], event: dict[str, Any]
    ) -> None:
        for part, element in enumerate(elements(data.get("content"))):
            self._whole_text("raw", event, part, string(mapping(element).get("text")))
        for part, element in enumerate(elements(data.get("summary"))):
            self._whole_text("summary", event, part, string(mapping(element).get("text")))
        block = (item or self.runs.loose).thinking
        place = whole(event.get("output_index"))
        if item is None:
            self.runs.end_loose(explicit=block is not None)
        else:
            self.runs.end(item, explicit=True)
        self.runs.loose.forget("raw", place)
        self.runs.loose.forget("summary", place)
        if encrypted := string(data.get("encrypted_content")):
            self.runs.hide(block, encrypted)

    def _message_done(self, item: Item | None, data: dict[str, Any], event: dict[str, Any]) -> None:
        for part, element in enumerate(elements(data.get("content"))):
            kind, text = _part_text(mapping(element), is_thinking=False)
            self._whole_text(kind, event, part, text)
        place = whole(event.get("output_index"))
        if item is None:
            self.runs.end_loose()
        else:
            self.runs.end(item, explicit=True)
        self.runs.loose.forget("text", place)
        self.runs.loose.forget("refusal", place)

    def _tool_done(self, item: Item | None, data: dict[str, Any], event: dict[str, Any]) -> None:
        item = item or self._announce_item(event)
        if item is None or item.tool is None:
            return
        item.tool.call_id = item.tool.call_id or string(data.get("call_id"))
        item.tool.name = item.tool.name or string(data.get("name"))
        arguments = arguments_text(data.get("arguments")) or string(data.get("input"))
        if arguments and not item.tool.has_arguments:
            self.runs.call(item, arguments)
        self.runs.end(item, explicit=True)
        self._items.finish(item)


def _announced_channel(item: dict[str, Any]) -> Channel:
    """What an announced item is going to hold, as far as its keys show; deltas carry the truth.

    An empty `content` announces raw thinking, but not where it comes with `encrypted_content`:
    servers that encrypt the raw thinking show its summary only.
    """
    content = item.get("content")
    is_raw = content == [] and not item.get("summary") and "encrypted_content" not in item
    return "raw" if content or is_raw else "summary"


def _part_index(kind: TextKind, event: dict[str, Any]) -> int | None:
    return whole(event.get("summary_index" if kind == "summary" else "content_index"))


def _part_text(part: dict[str, Any], *, is_thinking: bool) -> tuple[TextKind, str]:
    """Kind and text of a part; a server may call the parts of its reasoning `output_text`."""
    kind, field = PARTS.get(string(part.get("type")), ("text", ""))
    if is_thinking and kind == "text":
        kind = "raw"
    return kind, string(part.get(field))
