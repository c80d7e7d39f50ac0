"""Spans of OpenInference (Arize Phoenix), spelled as OpenTelemetry's conventions have them.

Its attributes are flat: `llm.output_messages.0.message.contents.1.message_content.text`. Contents
of type `reasoning` are thinking, a message without contents has its text under `content`, which an
empty one may lack; calls are in a separate list, and may be among the contents, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.core.json_values import decode_json

MARK: Final = b"llm.output_messages."
_SIDES: Final = {"input": "gen_ai.input.messages", "output": "gen_ai.output.messages"}
_NAMES: Final = {
    "llm.model_name": "gen_ai.response.model",
    "llm.request.model_name": "gen_ai.request.model",
    "llm.token_count.prompt": "gen_ai.usage.input_tokens",
    "llm.token_count.completion": "gen_ai.usage.output_tokens",
    "llm.token_count.total": "gen_ai.usage.total_tokens",
    "llm.token_count.completion_details.reasoning": "gen_ai.usage.reasoning.output_tokens",
    "session.id": "gen_ai.conversation.id",
}
_REASONS: Final = {
    **dict.fromkeys(("end_turn", "stop_sequence", "stop", "STOP"), "stop"),
    **dict.fromkeys(("tool_use", "tool_calls", "function_call"), "tool_call"),
    **dict.fromkeys(("max_tokens", "length", "MAX_TOKENS"), "length"),
}
_MOST: Final = 4096  # messages or parts

Fields = Mapping[str, Any]


def as_conventions(attributes: Fields) -> Fields:
    """The attributes of a call by OpenTelemetry's names; others as they are."""
    if not any(key.startswith(MARK.decode()) for key in attributes):
        return attributes
    tree = _nested(attributes)
    named = {name: attributes[key] for key, name in _NAMES.items() if key in attributes}
    reason = attributes.get("llm.finish_reason")
    for side, name in _SIDES.items():
        listed = _numbered(_at(tree, "llm", f"{side}_messages"))
        named[name] = [_message(_at(each, "message")) for each in listed]
    stated = _REASONS.get(reason, reason) if isinstance(reason, str) else ""
    for message in named[_SIDES["output"]]:
        message["finish_reason"] = stated  # empty: OpenInference asks for none
    return {**attributes, **named}


def _message(said: Any) -> dict[str, Any]:
    """A message in parts: its contents, or its text, then its calls; or the result of a call."""
    role, text = _at(said, "role"), _at(said, "content")
    if isinstance(answered := _at(said, "tool_call_id"), str):
        return {"role": role, "parts": [_part("tool_call_response", id=answered, response=text)]}
    contents = [_at(each, "message_content") for each in _numbered(_at(said, "contents"))]
    parts = [_content(each) for each in contents if isinstance(_at(each, "text"), str)]
    calls = [_call(_at(each, "tool_call")) for each in _numbered(_at(said, "tool_calls"))]
    if not contents and (text or not calls):
        parts = [_part("text", content=text if isinstance(text, str) else "")]
    return {"role": role, "parts": [*parts, *calls]}


def _content(content: Any) -> dict[str, Any]:
    signature = _at(content, "signature")
    more = {"signature": signature} if isinstance(signature, str) else {}
    return _part(_at(content, "type"), content=_at(content, "text"), **more)


def _call(call: Any) -> dict[str, Any]:
    arguments = _at(call, "function", "arguments")
    value = decode_json(arguments) if isinstance(arguments, str) else None
    name = _at(call, "function", "name")
    arguments = value if isinstance(value, dict) else arguments
    return _part("tool_call", id=_at(call, "id"), name=name, arguments=arguments)


def _part(kind: Any, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def _nested(attributes: Fields) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in attributes.items():
        *path, last = key.split(".")
        at: Any = tree
        for name in path:
            at = at.setdefault(name, {}) if isinstance(at, dict) else None
        if isinstance(at, dict):
            at[last] = value
    return tree


def _numbered(value: Any) -> Iterator[Any]:
    """What is under 0, 1, 2 and so on."""
    for number in range(_MOST):
        if not isinstance(value, dict) or (each := value.get(str(number))) is None:
            return
        yield each


def _at(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
