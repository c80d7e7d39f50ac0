"""What the chunks of one run differ in; None for a payload that is no chunk."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.acp.reader import CHUNKS
from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.json_edge import mapping, string

_TEXT: Final = "params.update.content.text"
_COLUMNS: Final = DeltaColumns((_TEXT,), _TEXT, dict.fromkeys(CHUNKS, "params.update"))


def chunk_columns(payload: Any, _reading: Reading) -> DeltaColumns | None:
    update = mapping(mapping(mapping(payload).get("params")).get("update"))
    is_chunk = string(update.get("sessionUpdate")) in CHUNKS
    return _COLUMNS if is_chunk and string(mapping(update.get("content")).get("text")) else None
