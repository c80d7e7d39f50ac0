"""What the deltas of one run differ in; None for a payload that is no delta.

A part of thinking with more than one text, a signature or an end has no columns: it is read alone.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from conformance.core.json_values import text_at
from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.json_edge import elements, mapping
from conformance.dialects.openai_chat.fields import only_carrier

_PART: Final = "choices.0.delta.content.0"
_WITHIN: Final = {"chat.choice": "choices.0", "chat.part": _PART}
_OF_PART: Final = frozenset({"type", "thinking", "closed"})


def delta_columns(payload: Any, reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    choices = elements(fields.get("choices"))
    if len(choices) != 1 or reading.fields or reading.markers:
        return None
    choice = mapping(choices[0])
    if choice.get("finish_reason") or fields.get("usage") or fields.get("error"):
        return None
    delta = mapping(choice.get("delta"))
    if only_carrier(delta) != "content":
        return None
    is_padded = isinstance(fields.get("p"), str)
    if isinstance(delta["content"], str):
        return _columns("choices.0.delta.content", is_padded=is_padded)
    return _columns(f"{_PART}.thinking.0.text", is_padded=is_padded) if _thinks(delta) else None


def _thinks(delta: dict[str, Any]) -> bool:
    """Whether the content is one part with one piece of thinking."""
    parts = elements(delta["content"])
    part = mapping(parts[0]) if len(parts) == 1 else {}
    is_plain = part.get("type") == "thinking" and part.keys() <= _OF_PART
    is_one = is_plain and len(elements(part.get("thinking"))) == 1
    return is_one and bool(text_at(part, "thinking", 0, "text"))


@cache
def _columns(path: str, *, is_padded: bool) -> DeltaColumns:
    return DeltaColumns((path, "p") if is_padded else (path,), path, _WITHIN)
