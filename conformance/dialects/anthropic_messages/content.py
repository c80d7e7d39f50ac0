"""Content blocks of a Messages stream: what they say, and when they begin and end.

Rule 1: a block is found by its `index`; an event without one belongs to the block that began last.
Rule 2: a delta says what its own type says, whatever block it is in. One that comes before the
        start of its block, or after its end, begins a block that nobody announced.
Rule 3: a `thinking` block starts and ends explicitly, also when all of its text is omitted. Text
        and tools that a start holds are said once: a first delta that repeats the text of the
        start is not said again, and an `input` stands for deltas only where none came.
Rule 4: a `redacted_thinking` block is its opaque data and no more. Nothing of it can ever be
        shown, so no block of thinking starts: a client that opens a view for one would show an
        empty view.
Rule 5: the channel of thinking is `raw`. Whether it was summarised (`display`) was asked for in
        the request, and the stream does not say it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.dialects.blocks import Block, Blocks
from conformance.dialects.json_edge import arguments_text, mapping, string, whole
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall

MOST_BLOCKS: Final = 4096
OVERFLOW: Final = "anthropic.messages.overflow"

_OWN_TOOL: Final = "tool_use"
_HOSTED_TOOLS: Final = frozenset({"server_tool_use", "mcp_tool_use"})


class Slot:
    """One content block, or what came at an index where none was announced.

    `head` is text of its start that a first delta may repeat, `input` the tool's input there.
    """

    __slots__ = ("head", "input", "is_open", "text", "thinking", "tool")

    def __init__(self) -> None:
        self.head = ""
        self.input: Any = None
        self.is_open = True
        self.text: Block | None = None
        self.thinking: Block | None = None
        self.tool: ToolCall | None = None


class Content:
    """The blocks of one message after the other; `is_over` once there were too many."""

    __slots__ = ("_at", "_blocks", "_last", "_open", "_sink", "_tools", "is_over")

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._blocks = Blocks(0, sink)
        self._tools = 0
        self._at: dict[int | None, Slot] = {}
        self._open: dict[Slot, None] = {}  # in order of appearance
        self._last: Slot | None = None
        self.is_over = False

    def start(self, event: dict[str, Any]) -> None:
        """A block is announced; one that is open at its index ends."""
        index = whole(event.get("index"))
        if (old := self._at.get(index)) is not None and old.is_open:
            self._end_slot(old)
        if (slot := self._add_slot(index)) is not None:
            self._announce_block(slot, mapping(event.get("content_block")))

    def delta(self, event: dict[str, Any]) -> None:
        """A delta that says something: an empty one begins nothing."""
        delta = mapping(event.get("delta"))
        meaning = _DELTAS.get(string(delta.get("type")))
        text = string(delta.get(meaning[0])) if meaning is not None else ""
        if meaning is None or not text:
            return
        index = whole(event.get("index"))
        slot = self._last if index is None else self._at.get(index)
        if slot is None or not slot.is_open:
            slot = self._add_slot(index)
        if slot is not None:
            meaning[1](self, slot, text)

    def stop(self, event: dict[str, Any]) -> None:
        """The end of a block; a second one is reported again."""
        index = whole(event.get("index"))
        slot = self._last if index is None else self._at.get(index)
        if slot is not None:
            self._end_slot(slot, explicit=True)

    def whole(self, blocks: list[Any]) -> None:
        """Blocks that come in one piece; signatures follow the end that this frame also is."""
        for element in blocks:
            block = mapping(element)
            slot = Slot()
            signature = self._begin_block(slot, block)
            self._end_slot(slot, explicit=True)
            if signature:
                self._blocks.opaque(slot.thinking, "signature", signature)

    def renew(self) -> None:
        """Another message begins."""
        self.close()
        self._at.clear()
        self._last = None

    def close(self) -> None:
        """Ends still owed."""
        for slot in list(self._open):
            self._end_slot(slot)

    def _add_slot(self, index: int | None) -> Slot | None:
        if index not in self._at and len(self._at) >= MOST_BLOCKS:
            if not self.is_over:
                self.is_over = True
                self._sink.wire(OVERFLOW, {})
            return None
        slot = self._at[index] = self._last = Slot()
        self._open[slot] = None
        return slot

    def _announce_block(self, slot: Slot, block: dict[str, Any]) -> None:
        if signature := self._begin_block(slot, block):
            self._blocks.opaque(slot.thinking, "signature", signature)
        slot.head = string(block.get("thinking")) or string(block.get("text"))

    def _begin_block(self, slot: Slot, block: dict[str, Any]) -> str:
        """Report what stands in a block and return its signature, which is to be said yet."""
        kind = string(block.get("type"))
        if kind == "thinking":
            slot.thinking = self._blocks.think("raw", explicit=True)
            self.think(slot, string(block.get("thinking")))
            return string(block.get("signature"))
        if kind == "redacted_thinking":
            if data := string(block.get("data")):
                self._blocks.opaque(None, "redacted", data)
        elif kind == "text":
            self.write(slot, string(block.get("text")))
        elif kind == _OWN_TOOL or kind in _HOSTED_TOOLS:
            named = (string(block.get("id")), string(block.get("name")))
            self._name_tool(slot, *named, is_hosted=kind in _HOSTED_TOOLS)
            slot.input = block.get("input")
        return ""

    def think(self, slot: Slot, text: str) -> None:
        if text and not (slot.head and self._is_head(slot, text)):
            if slot.thinking is None:
                slot.thinking = self._blocks.think("raw")
            self._blocks.thought(slot.thinking, "raw", text)

    def write(self, slot: Slot, text: str) -> None:
        if text and not (slot.head and self._is_head(slot, text)):
            if slot.text is None:
                slot.text = self._blocks.write()
            self._blocks.text(slot.text, text)

    @staticmethod
    def _is_head(slot: Slot, text: str) -> bool:
        """Whether this first text repeats that of the start (rule 3)."""
        head, slot.head = slot.head, ""
        return text == head

    def sign(self, slot: Slot, signature: str) -> None:
        self._blocks.opaque(slot.thinking, "signature", signature)

    def call(self, slot: Slot, arguments: str) -> None:
        if slot.tool is None:
            self._name_tool(slot, "", "")
        assert slot.tool is not None
        slot.tool.add(self._sink, arguments)

    def _name_tool(self, slot: Slot, call_id: str, name: str, *, is_hosted: bool = False) -> None:
        slot.tool = ToolCall(0, self._tools, call_id, name, is_hosted=is_hosted)
        slot.tool.start(self._sink)
        self._tools += 1

    def _end_slot(self, slot: Slot, *, explicit: bool = False) -> None:
        """End what a block has open; an explicit end of a closed one is reported again."""
        self._blocks.close(slot.thinking, explicit=explicit)
        self._blocks.close(slot.text, explicit=explicit)
        if slot.tool is not None and (slot.tool.is_open or explicit):
            if explicit and not slot.tool.has_arguments and (text := arguments_text(slot.input)):
                slot.tool.add(self._sink, text)
            slot.tool.end(self._sink)
        slot.is_open = False
        self._open.pop(slot, None)


# Delta type -> the field that holds its text, and what it does.
_DELTAS: Final[Mapping[str, tuple[str, Callable[[Content, Slot, str], None]]]] = {
    "thinking_delta": ("thinking", Content.think),
    "text_delta": ("text", Content.write),
    "signature_delta": ("signature", Content.sign),
    "input_json_delta": ("partial_json", Content.call),
}
