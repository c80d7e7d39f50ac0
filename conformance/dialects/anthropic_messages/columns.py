"""What the deltas of one run differ in; None for a payload that is no delta."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.json_edge import mapping, string

TEXT_FIELDS: Final = {
    "thinking_delta": "thinking",
    "text_delta": "text",
    "input_json_delta": "partial_json",
}
"""Type of a delta -> the field that holds its text."""


_COLUMNS: Final = {
    name: DeltaColumns((f"delta.{name}",), f"delta.{name}") for name in TEXT_FIELDS.values()
}


def delta_columns(payload: Any, _reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    delta = mapping(fields.get("delta"))
    name = TEXT_FIELDS.get(string(delta.get("type")))
    if fields.get("type") != "content_block_delta" or name is None or not string(delta.get(name)):
        return None
    return _COLUMNS[name]
