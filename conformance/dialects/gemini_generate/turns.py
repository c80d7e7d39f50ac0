"""What an entry of the history says to the Gemini API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from conformance.dialects.gemini_generate.partial_args import PartialArgs
from conformance.dialects.gemini_parts import kind_of
from conformance.dialects.json_edge import mapping, objects, string
from conformance.dialects.turns import (
    HistoryCall,
    HistoryEntry,
    HistoryForm,
    blocks_entry,
    history_call,
    listed,
)


def _read(entry: Any) -> HistoryEntry:
    fields = mapping(entry)
    parts = objects(fields.get("parts"))
    calls = [mapping(part["functionCall"]) for part in parts if "functionCall" in part]
    results = [mapping(part["functionResponse"]) for part in parts if "functionResponse" in part]
    return blocks_entry(
        fields.get("role") or "user",
        (_shown(part) for part in parts),
        _said_calls(calls),
        (string(each.get("id") or each.get("name")) for each in results),
    )


def _said_calls(calls: Iterable[dict[str, Any]]) -> Iterator[HistoryCall]:
    """Each call with all of its arguments; those without a name go on with the one before."""
    begun: dict[str, Any] | None = None
    partial = PartialArgs()
    for call in (*calls, None):
        if begun is not None and (call is None or call.get("name")):
            arguments = partial.joined(begun.get("args")) or begun.get("args")
            yield history_call(begun.get("id"), begun.get("name"), arguments)
        if call is None:
            return
        if begun is None or call.get("name"):
            begun, partial = call, PartialArgs()
        partial.add(call.get("partialArgs"))


def _shown(part: dict[str, Any]) -> str:
    result = part.get("functionResponse")
    if result is not None:
        return history_call("", "", mapping(result).get("response")).arguments
    return string(part.get("text")) if kind_of(part) == "text" else ""


TURNS: Final = HistoryForm("contents", listed("contents"), _read)
