"""What an item of the input says to Responses."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.json_edge import mapping, string
from conformance.dialects.turns import (
    HistoryForm,
    SaidEntry,
    listed_or_said,
    said_call,
    speaker,
    spoken,
)


def _read(entry: Any) -> SaidEntry:
    item = mapping(entry)
    kind = string(item.get("type"))
    if kind == "function_call":
        call = said_call(item.get("call_id"), item.get("name"), item.get("arguments"))
        return SaidEntry("model", calls=(call,))
    if kind == "custom_tool_call":
        call = said_call(item.get("call_id"), item.get("name"), item.get("input"))
        return SaidEntry("model", calls=(call,))
    if kind.endswith("_output"):
        return SaidEntry("tool", spoken(item.get("output")), results=(string(item.get("call_id")),))
    if kind == "reasoning" or kind.endswith("_call"):
        return SaidEntry("model")
    by = speaker(item.get("role"))
    return SaidEntry(by, spoken(item.get("content")), id=string(item.get("id")))


TURNS: Final = HistoryForm("input", listed_or_said("input"), _read, thread="conversation")
