"""What an entry of the history says to Converse."""

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
    blocks = objects(fields.get("content"))
    uses = [mapping(block["toolUse"]) for block in blocks if "toolUse" in block]
    return blocks_entry(
        fields.get("role"),
        (_shown(block) for block in blocks),
        (history_call(use.get("toolUseId"), use.get("name"), use.get("input")) for use in uses),
        (
            string(mapping(block["toolResult"]).get("toolUseId"))
            for block in blocks
            if "toolResult" in block
        ),
    )


def _shown(block: Mapping[str, Any]) -> str:
    return string(block.get("text")) or spoken(mapping(block.get("toolResult")).get("content"))


TURNS: Final = HistoryForm("messages", listed("messages"), _read)
