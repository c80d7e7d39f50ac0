"""What tests clients of Chat Completions besides recordings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects.client_cases import ClientCases, ScatteredThinking, StoredTurns
from conformance.dialects.json_edge import objects

_TEXT: Final = "4."
_THINKING: Final = "2 plus 2 is 4."
_BLOCKS: Final = (
    {"type": "reasoning", "text": "Two."},
    {"type": "text", "text": _TEXT},
    {"type": "thinking", "text": "Three."},
)
_ANSWER: Final = {"role": "assistant", "content": _TEXT}
# Keys are in another order than the fields are read in: the order of a JSON object says nothing.
_SCATTERED: Final = (
    ScatteredThinking(
        "two-fields", {**_ANSWER, "reasoning": "Two.", "reasoning_content": "One."}, "One.\nTwo."
    ),
    ScatteredThinking(
        "other-fields", {**_ANSWER, "thinking": "Two.", "reasoning": "One."}, "One.\nTwo."
    ),
    ScatteredThinking(
        "field-and-blocks",
        {**_ANSWER, "content": list(_BLOCKS), "reasoning_content": "One."},
        "One.\nTwo.\nThree.",
    ),
    ScatteredThinking(
        "mirrored", {**_ANSWER, "reasoning": "One.", "reasoning_content": "One."}, "One."
    ),
)


def whole_message(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The only message of a whole answer."""
    choices = objects(body.get("choices"))
    message = choices[0].get("message") if len(choices) == 1 else None
    return message if isinstance(message, dict) else None


def _stored_body(stored: Mapping[str, Any]) -> dict[str, Any]:
    thought = stored["thought"]
    inner = thought if isinstance(thought, Mapping) else {**stored, "text": thought}
    message = {"role": "assistant", "content": inner["text"]}
    if "reasoning_content" in inner:
        message["reasoning_content"] = inner["reasoning_content"]
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"object": "chat.completion", "choices": [choice]}


CLIENT_CASES: Final = ClientCases(
    whole_message=whole_message,
    ends_calls=False,  # a finish_reason says that all are
    scattered=_SCATTERED,
    stored=StoredTurns(
        # One turn in the three forms in which it has been written to disk.
        forms=(
            {"thought": _TEXT},
            {"thought": {"text": _TEXT, "reasoning_content": _THINKING}},
            {"thought": _TEXT, "reasoning_content": _THINKING},
        ),
        # With thinking, without, and with thinking that is empty.
        turns=(
            {**_ANSWER, "reasoning_content": _THINKING},
            _ANSWER,
            {**_ANSWER, "reasoning_content": ""},
        ),
        text_key="content",
        thinking_key="reasoning_content",
        stored_text_key="thought",
        body=_stored_body,
    ),
)
