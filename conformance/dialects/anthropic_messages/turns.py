"""What an entry of the history says to Messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects.json_edge import mapping, objects, string
from conformance.dialects.turns import (
    HistoryEntry,
    HistoryForm,
    blocks_entry,
    history_call,
    listed,
    spoken,
)


def _read(entry: Any) -> HistoryEntry:
    fields = mapping(entry)
    content = fields.get("content")
    if isinstance(content, str):
        return blocks_entry(fields.get("role"), (content,))
    blocks = objects(content)
    return blocks_entry(
        fields.get("role"),
        (_shown(block) for block in blocks),
        (
            history_call(block.get("id"), block.get("name"), block.get("input"))
            for block in blocks
            if block.get("type") == "tool_use"
        ),
        (
            string(block.get("tool_use_id"))
            for block in blocks
            if block.get("type") == "tool_result"
        ),
    )


def _shown(block: Mapping[str, Any]) -> str:
    match block.get("type"):
        case "text":
            return string(block.get("text"))
        case "tool_result":
            return spoken(block.get("content"))
    return ""


TURNS: Final = HistoryForm("messages", listed("messages"), _read)
