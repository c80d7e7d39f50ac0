"""What the deltas of one run differ in; None for a payload that is no delta."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.json_edge import mapping, string

_DELTAS: Final = frozenset(
    {
        "response.output_text.delta",
        "response.reasoning_text.delta",
        "response.reasoning_summary_text.delta",
        "response.function_call_arguments.delta",
        "response.refusal.delta",
    }
)


def delta_columns(payload: Any, _reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    if string(fields.get("type")) not in _DELTAS or not string(fields.get("delta")):
        return None
    number = fields.get("sequence_number")
    numbered = isinstance(number, int) and not isinstance(number, bool) and number >= 0
    padded = isinstance(fields.get("obfuscation"), str)
    more = [
        name
        for name, is_there in (("sequence_number", numbered), ("obfuscation", padded))
        if is_there
    ]
    return DeltaColumns(("delta", *more), "delta")
