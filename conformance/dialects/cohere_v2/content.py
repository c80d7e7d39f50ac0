"""The message of an answer while it comes: its blocks of content, its plan and its calls.

Rule 1: blocks and calls are found by `index`, each kind by its own; an event without one belongs
        to what of its kind began last.
Rule 2: a delta says what its own keys say, whatever its block was announced as. One that comes
        before the start of its block, or after its end, begins an unannounced block.
Rule 3: a block of thinking starts and ends explicitly, also when it stays empty. A block of text
        starts with its first characters.
Rule 4: the plan of older models is unannounced thinking: it continues until another event
        of the message comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from conformance.core.json_values import value_at
from conformance.dialects.blocks import Block
from conformance.dialects.cohere_v2.vocabulary import OVERFLOW
from conformance.dialects.content_blocks import ContentBlocks, Place, Slot
from conformance.dialects.json_edge import arguments_text, elements, mapping, string, whole
from conformance.dialects.sink import Sink

PartKind = Literal["content", "tool"]


class Content(ContentBlocks):
    """The parts of one message after the other: blocks of content, calls, and a plan."""

    overflow = OVERFLOW

    __slots__ = ("_latest", "_plan")

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._latest: dict[PartKind, Place] = {}  # where what began last stands
        self._plan: Block | None = None

    def start_block(self, event: Mapping[str, Any]) -> None:
        """A block of content is announced, maybe with its first text."""
        if (part := self._begin_part("content", event)) is not None:
            self._announce(part, value_at(event, "delta", "message", "content"))

    def add_content(self, event: Mapping[str, Any]) -> None:
        """A delta that says something: an empty one begins nothing."""
        content = mapping(value_at(event, "delta", "message", "content"))
        thought, text = string(content.get("thinking")), string(content.get("text"))
        if (thought or text) and (part := self.slot_at(self._place("content", event))) is not None:
            self._add_text(part, thought, text)

    def end_block(self, event: Mapping[str, Any]) -> None:
        """The end of a block; a second one is reported again."""
        self.stop_at(self._place("content", event))

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
        if (part := self._begin_part("tool", event)) is not None:
            self._name_call(part, mapping(value_at(event, "delta", "message", "tool_calls")))

    def add_arguments(self, event: Mapping[str, Any]) -> None:
        call = value_at(event, "delta", "message", "tool_calls")
        arguments = arguments_text(value_at(call, "function", "arguments"))
        if arguments and (part := self.slot_at(self._place("tool", event))) is not None:
            self.call(part, arguments)

    def end_call(self, event: Mapping[str, Any]) -> None:
        self.stop_at(self._place("tool", event))

    def whole(self, message: Mapping[str, Any]) -> None:
        """A message that comes in one piece."""
        self.plan(string(message.get("tool_plan")))
        self.end_plan()
        for block in elements(message.get("content")):
            part = Slot()
            self._announce(part, block)
            self._end_slot(part, explicit=True)
        for call in elements(message.get("tool_calls")):
            part = Slot()
            self._name_call(part, mapping(call))
            self._end_slot(part)

    def renew(self) -> None:
        """Another message begins."""
        super().renew()
        self._latest.clear()

    def close(self) -> None:
        """Ends still owed."""
        self.end_plan()
        super().close()

    def _place(self, kind: PartKind, event: Mapping[str, Any]) -> Place:
        """Where the part stands that an event speaks of (rule 1)."""
        index = whole(event.get("index"))
        return self._latest.get(kind, (kind, None)) if index is None else (kind, index)

    def _begin_part(self, kind: PartKind, event: Mapping[str, Any]) -> Slot | None:
        return self.begin_at((kind, whole(event.get("index"))))

    def _add_slot(self, index: Place) -> Slot | None:
        slot = super()._add_slot(index)
        if slot is not None and isinstance(index, tuple):
            self._latest[index[0]] = index
        return slot

    def _announce(self, part: Slot, block: Any) -> None:
        if isinstance(block, str):  # the content of a body may be a bare text
            self._add_text(part, "", block)
            return
        fields = mapping(block)
        if fields.get("type") == "thinking":
            part.thinking = self._blocks.think("raw", explicit=True)
        self._add_text(part, string(fields.get("thinking")), string(fields.get("text")))

    def _add_text(self, part: Slot, thought: str, text: str) -> None:
        self.think(part, thought)
        self.write(part, text)

    def _name_call(self, part: Slot, call: Mapping[str, Any]) -> None:
        function = mapping(call.get("function"))
        self._name_tool(part, string(call.get("id")), string(function.get("name")))
        if arguments := arguments_text(function.get("arguments")):
            self.call(part, arguments)
