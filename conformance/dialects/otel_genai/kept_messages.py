"""Messages as the APIs of models spell them, spelled as OpenTelemetry's conventions have them.

Platforms that watch calls keep what an SDK was given and what it gave: messages of Chat
Completions, with thinking under whichever key, blocks of Messages, items of Responses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.core.json_values import decode_json

_THINKING: Final = ("reasoning_content", "reasoning", "thinking")
_TEXTS: Final = frozenset({"text", "input_text", "output_text"})
_LISTS: Final = ("messages", "input", "contents")  # where tools stand next to the messages

Fields = Mapping[str, Any]


def as_messages(value: Any) -> list[dict[str, Any]]:
    """The messages of an input or an output; none where nothing known is there."""
    value = _decoded(value)
    if isinstance(value, str):
        return [_new_message("assistant", [_new_part("text", content=value)])]
    if isinstance(value, dict):
        listed = next((value[k] for k in _LISTS if isinstance(value.get(k), list)), None)
        return as_messages(listed if listed is not None else [value])
    if not isinstance(value, list):
        return []
    found = [_as_message(each) for each in value if isinstance(each, dict)]
    return [each for each in found if each["parts"]]


def _as_message(item: Fields) -> dict[str, Any]:
    kind = item.get("type")
    if kind == "reasoning":  # an item of Responses
        return _new_message("assistant", list(_reasoning_item(item)))
    if kind == "function_call":
        call = _call_part(item.get("call_id"), item.get("name"), item.get("arguments"))
        return _new_message("assistant", [call])
    if kind == "function_call_output":
        return _new_message("tool", [_call_result(item.get("call_id"), item.get("output"))])
    role = item.get("role")
    if role == "tool":
        return _new_message("tool", [_call_result(item.get("tool_call_id"), item.get("content"))])
    return _new_message(role if isinstance(role, str) else "assistant", list(_message_parts(item)))


def _message_parts(item: Fields) -> Iterator[dict[str, Any]]:
    thought = next((item[k] for k in _THINKING if isinstance(item.get(k), str) and item[k]), "")
    if thought:
        yield _new_part("reasoning", content=thought)
    content = item.get("content")
    if isinstance(content, str) and content:
        yield _new_part("text", content=content)
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield from _block_parts(block)
    calls = item.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            function = call.get("function")
            named = function if isinstance(function, dict) else call
            arguments = named.get("arguments", named.get("args"))
            yield _call_part(call.get("id"), named.get("name"), arguments)


def _block_parts(block: Fields) -> Iterator[dict[str, Any]]:
    """A part of a content list."""
    kind, text = block.get("type"), block.get("text")
    if kind in _TEXTS and isinstance(text, str):
        yield _new_part("text", content=text)
    elif kind in ("thinking", "reasoning"):
        thought = block.get("thinking", block.get("reasoning", text))
        signature = block.get("signature")
        more = {"signature": signature} if isinstance(signature, str) else {}
        if isinstance(thought, str) and (thought or more):
            yield _new_part("reasoning", content=thought, **more)
    elif kind == "tool_use":
        yield _call_part(block.get("id"), block.get("name"), block.get("input"))
    elif kind == "tool_result":
        yield _call_result(block.get("tool_use_id"), block.get("content"))


def _reasoning_item(item: Fields) -> Iterator[dict[str, Any]]:
    for key in ("content", "summary"):
        listed = item.get(key)
        for each in listed if isinstance(listed, list) else ():
            if isinstance(each, dict) and isinstance(each.get("text"), str):
                yield _new_part("reasoning", content=each["text"])


def _call_part(of: Any, name: Any, arguments: Any) -> dict[str, Any]:
    value = decode_json(arguments) if isinstance(arguments, str) else arguments
    return _new_part(
        "tool_call", id=of, name=name, arguments=value if isinstance(value, dict) else arguments
    )


def _call_result(of: Any, response: Any) -> dict[str, Any]:
    return _new_part("tool_call_response", id=of, response=response)


def _new_message(role: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": role, "parts": parts}


def _new_part(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def _decoded(value: Any) -> Any:
    """Some keep JSON in a text."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        decoded = decode_json(value)
        return decoded if isinstance(decoded, dict | list) else value
    return value
