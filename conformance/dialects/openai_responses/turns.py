"""What an item of the input says to Responses."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.json_edge import mapping, string
from conformance.dialects.turns import (
    HistoryEntry,
    HistoryForm,
    history_call,
    listed_or_text,
    speaker,
    spoken,
)


def _read(entry: Any) -> HistoryEntry:
    item = mapping(entry)
    kind = string(item.get("type"))
    if kind == "function_call":
        call = history_call(item.get("call_id"), item.get("name"), item.get("arguments"))
        return HistoryEntry("model", calls=(call,))
    if kind == "custom_tool_call":
        call = history_call(item.get("call_id"), item.get("name"), item.get("input"))
        return HistoryEntry("model", calls=(call,))
    if kind.endswith("_output"):
        return HistoryEntry(
            "tool", spoken(item.get("output")), results=(string(item.get("call_id")),)
        )
    if kind == "reasoning" or kind.endswith("_call"):
        return HistoryEntry("model")
    by = speaker(item.get("role"))
    return HistoryEntry(by, spoken(item.get("content")), id=string(item.get("id")))


TURNS: Final = HistoryForm("input", listed_or_text("input"), _read, thread="conversation")
