"""What the deltas of one run differ in; None for a payload that is no delta.

A payload with two texts, several details or an empty text has no columns: it is read alone.
Thinking that a gateway repeats beside it (OpenRouter in `reasoning_details`, LiteLLM in
`thinking_blocks`) is one text with mirrors.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.json_edge import mapping, string
from conformance.dialects.markers import first_characters
from conformance.dialects.openai_chat.fields import (
    DETAIL_TEXT,
    STRING_CARRIERS,
    TEXT_CARRIERS,
    carriers,
)

_DELTA: Final = "choices.0.delta"
_WITHIN: Final = {"chat.choice": "choices.0", "chat.detail": f"{_DELTA}.reasoning_details.0"}
# In the order in which the reader takes the text from them.
_OF_THINKING: Final = (*STRING_CARRIERS, "reasoning_details", "thinking_blocks")


def delta_columns(payload: Any, reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    choices = fields.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or reading.fields:
        return None
    choice = mapping(choices[0])
    texts = _texts(mapping(choice.get("delta")))
    if not texts or choice.get("finish_reason") or fields.get("usage") or fields.get("error"):
        return None
    is_marked = texts[0] == "content" and reading.markers
    alone = first_characters(reading.markers) if is_marked else ""
    return _columns(texts, alone, is_padded=isinstance(fields.get("obfuscation"), str))


def _texts(delta: dict[str, Any]) -> tuple[str, ...]:
    """Where the one text of a delta is read, then where it is repeated; empty without such."""
    found = carriers(delta)
    if len(found) == 1:
        ((name, value),) = found.items()
        if name in TEXT_CARRIERS:
            return (name,) if isinstance(value, str) else ()
    pairs = [_place(name, found[name]) for name in _OF_THINKING if name in found]
    is_one = len(pairs) == len(found) and len({text for _, text in pairs}) == 1
    return tuple(path for path, _ in pairs) if is_one and pairs[0][1] else ()


def _place(name: str, value: Any) -> tuple[str, str]:
    """Path and text of a field of thinking; the text is empty if it says more, or anything else."""
    if name in STRING_CARRIERS:
        return name, string(value)
    only = mapping(value[0]) if isinstance(value, list) and len(value) == 1 else {}
    key = DETAIL_TEXT.get(str(only.get("type"))) if name == "reasoning_details" else "thinking"
    says_more = only.get("signature") or only.get("data")
    return f"{name}.0.{key}", "" if says_more or not key else string(only.get(key))


@cache
def _columns(texts: tuple[str, ...], alone: str, *, is_padded: bool) -> DeltaColumns:
    path, *mirrors = (f"{_DELTA}.{each}" for each in texts)
    paths = (path, *mirrors, *(["obfuscation"] if is_padded else []))
    return DeltaColumns(paths, path, _WITHIN, alone, tuple(mirrors))
