"""Content blocks of Converse, as its stream and its bodies have them.

Rule 1: a block of reasoning or of text is not announced: its first delta that says something
        begins it. So an empty text (gpt-oss sends one before its reasoning) begins nothing.
Rule 2: a delta has one member, and says what that member is. Members that are not known say
        nothing: citations, results of tools. An image or a sound is shown.
Rule 3: a body nests what the stream has flat: `reasoningText` holds text and signature, and
        `citationsContent` the text that is cited.
Rule 4: a tool use whose `type` is `server_tool_use`, or whose result comes in the same message, is
        the server's own; only the first is known when it begins.
"""

from __future__ import annotations

from typing import Any

from conformance.dialects.content_blocks import ContentBlocks, Slot
from conformance.dialects.json_edge import elements, mapping, string, whole

OVERFLOW = "converse.overflow"

_HOSTED = "server_tool_use"
_SHOWN = ("image", "audio", "video", "document")


class Content(ContentBlocks):
    """The blocks of one message after the other."""

    overflow = OVERFLOW

    __slots__ = ()

    def start(self, event: dict[str, Any]) -> None:
        """A block is announced."""
        tool = mapping(mapping(event.get("start")).get("toolUse"))
        if (slot := self.begin_at(whole(event.get("contentBlockIndex")))) is not None and tool:
            self._begin_tool(slot, tool)

    def delta(self, event: dict[str, Any]) -> None:
        """A delta that says something: an empty one begins nothing."""
        delta = mapping(event.get("delta"))
        self._show(delta)
        reasoning = mapping(delta.get("reasoningContent"))
        pieces = (
            (Content.think, string(reasoning.get("text"))),
            (Content.redact, string(reasoning.get("redactedContent"))),
            (Content.write, string(delta.get("text"))),
            (Content.call, string(mapping(delta.get("toolUse")).get("input"))),
            (Content.sign, string(reasoning.get("signature"))),
        )
        for add, text in pieces:
            slot = self.slot_at(whole(event.get("contentBlockIndex"))) if text else None
            if slot is not None:
                add(self, slot, text)

    def stop(self, event: dict[str, Any]) -> None:
        """The end of a block."""
        self.stop_at(whole(event.get("contentBlockIndex")))

    def whole(self, blocks: list[Any]) -> None:
        """Blocks that come in one piece; signatures follow the end that this frame also is."""
        for element in blocks:
            block = mapping(element)
            slot = Slot()
            reasoning = mapping(block.get("reasoningContent"))
            thought = mapping(reasoning.get("reasoningText"))
            self.think(slot, string(thought.get("text")))
            self.write(slot, string(block.get("text")))
            self._show(block)
            for cited in elements(mapping(block.get("citationsContent")).get("content")):
                self.write(slot, string(mapping(cited).get("text")))
            if tool := mapping(block.get("toolUse")):
                self._begin_tool(slot, tool)
                slot.input = tool.get("input")
            self._end_slot(slot, explicit=True)
            if signature := string(thought.get("signature")):
                self.sign(slot, signature)
            if data := string(reasoning.get("redactedContent")):
                self.redact(slot, data)

    def _show(self, delta: dict[str, Any]) -> None:
        if not delta.keys().isdisjoint(_SHOWN):
            self._sink.show()

    def _begin_tool(self, slot: Slot, tool: dict[str, Any]) -> None:
        named = (string(tool.get("toolUseId")), string(tool.get("name")))
        self._name_tool(slot, *named, is_hosted=tool.get("type") == _HOSTED)
