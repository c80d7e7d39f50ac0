"""The event stream of Opal."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.base import DeltaColumns, Dialect, Reading, facets
from conformance.dialects.json_edge import mapping, string
from conformance.dialects.opal_rpc.reader import OpalReader
from conformance.dialects.wire_keys import WireKeys

_DELTAS: Final = frozenset({"thinking_delta", "message_delta"})
_COLUMNS: Final = DeltaColumns(("params.delta",), "params.delta", dict.fromkeys(_DELTAS, "params"))


def delta_columns(payload: Any, _reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    params = mapping(fields.get("params"))
    is_delta = fields.get("method") == "agent/event" and string(params.get("type")) in _DELTAS
    return _COLUMNS if is_delta and string(params.get("delta")) else None


DIALECT: Final = Dialect(
    **facets(__name__),
    reader=OpalReader,
    columns=delta_columns,
    framing="lines",
    keys=WireKeys(
        texts=("delta",),
        shown=("delta",),
        words=("type",),
        free=("args", "result"),
    ),
    unit="run",
    tells_reasons=False,
)
