"""The Agent Client Protocol."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.acp.reader import CHUNKS, AcpReader
from conformance.dialects.base import DeltaColumns, Dialect, Reading, facets
from conformance.dialects.json_edge import mapping, string
from conformance.dialects.wire_keys import AnswerBounds, WireKeys

_TEXT: Final = "params.update.content.text"
_COLUMNS: Final = DeltaColumns((_TEXT,), _TEXT, dict.fromkeys(CHUNKS, "params.update"))


def chunk_columns(payload: Any, _reading: Reading) -> DeltaColumns | None:
    update = mapping(mapping(mapping(payload).get("params")).get("update"))
    is_chunk = string(update.get("sessionUpdate")) in CHUNKS
    return _COLUMNS if is_chunk and string(mapping(update.get("content")).get("text")) else None


DIALECT: Final = Dialect(
    **facets(__name__, "agent"),
    reader=AcpReader,
    columns=chunk_columns,
    framing="lines",
    keys=WireKeys(
        texts=("text",),
        shown=("text",),
        indices=("messageId", "toolCallId"),
        words=("sessionUpdate", "stopReason", "kind", "status"),
        free=("rawInput", "rawOutput", "_meta"),
    ),
    bounds=AnswerBounds(first=frozenset({"session/prompt"}), last=frozenset({"prompt.response"})),
    is_application=True,
    carries_opaque=False,
    names_tools=False,
    tells_parts=False,
    unit="turn",
)
