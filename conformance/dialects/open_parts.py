"""Parts of text and reasoning, and tool calls, that are open at once and found by their ids.

Rule 1: a part is found by its kind and id, a call by its id; ids are matched, never parsed. A delta
        of what is not open begins an unannounced part, an end of it says nothing; a start
        of what is open ends the part that was.
Rule 2: beyond `MOST_OPEN` open parts and calls nothing is opened, and one wire event says so.
"""

from __future__ import annotations

from typing import Final, Literal

from conformance.dialects.blocks import Block, Blocks
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall

MOST_OPEN: Final = 4096

PartKind = Literal["reasoning", "text"]


class OpenParts:
    """What is open of one stream; `is_over` once too much was open at once."""

    overflow: str
    """Name of the wire event that says that there is no more room."""

    def __init__(self, sink: Sink, choice: int = 0) -> None:
        self._sink = sink
        self.choice = choice
        self._blocks = Blocks(choice, sink)
        self._open: dict[tuple[PartKind, str], Block] = {}
        self._calls: dict[str, ToolCall] = {}
        self._called = 0
        self.is_over = False

    def close(self) -> None:
        """Ends still owed."""
        for block in self._open.values():
            self._blocks.close(block)
        self._open.clear()
        for call in self._calls.values():
            call.end(self._sink)
        self._calls.clear()

    def _start_part(self, kind: PartKind, part_id: str) -> Block | None:
        """A part is announced; none where there is no room."""
        self._blocks.close(self._open.pop((kind, part_id), None))
        return self._begin_part(kind, part_id, explicit=True)

    def _add_text(self, kind: PartKind, part_id: str, text: str) -> Block | None:
        """The part that the text was added to; an empty one begins none."""
        block = self._open.get((kind, part_id))
        if not text:
            return block
        block = block or self._begin_part(kind, part_id)
        if block is None:
            return None
        if block.channel is None:
            self._blocks.text(block, text)
        else:
            self._blocks.thought(block, block.channel, text)
        return block

    def _take_part(self, kind: PartKind, part_id: str) -> Block | None:
        """A part that is about to end, no longer open."""
        return self._open.pop((kind, part_id), None)

    def _start_call(self, call_id: str, name: str, *, is_hosted: bool = False) -> ToolCall | None:
        """A call is announced; none where there is no room."""
        self._end_open_call(call_id)
        if not self._has_room():
            return None
        call = ToolCall(self.choice, self._called, call_id, name, is_hosted=is_hosted)
        self._calls[call_id] = call
        self._called += 1
        call.start(self._sink)
        return call

    def _end_open_call(self, call_id: str) -> None:
        if (call := self._calls.pop(call_id, None)) is not None:
            call.end(self._sink)

    def _begin_part(self, kind: PartKind, part_id: str, *, explicit: bool = False) -> Block | None:
        if not self._has_room():
            return None
        block = self._open[kind, part_id] = self._new_block(kind, part_id, explicit=explicit)
        return block

    def _new_block(self, kind: PartKind, part_id: str, *, explicit: bool = False) -> Block:
        if kind == "text":
            return self._blocks.write()
        return self._blocks.think("raw", explicit=explicit, item_id=part_id)

    def _has_room(self) -> bool:
        if len(self._open) + len(self._calls) < MOST_OPEN:
            return True
        if not self.is_over:
            self.is_over = True
            self._sink.wire(self.overflow, {})
        return False
