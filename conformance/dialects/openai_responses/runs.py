"""Runs of thinking and text in a Responses stream, in items or loose.

Rule 1: a reasoning item is a block of thinking, from its announcement to its `output_item.done`;
        a message item is a block of text, from its first text on.
Rule 2: thinking or text without an announced item of its kind is loose: it forms runs like those
        of a chat completion, which end when other output comes.
Rule 3: the message starts once per response, at its first output item or first text.
"""

from __future__ import annotations

from conformance.dialects.blocks import Block, Blocks, Channel
from conformance.dialects.openai_responses.items import Item
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall


class Runs:
    """Reports what items say; `loose` is the item of everything that has none."""

    __slots__ = ("_blocks", "_sink", "_tools", "has_begun", "loose", "response_id")

    def __init__(self, sink: Sink, blocks: Blocks) -> None:
        self._blocks = blocks
        self._sink = sink
        self._tools = 0
        self.has_begun = False
        self.loose = Item("", "", None)
        self.response_id = ""

    def begin(self) -> None:
        if self.has_begun:
            return
        self.has_begun = True
        self._sink.start_message(message_id=self.response_id)

    def announce_thinking(self, item: Item, channel: Channel) -> None:
        self.end_loose()
        item.thinking = self._blocks.think(
            channel, explicit=True, item_id=item.id, phase=item.phase
        )

    def announce_tool(self, item: Item, call_id: str, name: str) -> None:
        """A tool's index counts the calls of the response, whatever their output index."""
        self.end_loose()
        item.tool = ToolCall(0, self._tools, call_id, name)
        item.tool.start(self._sink)
        self._tools += 1

    def part(self, item: Item, part: int) -> None:
        """A summary part begins; a second beginning is reported again."""
        if item.thinking is not None:
            item.parts.add(part)
            self._blocks.part(item.thinking, part)

    def think(self, item: Item, channel: Channel, part: int | None, text: str) -> None:
        loose = self.loose
        if loose.text is not None:
            self._end_loose_text()
        if loose.thinking is not None and item is not loose:
            self._end_loose_thinking()
        if item.thinking is None:
            item.thinking = self._blocks.think(channel, phase=item.phase)
        if channel == "raw":
            part = None
        elif part is not None and part not in item.parts:
            self.part(item, part)
        self._blocks.thought(item.thinking, channel, text, part)

    def write(self, item: Item, text: str) -> None:
        loose = self.loose
        if loose.thinking is not None:
            self._end_loose_thinking()
        if loose.text is not None and item is not loose:
            self._end_loose_text()
        if item.text is None:
            item.text = self._blocks.write(item.phase)
        self._blocks.text(item.text, text)

    def refuse(self, text: str) -> None:
        self.end_loose()
        self._sink.emit("refusal.delta", {"choice": 0, "text": text})

    def call(self, item: Item, arguments: str) -> None:
        if item.tool is not None:
            item.tool.add(self._sink, arguments)

    def hide(self, block: Block | None, encrypted: str) -> None:
        self._blocks.opaque(block, "encrypted", encrypted)

    def end(self, item: Item, *, explicit: bool = False) -> None:
        """End what an item has open."""
        self._blocks.close(item.thinking, explicit=explicit)
        self._blocks.close(item.text, explicit=explicit)
        if item.tool is not None:
            item.tool.end(self._sink)

    def end_loose(self, *, explicit: bool = False) -> None:
        self._end_loose_thinking(explicit=explicit)
        self._end_loose_text()

    def _end_loose_thinking(self, *, explicit: bool = False) -> None:
        loose = self.loose
        if loose.thinking is not None:
            self._blocks.close(loose.thinking, explicit=explicit)
            loose.thinking = None
            loose.parts.clear()

    def _end_loose_text(self) -> None:
        loose = self.loose
        if loose.text is not None:
            self._blocks.close(loose.text)
            loose.text = None
