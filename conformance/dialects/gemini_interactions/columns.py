"""What the deltas of one run differ in; None for a payload that is no delta."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import text_at
from conformance.core.reading import Reading
from conformance.dialects.base import DeltaColumns
from conformance.dialects.json_edge import mapping

TEXTS: Final = {
    "thought_summary": ("delta", "content", "text"),
    "text": ("delta", "text"),
    "arguments_delta": ("delta", "arguments"),
}
"""Type of a delta -> where its text stands."""

_COLUMNS: Final = {
    kind: DeltaColumns((".".join(path),), ".".join(path)) for kind, path in TEXTS.items()
}


def delta_columns(payload: Any, _reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    if fields.get("event_type") != "step.delta":
        return None
    kind = text_at(fields, "delta", "type")
    return _COLUMNS[kind] if kind in TEXTS and text_at(fields, *TEXTS[kind]) else None
