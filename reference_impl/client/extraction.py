"""Whole messages: thinking, text and calls of an answer that was not streamed.

From a chat message thinking is taken in this order, its fragments joined by newlines, and one
that repeats an earlier fragment left out: many servers mirror it.

    reasoning_content, reasoning, thinking         fields of the message
    content blocks of type reasoning or thinking
    thinking_blocks                                only where there is nothing else
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from .apis import APIS
from .chat_fields import BLOCKS, PARTS, Echo, opaque_of, part_text
from .event import Event
from .payload import arguments_text, decode, object_of, objects_of, text_of
from .turn import (
    Answer,
    Called,
    HistoryForm,
    Piece,
    Thought,
    Turn,
    Words,
    events_of,
    result_turn,
    text_turn,
)
from .wire import Api, Reading

# What a message that stands alone says nothing of.
_OF_ANSWERS: Final = frozenset({"finish", "usage", "error", "done", "cut"})
FIELDS: Final = ("reasoning_content", "reasoning", "thinking")


def turn_of(message: Mapping[str, Any], api: Api) -> Turn:
    """The turn of a whole message of an assistant, in the form in which the API answers."""
    if (form := APIS[api].history) is not None:
        return _turn_of_answer(api, form.body([message]))
    if api == "responses" or "output" in message:
        output = message.get("output", [dict(message)])
        return _turn_of_answer("responses", _response_of_items(output))
    if api == "messages":
        body = {"type": "message", "role": "assistant", "content": _content_blocks(message)}
        return _turn_of_answer(api, body)
    echo = Echo()
    echo.add(message)
    return Turn("assistant", tuple(_pieces_of_message(message)), echo=echo.fields())


def events_in(message: Mapping[str, Any], api: Api) -> list[Event]:
    """The events of a whole message, as a stream of it would tell them."""
    form = APIS[api].history
    if form is None:
        return events_of(turn_of(message, api))
    events = APIS[api].reader(Reading()).body(form.body([message]))
    return [event for event in events if event.type not in _OF_ANSWERS]


def _turn_of_answer(api: Api, body: dict[str, Any]) -> Turn:
    """The turn of a whole answer, read as any other."""
    return Answer().take(APIS[api].reader(Reading()).body(body)).turn()


def thinking_of(message: Mapping[str, Any]) -> str:
    """The thinking of a chat message, in the order above."""
    found = [text for text in _thoughts_in(message) if text]
    if not found:
        found = [text_of(block.get("thinking")) for block in objects_of(message.get(BLOCKS))]
    return "\n".join(dict.fromkeys(text for text in found if text))


def turns_of(entries: Sequence[Mapping[str, Any]], api: Api) -> tuple[Turn, ...]:
    """A history: entries of the API's own, or messages in the form of the three that all know."""
    form = APIS[api].history or _ITEMS
    turns: list[Turn] = []
    for is_answer, group in groupby(entries, key=form.is_answer):
        if is_answer:
            turns.append(
                _turn_of_answer(api if form is not _ITEMS else "responses", form.body(list(group)))
            )
            continue
        for entry in group:
            own = form.given(entry)
            turns.extend(_turns_of_entry(entry, api) if own is None else own)
    return tuple(turns)


def _is_output(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is an output item of Responses."""
    kind = entry.get("type")
    if kind == "message":
        return entry.get("role") == "assistant"
    return isinstance(kind, str) and "role" not in entry and not kind.endswith("_output")


def _response_of_items(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"status": "completed", "output": list(entries)}


# Items of Responses may come in the history of any API that has no form of its own.
_ITEMS: Final = HistoryForm(_is_output, _response_of_items, lambda _: None)


def _turns_of_entry(entry: Mapping[str, Any], api: Api) -> Iterator[Turn]:
    role = entry.get("role")
    if entry.get("type") == "function_call_output":
        yield result_turn(text_of(entry.get("call_id")), _text_in(entry.get("output")))
    elif role == "tool":
        yield result_turn(text_of(entry.get("tool_call_id")), _text_in(entry.get("content")))
    elif role == "assistant":
        yield turn_of(entry, "messages" if api == "messages" else "chat")
    elif role in ("system", "developer"):
        yield text_turn("system", _text_in(entry.get("content")))
    else:
        yield from _turns_of_user(entry.get("content"))


def _turns_of_user(content: Any) -> Iterator[Turn]:
    for block in objects_of(content):
        if block.get("type") == "tool_result":
            yield result_turn(text_of(block.get("tool_use_id")), _text_in(block.get("content")))
    text = _text_in(content)
    if text:
        yield text_turn("user", text)


def _text_in(content: Any) -> str:
    """The text of a content: a string, or the texts of its blocks."""
    if isinstance(content, str):
        return content
    blocks = objects_of(content)
    return "".join(text_of(block.get("text")) for block in blocks if block.get("type") not in PARTS)


def _content_blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The content of a message as blocks; calls in the form of chat are turned into blocks."""
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if text_of(content) else objects_of(content)
    thinking = "" if any(block.get("type") in PARTS for block in blocks) else thinking_of(message)
    before = [{"type": "thinking", "thinking": thinking}] if thinking else []
    calls = [_tool_use(call) for call in objects_of(message.get("tool_calls"))]
    return [*before, *blocks, *calls]


def _tool_use(call: Mapping[str, Any]) -> dict[str, Any]:
    function = object_of(call.get("function"))
    arguments = text_of(function.get("arguments"))
    return {"type": "tool_use", "id": call.get("id"), "name": function.get("name")} | {
        "input": object_of(decode(arguments))
    }


def _thoughts_in(message: Mapping[str, Any]) -> Iterator[str]:
    for field in FIELDS:
        yield text_of(message.get(field))
    for block in objects_of(message.get("content")):
        if block.get("type") in PARTS:
            yield part_text(block) or text_of(block.get("reasoning"))


def _pieces_of_message(message: Mapping[str, Any]) -> Iterator[Piece]:
    opaque = {kind: data for kind, data in opaque_of(message) if data}
    thought = Thought(
        raw=thinking_of(message),
        signature=opaque.get("signature", ""),
        encrypted=opaque.get("encrypted", ""),
        redacted=opaque.get("redacted", ""),
    )
    if thought != Thought():
        yield thought
    text = _text_in(message.get("content"))
    if text:
        yield Words(text)
    for call in objects_of(message.get("tool_calls")):
        yield _call_of_chat(call)


def _call_of_chat(call: Mapping[str, Any]) -> Called:
    function = object_of(call.get("function"))
    named = (text_of(call.get("id")), text_of(function.get("name")))
    return Called(*named, arguments_text(function.get("arguments")))
