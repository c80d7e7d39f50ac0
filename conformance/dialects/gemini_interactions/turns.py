"""What a step says to the Interactions API."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.gemini_interactions.vocabulary import CALL, OUTPUT, THOUGHT
from conformance.dialects.json_edge import mapping, string
from conformance.dialects.turns import HistoryForm, SaidEntry, listed_or_said, said_call, spoken


def _read(entry: Any) -> SaidEntry:
    step = mapping(entry)
    match step.get("type"):
        case kind if kind == THOUGHT:
            return SaidEntry("model", thought=spoken(step.get("summary")))
        case kind if kind == OUTPUT:
            return SaidEntry("model", spoken(step.get("content")))
        case kind if kind == CALL:
            call = said_call(step.get("id"), step.get("name"), step.get("arguments"))
            return SaidEntry("model", calls=(call,))
        case "function_result":
            result = said_call("", "", step.get("result")).arguments
            return SaidEntry("tool", result, results=(string(step.get("call_id")),))
        case "user_input":
            return SaidEntry("user", spoken(step.get("content")))
    is_user = step.get("role") == "user"
    return SaidEntry("user" if is_user else "other", spoken(step.get("content")))


TURNS: Final = HistoryForm("input", listed_or_said("input"), _read)
