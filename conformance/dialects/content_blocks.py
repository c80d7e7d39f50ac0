"""Content blocks of a message: what they say, and when they begin and end.

Rule 1: a block is found by its index; an event without one belongs to the block that began last.
Rule 2: a delta that comes before the start of its block, or after its end, begins a block that
        nobody announced.
Rule 3: texts and tools that a start holds are said once: a first delta that repeats the text of
        the start is not said again, and an `input` stands for deltas only where none came.
Rule 4: redacted thinking is its opaque data and no more. Nothing of it can ever be shown, so no
        block of thinking starts: a client that opens a view for one would show an empty view.
Rule 5: the channel of thinking is `raw`. Whether it was summarised was asked for in the request,
        and the stream does not say it.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar, Final

from conformance.dialects.blocks import Block, Blocks
from conformance.dialects.json_edge import arguments_text
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall

MOST_BLOCKS: Final = 4096

Place = Hashable
"""The index of a block, of any form; None where an event has none."""


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


class ContentBlocks:
    """The blocks of one message after the other; `is_over` once there were too many.

    A dialect adds how its events name what they do.
    """

    overflow: ClassVar[str]  # the wire event that says so

    __slots__ = ("_at", "_blocks", "_last", "_open", "_sink", "_tools", "is_over")

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._blocks = Blocks(0, sink)
        self._tools = 0
        self._at: dict[Place, Slot] = {}
        self._open: dict[Slot, None] = {}  # in order of appearance
        self._last: Slot | None = None
        self.is_over = False

    def begin_at(self, index: Place) -> Slot | None:
        """A block is announced; one that is open at its index ends. None: one too many."""
        if (old := self._at.get(index)) is not None and old.is_open:
            self._end_slot(old)
        return self._add_slot(index)

    def slot_at(self, index: Place) -> Slot | None:
        """The block that a delta says something of. None: one too many."""
        slot = self._last if index is None else self._at.get(index)
        return slot if slot is not None and slot.is_open else self._add_slot(index)

    def stop_at(self, index: Place) -> None:
        """The wire says that a block ends."""
        slot = self._last if index is None else self._at.get(index)
        if slot is not None:
            self._end_slot(slot, explicit=True)

    @property
    def has_blocks(self) -> bool:
        return bool(self._at)

    def renew(self) -> None:
        """Another message begins."""
        self.close()
        self._at.clear()
        self._last = None

    def close(self) -> None:
        """Ends still owed."""
        for slot in list(self._open):
            self._end_slot(slot)

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

    def sign(self, slot: Slot, signature: str) -> None:
        self._blocks.opaque(slot.thinking, "signature", signature)

    def redact(self, _slot: Slot, data: str) -> None:
        self._blocks.opaque(None, "redacted", data)

    def call(self, slot: Slot, arguments: str) -> None:
        if slot.tool is None:
            self._name_tool(slot, "", "")
        assert slot.tool is not None
        slot.tool.add(self._sink, arguments)

    def _add_slot(self, index: Place) -> Slot | None:
        if index not in self._at and len(self._at) >= MOST_BLOCKS:
            if not self.is_over:
                self.is_over = True
                self._sink.wire(self.overflow, {})
            return None
        slot = self._at[index] = self._last = Slot()
        self._open[slot] = None
        return slot

    @staticmethod
    def _is_head(slot: Slot, text: str) -> bool:
        """Whether this first text repeats that of the start (rule 3)."""
        head, slot.head = slot.head, ""
        return text == head

    def _name_tool(self, slot: Slot, call_id: str, name: str, *, is_hosted: bool = False) -> None:
        slot.tool = ToolCall(0, self._tools, call_id, name, is_hosted=is_hosted)
        slot.tool.start(self._sink)
        self._tools += 1

    def _end_slot(self, slot: Slot, *, explicit: bool = False) -> None:
        """End what a block has open."""
        self._blocks.close(slot.thinking, explicit=explicit)
        self._blocks.close(slot.text, explicit=explicit)
        if slot.tool is not None and slot.tool.is_open:
            if explicit and not slot.tool.has_arguments and (text := arguments_text(slot.input)):
                slot.tool.add(self._sink, text)
            slot.tool.end(self._sink)
        slot.is_open = False
        self._open.pop(slot, None)
