"""Content blocks of a Messages stream: what its events and blocks say.

Rule 1: a delta says what its own type says, whatever block it is in.
Rule 2: a `thinking` block starts and ends explicitly, also when all of its text is omitted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.dialects.content_blocks import ContentBlocks, Slot
from conformance.dialects.json_edge import mapping, string, whole

OVERFLOW: Final = "anthropic.messages.overflow"

_OWN_TOOL: Final = "tool_use"
_HOSTED_TOOLS: Final = frozenset({"server_tool_use", "mcp_tool_use"})


class Content(ContentBlocks):
    """The blocks of one message after the other."""

    overflow = OVERFLOW

    __slots__ = ()

    def start(self, event: dict[str, Any]) -> None:
        if (slot := self.begin_at(whole(event.get("index")))) is not None:
            self._announce_block(slot, mapping(event.get("content_block")))

    def delta(self, event: dict[str, Any]) -> None:
        """A delta that says something: an empty one begins nothing."""
        delta = mapping(event.get("delta"))
        meaning = _DELTAS.get(string(delta.get("type")))
        text = string(delta.get(meaning[0])) if meaning is not None else ""
        if meaning is None or not text:
            return
        if (slot := self.slot_at(whole(event.get("index")))) is not None:
            meaning[1](self, slot, text)

    def stop(self, event: dict[str, Any]) -> None:
        """The end of a block."""
        self.stop_at(whole(event.get("index")))

    def whole(self, blocks: list[Any]) -> None:
        """Blocks that come in one piece; signatures follow the end that this frame also is."""
        for element in blocks:
            block = mapping(element)
            slot = Slot()
            signature = self._begin_block(slot, block)
            self._end_slot(slot, explicit=True)
            if signature:
                self.sign(slot, signature)

    def _announce_block(self, slot: Slot, block: dict[str, Any]) -> None:
        if signature := self._begin_block(slot, block):
            self.sign(slot, signature)
        slot.head = string(block.get("thinking")) or string(block.get("text"))

    def _begin_block(self, slot: Slot, block: dict[str, Any]) -> str:
        """Report what is in a block and return its signature, which is still to be reported."""
        kind = string(block.get("type"))
        if kind == "thinking":
            slot.thinking = self._blocks.think("raw", explicit=True)
            self.think(slot, string(block.get("thinking")))
            return string(block.get("signature"))
        if kind == "redacted_thinking":
            if data := string(block.get("data")):
                self.redact(slot, data)
        elif kind == "text":
            self.write(slot, string(block.get("text")))
        elif kind == _OWN_TOOL or kind in _HOSTED_TOOLS:
            named = (string(block.get("id")), string(block.get("name")))
            self._name_tool(slot, *named, is_hosted=kind in _HOSTED_TOOLS)
            slot.input = block.get("input")
        elif kind == "compaction":
            self._sink.show()
        return ""


# Delta type -> the field that holds its text, and what it does.
_DELTAS: Final[Mapping[str, tuple[str, Callable[[Content, Slot, str], None]]]] = {
    "thinking_delta": ("thinking", Content.think),
    "text_delta": ("text", Content.write),
    "signature_delta": ("signature", Content.sign),
    "input_json_delta": ("partial_json", Content.call),
}
