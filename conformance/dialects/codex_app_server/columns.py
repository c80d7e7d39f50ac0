"""What the deltas of one run differ in; None for a payload that is no delta."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.json_edge import mapping, string

_DELTAS: Final = frozenset(
    {
        "item/agentMessage/delta",
        "item/reasoning/summaryTextDelta",
        "item/reasoning/textDelta",
    }
)
_WITHIN: Final = dict.fromkeys(_DELTAS, "params")
_PLAIN: Final = DeltaColumns(("params.delta",), "params.delta", _WITHIN)
_TIMED: Final = DeltaColumns(("params.delta", "emittedAtMs"), "params.delta", _WITHIN)


def delta_columns(payload: Any, _reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    is_delta = string(fields.get("method")) in _DELTAS and "id" not in fields
    if not is_delta or not string(mapping(fields.get("params")).get("delta")):
        return None
    return _TIMED if type(fields.get("emittedAtMs")) is int else _PLAIN
