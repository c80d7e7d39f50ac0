"""What a step says to the Interactions API."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.gemini_interactions.vocabulary import CALL, OUTPUT, THOUGHT
from conformance.dialects.json_edge import mapping, string
from conformance.dialects.turns import (
    HistoryEntry,
    HistoryForm,
    history_call,
    listed_or_text,
    spoken,
)


def _read(entry: Any) -> HistoryEntry:
    step = mapping(entry)
    match step.get("type"):
        case kind if kind == THOUGHT:
            return HistoryEntry("model", thought=spoken(step.get("summary")))
        case kind if kind == OUTPUT:
            return HistoryEntry("model", spoken(step.get("content")))
        case kind if kind == CALL:
            call = history_call(step.get("id"), step.get("name"), step.get("arguments"))
            return HistoryEntry("model", calls=(call,))
        case "function_result":
            result = history_call("", "", step.get("result")).arguments
            return HistoryEntry("tool", result, results=(string(step.get("call_id")),))
        case "user_input":
            return HistoryEntry("user", spoken(step.get("content")))
    is_user = step.get("role") == "user"
    return HistoryEntry("user" if is_user else "other", spoken(step.get("content")))


TURNS: Final = HistoryForm("input", listed_or_text("input"), _read)
