"""What the deltas of one run differ in; None for a payload that is no delta.

A payload with two texts, a list of details or an empty text has no columns: it is read alone.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.json_edge import mapping

_TEXTS: Final = ("content", "reasoning_content", "reasoning", "reasoning_text", "refusal")
_LISTS: Final = ("tool_calls", "reasoning_details", "thinking_blocks", "function_call")
_WITHIN: Final = {"chat.choice": "choices.0."}


def delta_columns(payload: Any, reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    choices = fields.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or reading.fields:
        return None
    choice = mapping(choices[0])
    delta = mapping(choice.get("delta"))
    texts = [name for name in _TEXTS if delta.get(name)]
    if len(texts) != 1 or choice.get("finish_reason") or any(map(delta.get, _LISTS)):
        return None
    if fields.get("usage") or fields.get("error") or not isinstance(delta[texts[0]], str):
        return None
    if texts == ["content"] and reading.markers:
        return None
    path = f"choices.0.delta.{texts[0]}"
    padded = isinstance(fields.get("obfuscation"), str)
    return DeltaColumns((path, *(("obfuscation",) if padded else ())), path, _WITHIN)
