"""What the lines of one run differ in; None for a line that is no delta.

A line with two texts, with a call, an empty text or the end has no columns: it is read alone.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from conformance.core.reading import Reading
from conformance.dialects.base import DeltaColumns
from conformance.dialects.json_edge import mapping


def delta_columns(payload: Any, reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    message = mapping(fields.get("message"))
    texts = [name for name in ("thinking", "content") if message.get(name)]
    if len(texts) != 1 or not isinstance(message[texts[0]], str) or reading.fields:
        return None
    if fields.get("done") is not False or fields.get("error") or message.get("tool_calls"):
        return None
    if reading.markers and texts == ["content"]:
        return None
    return _columns(texts[0], is_timed=isinstance(fields.get("created_at"), str))


@cache
def _columns(name: str, *, is_timed: bool) -> DeltaColumns:
    path = f"message.{name}"
    return DeltaColumns((path, "created_at") if is_timed else (path,), path)
