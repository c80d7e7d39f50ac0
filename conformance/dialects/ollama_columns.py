"""What the lines of one run differ in; None for a line that is no delta.

A line with two texts, with a call, an empty text or the end has no columns: it is read alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from conformance.core.reading import Reading
from conformance.dialects.base import DeltaColumns
from conformance.dialects.json_edge import mapping


def line_columns(holder: str, text: str) -> Callable[[Any, Reading], DeltaColumns | None]:
    """For lines that have `thinking` and `text` in their object `holder`; empty: in themselves."""

    def delta_columns(payload: Any, reading: Reading) -> DeltaColumns | None:
        fields = mapping(payload)
        message: Mapping[str, Any] = mapping(fields.get(holder)) if holder else fields
        texts = [name for name in ("thinking", text) if message.get(name)]
        if len(texts) != 1 or not isinstance(message[texts[0]], str) or reading.fields:
            return None
        if fields.get("done") is not False or fields.get("error") or message.get("tool_calls"):
            return None
        if reading.markers and texts == [text]:
            return None
        path = f"{holder}.{texts[0]}" if holder else texts[0]
        return _columns(path, is_timed=isinstance(fields.get("created_at"), str))

    return delta_columns


@cache
def _columns(path: str, *, is_timed: bool) -> DeltaColumns:
    return DeltaColumns((path, "created_at") if is_timed else (path,), path)
