"""What the deltas of one run differ in, dialect by dialect; None for a payload that is no delta.

A payload with two texts, a list of details or an empty text has no columns: it is read alone.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.base import Columns, Reading
from conformance.dialects.json_edge import mapping

_CHAT_TEXTS: Final = ("content", "reasoning_content", "reasoning", "reasoning_text", "refusal")
_CHAT_LISTS: Final = ("tool_calls", "reasoning_details", "thinking_blocks", "function_call")
_CHAT_PLACES: Final = {"chat.choice": "choices.0."}
_RESPONSES_DELTAS: Final = frozenset(
    {
        "response.output_text.delta",
        "response.reasoning_text.delta",
        "response.reasoning_summary_text.delta",
        "response.function_call_arguments.delta",
        "response.refusal.delta",
    }
)
_MESSAGES_TEXTS: Final = {
    "thinking_delta": "thinking",
    "text_delta": "text",
    "input_json_delta": "partial_json",
}


def chat(payload: Any, reading: Reading) -> Columns | None:
    fields = mapping(payload)
    choices = fields.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or reading.fields:
        return None
    choice = mapping(choices[0])
    delta = mapping(choice.get("delta"))
    texts = [name for name in _CHAT_TEXTS if delta.get(name)]
    if len(texts) != 1 or choice.get("finish_reason") or any(map(delta.get, _CHAT_LISTS)):
        return None
    if fields.get("usage") or fields.get("error") or not isinstance(delta[texts[0]], str):
        return None
    if texts == ["content"] and reading.markers:
        return None
    path = f"choices.0.delta.{texts[0]}"
    return Columns((path, *_padding(fields)), path, _CHAT_PLACES)


def responses(payload: Any, reading: Reading) -> Columns | None:  # noqa: ARG001  # one signature
    fields = mapping(payload)
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in _RESPONSES_DELTAS or not _text(fields, "delta"):
        return None
    number = fields.get("sequence_number")
    numbered = isinstance(number, int) and not isinstance(number, bool) and number >= 0
    return Columns(
        ("delta", *(["sequence_number"] if numbered else []), *_padding(fields)), "delta"
    )


def messages(payload: Any, reading: Reading) -> Columns | None:  # noqa: ARG001  # one signature
    fields = mapping(payload)
    delta = mapping(fields.get("delta"))
    kind = delta.get("type")
    name = _MESSAGES_TEXTS.get(kind) if isinstance(kind, str) else None
    if fields.get("type") != "content_block_delta" or name is None or not _text(delta, name):
        return None
    return Columns((f"delta.{name}",), f"delta.{name}")


def _text(fields: dict[str, Any], name: str) -> bool:
    return isinstance(fields.get(name), str) and bool(fields[name])


def _padding(fields: dict[str, Any]) -> tuple[str, ...]:
    return ("obfuscation",) if isinstance(fields.get("obfuscation"), str) else ()
