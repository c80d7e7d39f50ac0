"""Items of a turn while they come, as a client would show them.

Rule 1: an item is found by its id. Reasoning is a block of each channel that it has deltas of:
        `summary`, in parts, or `raw`. It starts with the first of these, or with its end.
Rule 2: a completed item that had no deltas is said whole. Reasoning, or a message, that is
        completed under an unknown id ends what is open of its kind: the server changed
        the id on the way.
Rule 3: an item that does something is a call that is carried out there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from conformance.dialects.blocks import Block, Channel
from conformance.dialects.json_edge import arguments_text, elements, mapping, string, whole
from conformance.dialects.open_parts import OpenParts, PartKind

OVERFLOW: Final = "codex.app-server.overflow"
# Type of an item that does something -> what it was given.
CALLS: Final = {
    "commandExecution": ("command",),
    "mcpToolCall": ("arguments",),
    "dynamicToolCall": ("arguments",),
    "collabAgentToolCall": ("prompt",),
    "webSearch": ("query",),
    "fileChange": ("changes",),
}
_CHANNELS: Final[tuple[tuple[Channel, str], ...]] = (("summary", "summary"), ("raw", "content"))


class TurnItems(OpenParts):
    overflow = OVERFLOW

    def add_thought(self, channel: Channel, params: dict[str, Any]) -> None:
        """A piece of reasoning; `summaryIndex` is the number of its part."""
        text = string(params.get("delta"))
        block = self._thought(channel, string(params.get("itemId"))) if text else None
        if block is not None:
            part = whole(params.get("summaryIndex")) if channel == "summary" else None
            self._blocks.thought(block, channel, text, part)

    def add_part(self, params: dict[str, Any]) -> None:
        """Another part of a summary begins."""
        block = self._thought("summary", string(params.get("itemId")))
        part = whole(params.get("summaryIndex"))
        if block is not None and part is not None:
            self._blocks.part(block, part)

    def add_message(self, params: dict[str, Any]) -> None:
        """A piece of what the user reads."""
        self._add_text("text", string(params.get("itemId")), string(params.get("delta")))

    def start(self, item: dict[str, Any]) -> None:
        kind = string(item.get("type"))
        if kind in CALLS:
            name = string(item.get("tool")) or kind
            self._start_call(string(item.get("id")), name, is_hosted=True)

    def complete(self, item: dict[str, Any]) -> None:
        """An item as it is at its end."""
        kind, item_id = string(item.get("type")), string(item.get("id"))
        if kind == "reasoning":
            self._end_reasoning(item, item_id)
        elif kind == "agentMessage":
            self._end_message(item, item_id)
        elif kind in CALLS:
            self._end_call(item, kind, item_id)

    def _thought(self, channel: Channel, item_id: str) -> Block | None:
        key = f"{channel} {item_id}"
        return self._open.get(("reasoning", key)) or self._begin_part(
            "reasoning", key, explicit=True
        )

    def _new_block(self, kind: str, part_id: str, *, explicit: bool = False) -> Block:
        if kind == "text":
            return self._blocks.write()
        channel, _, item_id = part_id.partition(" ")
        named: Channel = "summary" if channel == "summary" else "raw"
        return self._blocks.think(named, explicit=explicit, item_id=item_id)

    def _end_message(self, item: dict[str, Any], item_id: str) -> None:
        if not self._end_open("text", [item_id]):
            self._add_text("text", item_id, string(item.get("text")))
            self._blocks.close(self._take_part("text", item_id), explicit=True)

    def _end_reasoning(self, item: dict[str, Any], item_id: str) -> None:
        if not self._end_open("reasoning", [f"{channel} {item_id}" for channel, _ in _CHANNELS]):
            self._say_whole(item, item_id)

    def _end_open(self, kind: PartKind, part_ids: Sequence[str]) -> bool:
        """Ends what is open of these ids, or else of the kind; whether there was any."""
        ended = [key for each in part_ids if (key := (kind, each)) in self._open]
        ended = ended or [key for key in self._open if key[0] == kind]
        for key in ended:
            self._blocks.close(self._open.pop(key), explicit=True)
        return bool(ended)

    def _say_whole(self, item: dict[str, Any], item_id: str) -> None:
        own = [(c, list(filter(None, map(string, elements(item.get(f)))))) for c, f in _CHANNELS]
        for channel, texts in [each for each in own if each[1]] or own[:1]:
            block = self._blocks.think(channel, explicit=True, item_id=item_id)
            for part, text in enumerate(texts):
                self._blocks.thought(block, channel, text, part if channel == "summary" else None)
            self._blocks.close(block, explicit=True)

    def _end_call(self, item: dict[str, Any], kind: str, item_id: str) -> None:
        if item_id not in self._calls:
            self.start(item)
        call = self._calls.get(item_id)
        if call is None:
            return
        given = {name: item[name] for name in CALLS[kind] if name in item}
        stated = mapping(given.get("arguments"))
        if text := arguments_text(stated or given):
            call.add(self._sink, text)
        self._end_open_call(item_id)
