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

_OF_SERVER: Final = frozenset(
    {"reasoning", "program", "program_output", "mcp_list_tools", "mcp_approval_request"}
)


def _read(entry: Any) -> HistoryEntry:
    item = mapping(entry)
    kind = string(item.get("type"))
    # The server searches tools and runs a shell, or has the client do so.
    is_searched = kind == "tool_search_output" and item.get("execution") == "server"
    if kind in _OF_SERVER or is_searched or (kind == "shell_call_output" and item.get("id")):
        return HistoryEntry("model")
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
    if kind.endswith("_call"):
        return HistoryEntry("model")
    by = speaker(item.get("role"))
    return HistoryEntry(by, spoken(item.get("content")), id=string(item.get("id")))


TURNS: Final = HistoryForm("input", listed_or_text("input"), _read, thread=("conversation",))
