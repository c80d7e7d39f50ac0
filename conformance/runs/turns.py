"""The next turn of a conversation: what was said, the answer as it came, and what follows.

Answers go back as they were received, whatever holds them: a field beside the text, typed blocks
or items. A server's payload is a stranger's: what has not the shape of its API is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from conformance.core.events import Event, Exchange
from conformance.dialects import get
from conformance.dialects.base import Reading
from conformance.evidence.answer import Answer, read_answer, wire_events
from conformance.scenarios import Carry

_THINKING_FIELDS: Final = ("reasoning_content", "reasoning")
MOST_CHARACTERS: Final = 4 * 1024 * 1024  # of a history that is sent back
_JSON_TEXT: Final = "partial_json"


def next_turns(
    dialect: str, exchange: Exchange, sent: Mapping[str, Any], carry: Carry, reading: Reading
) -> list[Any] | None:
    """The history after an exchange whose request body was `sent`; None if it has no answer.

    None too where tools were to be answered and none was called, and where it grew too long.
    """
    answer = read_answer(exchange, get(dialect), reading)
    if not (answer.text or answer.tools or answer.thought):
        return None
    if carry.result and not answer.tools:
        return None
    events = list(wire_events(exchange, get(dialect), reading))
    return _sendable(_TURNS[dialect](sent, events, answer, carry))


def response_id(exchange: Exchange, dialect: str, reading: Reading) -> str:
    """The id by which the answer can be named in a later request; empty if it has none."""
    for event in wire_events(exchange, get(dialect), reading):
        response = event.data if event.type == "response" else event.data.get("response")
        if isinstance(response, Mapping) and isinstance(response.get("id"), str):
            return str(response["id"])
    return ""


def _sendable(history: list[Any]) -> list[Any] | None:
    """The history in characters that UTF-8 has: halves of pairs joined, or replaced."""
    text = json.dumps(history, ensure_ascii=False)
    if len(text) > MOST_CHARACTERS:
        return None
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    sendable: list[Any] = json.loads(whole)
    return sendable


def _chat(
    sent: Mapping[str, Any], events: Iterable[Event], answer: Answer, carry: Carry
) -> list[Any]:
    said: dict[str, Any] = {"role": "assistant", "content": "".join(answer.text) or None}
    if answer.thinking and carry.reasoning == "kept":
        said[_thinking_field(events)] = "".join(answer.thinking)
    calls = [each for each in answer.tools if each.get("id")]
    if calls:
        said["tool_calls"] = [
            {
                "id": each["id"],
                "type": "function",
                "function": {"name": each.get("name"), "arguments": each.get("arguments")},
            }
            for each in calls
        ]
    results = [
        {"role": "tool", "tool_call_id": each["id"], "content": carry.result} for each in calls
    ]
    return [*_list(sent.get("messages")), said, *results, *_asked(carry)]


def _thinking_field(events: Iterable[Event]) -> str:
    """The field in which thinking came, so that it goes back in the same one."""
    for event in events:
        delta = event.data.get("delta") if event.type == "chat.choice" else event.data
        for name in _THINKING_FIELDS:
            if isinstance(delta, Mapping) and isinstance(delta.get(name), str) and delta[name]:
                return name
    return _THINKING_FIELDS[0]


def _responses(
    sent: Mapping[str, Any], events: Iterable[Event], answer: Answer, carry: Carry
) -> list[Any]:
    del answer  # the items say it all
    items = _items(events)
    kept = [i for i in items if carry.reasoning == "kept" or i.get("type") != "reasoning"]
    results = [
        {"type": "function_call_output", "call_id": each["call_id"], "output": carry.result}
        for each in items
        if each.get("type") == "function_call" and isinstance(each.get("call_id"), str)
    ]
    before = sent.get("input")
    said = [{"role": "user", "content": before}] if isinstance(before, str) else _list(before)
    return [*said, *kept, *results, *_asked(carry)]


def _items(events: Iterable[Event]) -> list[Mapping[str, Any]]:
    """The items of the final response; where it has none, those that were done one by one."""
    done: list[Any] = []
    final: list[Any] = []
    for event in events:
        if event.type == "response.output_item.done":
            done.append(event.data.get("item"))
        elif event.type in ("response.completed", "response.incomplete"):
            response = event.data.get("response")
            final = _list(response.get("output")) if isinstance(response, Mapping) else []
        elif event.type == "response":
            final = _list(event.data.get("output"))
    return [each for each in final or done if isinstance(each, Mapping)]


def _messages(
    sent: Mapping[str, Any], events: Iterable[Event], answer: Answer, carry: Carry
) -> list[Any]:
    del answer  # the blocks say it all
    blocks = _blocks(events)
    thoughts = ("thinking", "redacted_thinking")
    kept = [b for b in blocks if carry.reasoning == "kept" or b.get("type") not in thoughts]
    results = [
        {"type": "tool_result", "tool_use_id": each.get("id"), "content": carry.result}
        for each in blocks
        if each.get("type") == "tool_use"
    ]
    next_ = [{"role": "user", "content": results}] if results else _asked(carry)
    return [*_list(sent.get("messages")), {"role": "assistant", "content": kept}, *next_]


def _blocks(events: Iterable[Event]) -> list[Mapping[str, Any]]:
    """Content blocks as the API takes them back: deltas joined into what they opened."""
    blocks: dict[str, tuple[Mapping[str, Any], dict[str, list[str]]]] = {}
    for event in events:
        index, block = str(event.data.get("index")), event.data.get("content_block")
        if event.type in ("content_block_start", "message.block") and isinstance(block, Mapping):
            blocks[index] = (block, {})
        elif event.type == "content_block_delta" and index in blocks:
            _grow(blocks[index][1], event.data.get("delta"))
    return [_closed(block, pieces) for block, pieces in blocks.values()]


def _grow(pieces: dict[str, list[str]], delta: Any) -> None:
    for name in ("text", "thinking", "signature", _JSON_TEXT):
        piece = delta.get(name) if isinstance(delta, Mapping) else None
        if isinstance(piece, str):
            pieces.setdefault(name, []).append(piece)


def _closed(block: Mapping[str, Any], pieces: Mapping[str, list[str]]) -> dict[str, Any]:
    joined = {name: "".join(texts) for name, texts in pieces.items()}
    arguments = joined.pop(_JSON_TEXT, None)
    grown = {name: f"{block.get(name) or ''}{text}" for name, text in joined.items()}
    return {**block, **grown, **({"input": _decoded(arguments)} if arguments else {})}


def _decoded(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return {}  # the rules tell of arguments that are no JSON


def _asked(carry: Carry) -> list[Any]:
    return [{"role": "user", "content": carry.ask}] if carry.ask else []


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


_TURNS: Final[
    Mapping[str, Callable[[Mapping[str, Any], Iterable[Event], Answer, Carry], list[Any]]]
] = {
    "openai.chat": _chat,
    "openai.responses": _responses,
    "anthropic.messages": _messages,
}
