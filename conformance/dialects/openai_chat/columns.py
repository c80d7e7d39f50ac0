"""What the deltas of one run differ in; None for a payload that is no delta.

A payload with two texts, a list of details or an empty text has no columns: it is read alone.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.json_edge import mapping
from conformance.dialects.markers import first_characters
from conformance.dialects.openai_chat.fields import TEXT_CARRIERS, only_carrier

_WITHIN: Final = {"chat.choice": "choices.0"}


def delta_columns(payload: Any, reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    choices = fields.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or reading.fields:
        return None
    choice = mapping(choices[0])
    delta = mapping(choice.get("delta"))
    name = only_carrier(delta)
    if name not in TEXT_CARRIERS or not isinstance(delta[name], str):
        return None
    if choice.get("finish_reason") or fields.get("usage") or fields.get("error"):
        return None
    alone = first_characters(reading.markers) if name == "content" and reading.markers else ""
    return _columns(name, alone, is_padded=isinstance(fields.get("obfuscation"), str))


@cache
def _columns(name: str, alone: str, *, is_padded: bool) -> DeltaColumns:
    path = f"choices.0.delta.{name}"
    paths = (path, "obfuscation") if is_padded else (path,)
    return DeltaColumns(paths, path, _WITHIN, alone)
