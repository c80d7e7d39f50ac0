"""What the deltas of one run differ in; None for a payload that is no delta."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.anthropic_messages.columns import TEXT_FIELDS
from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.json_edge import mapping, string

_WITHIN: Final = {"content_block_delta": "event"}
_COLUMNS: Final = {
    name: DeltaColumns((f"event.delta.{name}", "uuid"), f"event.delta.{name}", _WITHIN)
    for name in TEXT_FIELDS.values()
}


def delta_columns(payload: Any, _reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    event = mapping(fields.get("event"))
    delta = mapping(event.get("delta"))
    name = TEXT_FIELDS.get(string(delta.get("type")))
    if name is None or event.get("type") != "content_block_delta" or not string(delta.get(name)):
        return None
    return _COLUMNS[name] if string(fields.get("uuid")) else None
