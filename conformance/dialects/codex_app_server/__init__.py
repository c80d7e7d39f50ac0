"""The app server of Codex."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.base import DeltaColumns, Dialect, Reading, facets
from conformance.dialects.codex_app_server.reader import AppServerReader
from conformance.dialects.json_edge import mapping, string
from conformance.dialects.wire_keys import AnswerBounds, WireKeys

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


DIALECT: Final = Dialect(
    **facets(__name__, "agent"),
    reader=AppServerReader,
    columns=delta_columns,
    framing="lines",
    keys=WireKeys(
        texts=("delta", "text", "summary", "content"),
        shown=("delta", "text", "summary", "content"),
        indices=("itemId", "summaryIndex", "contentIndex"),
        words=("type", "status"),
        free=("arguments", "aggregatedOutput"),
    ),
    bounds=AnswerBounds(
        first=frozenset({"turn/started"}),
        once=frozenset({"turn/started"}),
        last=frozenset({"turn/completed"}),
    ),
    is_application=True,
    carries_opaque=False,
    names_tools=False,
    unit="turn",
    tells_reasons=False,
)
