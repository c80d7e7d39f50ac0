"""The message of an answer while it comes: its blocks of content, its plan and its calls.

Rule 1: blocks and calls are found by `index`, each kind by its own; an event without one belongs
        to what of its kind began last.
Rule 2: a delta says what its own keys say, whatever its block was announced as. One that comes
        before the start of its block, or after its end, begins a block that nobody announced.
Rule 3: a block of thinking starts and ends explicitly, also when it stays empty. A block of text
        starts with its first characters.
Rule 4: the plan of older models is thinking that nobody announced: it goes on until another event
        of the message comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from conformance.core.json_values import value_at
from conformance.dialects.blocks import Block, Blocks
from conformance.dialects.cohere_v2.vocabulary import OVERFLOW
from conformance.dialects.json_edge import arguments_text, elements, mapping, string, whole
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall

MOST_PARTS = 4096

PartKind = Literal["content", "tool"]


class Part:
    """One block of content or one call, or what came at an index where none was announced."""

    __slots__ = ("is_open", "text", "thinking", "tool")

    def __init__(self) -> None:
        self.is_open = True
        self.text: Block | None = None
        self.thinking: Block | None = None
        self.tool: ToolCall | None = None


class Content:
    """The parts of one message after the other; `is_over` once there were too many."""

    __slots__ = ("_at", "_blocks", "_calls", "_last", "_open", "_plan", "_sink", "is_over")

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._blocks = Blocks(0, sink)
        self._calls = 0
        self._at: dict[tuple[PartKind, int | None], Part] = {}
        self._last: dict[PartKind, Part] = {}
        self._open: dict[Part, None] = {}  # in order of appearance
        self._plan: Block | None = None
        self.is_over = False

    def start_block(self, event: Mapping[str, Any]) -> None:
        """A block of content is announced, maybe with its first text."""
        if (part := self._begin("content", event)) is not None:
            self._announce(part, value_at(event, "delta", "message", "content"))

    def add_content(self, event: Mapping[str, Any]) -> None:
        """A delta that says something: an empty one begins nothing."""
        content = mapping(value_at(event, "delta", "message", "content"))
        thought, text = string(content.get("thinking")), string(content.get("text"))
        if (thought or text) and (part := self._part("content", event)) is not None:
            self._add_text(part, thought, text)

    def end_block(self, event: Mapping[str, Any]) -> None:
        """The end of a block; a second one is reported again."""
        if (part := self._known("content", event)) is not None:
            self._end(part, explicit=True)

    def plan(self, text: str) -> None:
        """A piece of the plan (rule 4)."""
        if text and self._plan is None:
            self._plan = self._blocks.think("raw")
        if text and self._plan is not None:
            self._blocks.thought(self._plan, "raw", text)

    def end_plan(self) -> None:
        self._blocks.close(self._plan)
        self._plan = None

    def start_call(self, event: Mapping[str, Any]) -> None:
        """A call is announced, with its name."""
        if (part := self._begin("tool", event)) is not None:
            self._name_call(part, mapping(value_at(event, "delta", "message", "tool_calls")))

    def add_arguments(self, event: Mapping[str, Any]) -> None:
        call = value_at(event, "delta", "message", "tool_calls")
        arguments = arguments_text(value_at(call, "function", "arguments"))
        if arguments and (part := self._part("tool", event)) is not None:
            if part.tool is None:
                self._name_call(part, {})
            assert part.tool is not None
            part.tool.add(self._sink, arguments)

    def end_call(self, event: Mapping[str, Any]) -> None:
        if (part := self._known("tool", event)) is not None:
            self._end(part, explicit=True)

    def whole(self, message: Mapping[str, Any]) -> None:
        """A message that comes in one piece."""
        self.plan(string(message.get("tool_plan")))
        self.end_plan()
        for block in elements(message.get("content")):
            part = Part()
            self._announce(part, block)
            self._end(part, explicit=True)
        for call in elements(message.get("tool_calls")):
            part = Part()
            self._name_call(part, mapping(call))
            self._end(part)

    def renew(self) -> None:
        """Another message begins."""
        self.close()
        self._at.clear()
        self._last.clear()

    def close(self) -> None:
        """Ends still owed."""
        self.end_plan()
        for part in list(self._open):
            self._end(part)

    def _begin(self, kind: PartKind, event: Mapping[str, Any]) -> Part | None:
        """A new part; one that is open at its index ends."""
        index = whole(event.get("index"))
        if (old := self._at.get((kind, index))) is not None and old.is_open:
            self._end(old)
        return self._add_part(kind, index)

    def _part(self, kind: PartKind, event: Mapping[str, Any]) -> Part | None:
        """The part that an event adds to (rules 1 and 2)."""
        known = self._known(kind, event)
        is_open = known is not None and known.is_open
        return known if is_open else self._add_part(kind, whole(event.get("index")))

    def _known(self, kind: PartKind, event: Mapping[str, Any]) -> Part | None:
        index = whole(event.get("index"))
        return self._last.get(kind) if index is None else self._at.get((kind, index))

    def _add_part(self, kind: PartKind, index: int | None) -> Part | None:
        if (kind, index) not in self._at and len(self._at) >= MOST_PARTS:
            if not self.is_over:
                self.is_over = True
                self._sink.wire(OVERFLOW, {})
            return None
        part = self._at[kind, index] = self._last[kind] = Part()
        self._open[part] = None
        return part

    def _announce(self, part: Part, block: Any) -> None:
        if isinstance(block, str):  # the content of a body may be a bare text
            self._add_text(part, "", block)
            return
        fields = mapping(block)
        if fields.get("type") == "thinking":
            part.thinking = self._blocks.think("raw", explicit=True)
        self._add_text(part, string(fields.get("thinking")), string(fields.get("text")))

    def _add_text(self, part: Part, thought: str, text: str) -> None:
        if thought:
            if part.thinking is None:
                part.thinking = self._blocks.think("raw")
            self._blocks.thought(part.thinking, "raw", thought)
        if text:
            if part.text is None:
                part.text = self._blocks.write()
            self._blocks.text(part.text, text)

    def _name_call(self, part: Part, call: Mapping[str, Any]) -> None:
        function = mapping(call.get("function"))
        named = (string(call.get("id")), string(function.get("name")))
        part.tool = ToolCall(0, self._calls, *named)
        self._calls += 1
        part.tool.start(self._sink)
        if arguments := arguments_text(function.get("arguments")):
            part.tool.add(self._sink, arguments)

    def _end(self, part: Part, *, explicit: bool = False) -> None:
        """End what a part has open; an explicit end of a closed one is reported again."""
        self._blocks.close(part.thinking, explicit=explicit)
        self._blocks.close(part.text, explicit=explicit)
        if part.tool is not None and (part.tool.is_open or explicit):
            part.tool.end(self._sink)
        part.is_open = False
        self._open.pop(part, None)
