"""What a message of a prompt says to a model of the harmony format."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.harmony.header import ASSISTANT
from conformance.dialects.harmony.prompt import prompt_items
from conformance.dialects.json_edge import mapping, string
from conformance.dialects.turns import HistoryEntry, HistoryForm, history_call


def _read(entry: Any) -> HistoryEntry:
    item = mapping(entry)
    role, content = string(item.get("role")), string(item.get("content"))
    if role == "user":
        return HistoryEntry("user", content)
    if role in ("system", "developer"):
        return HistoryEntry("other", content)
    if role != ASSISTANT:
        return HistoryEntry("tool", content, results=(role,))
    if item.get("channel") == "analysis":
        return HistoryEntry("model")
    if recipient := string(item.get("recipient")):
        name = recipient.removeprefix("functions.")
        return HistoryEntry("model", calls=(history_call("", name, content),))
    return HistoryEntry("model", content)


TURNS: Final = HistoryForm("prompt", prompt_items, _read)
