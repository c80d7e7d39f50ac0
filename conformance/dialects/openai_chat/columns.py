"""What the deltas of one run differ in; None for a payload that is no delta.

A payload with two texts, several details or an empty text has no columns: it is read alone.
Thinking that a gateway repeats next to it (OpenRouter in `reasoning_details`, LiteLLM in
`thinking_blocks`) is one text with mirrors; so is any text where Together repeats it as that
of a completion, with the token's number.
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
    delta = mapping(choice.get("delta"))
    places, text = _sole_text(delta)
    if not places or choice.get("finish_reason") or fields.get("usage") or fields.get("error"):
        return None
    is_marked = places[0] == "content" and reading.markers
    alone = first_characters(reading.markers) if is_marked else ""
    others = ("choices.0.text",) if choice.get("text") == text else ()
    return _columns(places, others, _silent_fields(fields, delta), alone)


def _silent_fields(fields: dict[str, Any], delta: dict[str, Any]) -> tuple[str, ...]:
    """What differs and says nothing: padding, and a token's number."""
    padding = ("obfuscation",) if isinstance(fields.get("obfuscation"), str) else ()
    return (*padding, f"{_DELTA}.token_id") if type(delta.get("token_id")) is int else padding


def _sole_text(delta: dict[str, Any]) -> tuple[tuple[str, ...], str]:
    """Where the one text of a delta is read, then where it is repeated; and that text.

    There is no place where the delta says anything else, or more.
    """
    found = carriers(delta)
    if len(found) == 1:
        ((name, value),) = found.items()
        if name in TEXT_CARRIERS:
            return ((name,), value) if isinstance(value, str) else ((), "")
    pairs = [_place_of_thinking(name, found[name]) for name in _OF_THINKING if name in found]
    texts = {text for _, text in pairs}
    if len(pairs) < len(found) or len(texts) != 1 or "" in texts:
        return (), ""
    return tuple(path for path, _ in pairs), texts.pop()


def _place_of_thinking(name: str, value: Any) -> tuple[str, str]:
    """Path and text of a field of thinking; the text is empty if it says more, or anything else."""
    if name in STRING_CARRIERS:
        return name, string(value)
    only = mapping(value[0]) if isinstance(value, list) and len(value) == 1 else {}
    key = DETAIL_TEXT.get(str(only.get("type"))) if name == "reasoning_details" else "thinking"
    says_more = only.get("signature") or only.get("data")
    return f"{name}.0.{key}", "" if says_more or not key else string(only.get(key))


@cache
def _columns(
    texts: tuple[str, ...], others: tuple[str, ...], extras: tuple[str, ...], alone: str
) -> DeltaColumns:
    path, *mirrors = (*(f"{_DELTA}.{each}" for each in texts), *others)
    return DeltaColumns((path, *mirrors, *extras), path, _WITHIN, alone, tuple(mirrors))
