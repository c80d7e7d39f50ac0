"""What the deltas of one run differ in; None for a payload that is no delta."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.json_edge import mapping, string, whole

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
    is_numbered = whole(fields.get("sequence_number")) is not None
    return _columns(is_numbered=is_numbered, is_padded=isinstance(fields.get("obfuscation"), str))


@cache
def _columns(*, is_numbered: bool, is_padded: bool) -> DeltaColumns:
    more = ("sequence_number",) * is_numbered + ("obfuscation",) * is_padded
    return DeltaColumns(("delta", *more), "delta")
