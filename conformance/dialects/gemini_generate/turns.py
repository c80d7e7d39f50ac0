"""What an entry of the history says to the Gemini API."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.gemini_generate.parts import kind_of
from conformance.dialects.json_edge import mapping, objects, string
from conformance.dialects.turns import HistoryForm, SaidEntry, blocks_entry, listed, said_call


def _read(entry: Any) -> SaidEntry:
    fields = mapping(entry)
    parts = objects(fields.get("parts"))
    calls = [mapping(part["functionCall"]) for part in parts if "functionCall" in part]
    results = [mapping(part["functionResponse"]) for part in parts if "functionResponse" in part]
    return blocks_entry(
        fields.get("role") or "user",
        (_shown(part) for part in parts),
        (said_call(call.get("id"), call.get("name"), call.get("args")) for call in calls),
        (string(each.get("id") or each.get("name")) for each in results),
    )


def _shown(part: dict[str, Any]) -> str:
    result = part.get("functionResponse")
    if result is not None:
        return said_call("", "", mapping(result).get("response")).arguments
    return string(part.get("text")) if kind_of(part) == "text" else ""


TURNS: Final = HistoryForm("contents", listed("contents"), _read)
