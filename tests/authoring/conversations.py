"""Streams and bodies of Mistral's conversations that keep the rules, made of its events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from tests.authoring.pieces import Fields, Message, deltas

MODEL: Final = "think-1"
CONVERSATION: Final = "conv_synthetic0001"


def answer(
    said: Iterable[Message], usage: tuple[int, int], *, connectors: int = 0
) -> list[Message]:
    """A whole stream."""
    started = event("conversation.response.started", conversation_id=CONVERSATION)
    return [started, *said, event("conversation.response.done", usage=_counted(usage, connectors))]


def later(said: Iterable[Message], turn: str) -> list[Message]:
    """Entries of another answer: their ids are new."""
    return [
        replace(each, payload={**each.payload, "id": f"{each.payload['id']}{turn}"})
        for each in said
    ]


def thought(entry: int, said: str) -> list[Message]:
    return [delta(entry, thinking(piece)) for piece in deltas(said)]


def text(entry: int, said: Iterable[Any]) -> list[Message]:
    return [delta(entry, each) for each in said]


def thinking(said: str, **more: Any) -> Fields:
    return {"type": "thinking", "thinking": [written(said)] if said else [], **more}


def written(said: str) -> Fields:
    return {"type": "text", "text": said}


def function(entry: int, arguments: str) -> Message:
    named = {"name": "timetable", "tool_call_id": "k2m9x4q11"}
    return event("function.call.delta", **_entry(entry, "fc"), **named, arguments=arguments)


def searched(entry: int) -> list[Message]:
    named = {**_entry(entry, "tool"), "name": "web_search"}
    return [
        event("tool.execution.started", **named, arguments=""),
        event("tool.execution.delta", **named, arguments='{"query":'),
        event("tool.execution.delta", **named, arguments='"ferry"}'),
        event("tool.execution.done", **named, info={"results": 3}),
    ]


def body(outputs: list[Fields], usage: tuple[int, int]) -> Fields:
    frame = {"object": "conversation.response", "conversation_id": CONVERSATION}
    return {**frame, "outputs": outputs, "usage": _counted(usage)}


def listed(kind: str, prefix: str, entry: int, **more: Any) -> Fields:
    """An entry of a whole answer."""
    return {"object": "entry", "type": kind, "id": f"{prefix}_synthetic{entry}", **more}


def delta(entry: int, content: Any, **more: Any) -> Message:
    message = {"content_index": 0, **more, "model": MODEL, "role": "assistant", "content": content}
    return event("message.output.delta", **_entry(entry, "msg"), **message)


def _entry(entry: int, prefix: str) -> Fields:
    return {"output_index": entry, "id": f"{prefix}_synthetic{entry}"}


def event(kind: str, **fields: Any) -> Message:
    return Message({"type": kind, **fields}, kind)


def timed(messages: Iterable[Message]) -> list[Message]:
    """The messages, each with the time when it was sent."""
    return [
        replace(each, payload={**each.payload, "created_at": f"2026-11-28T09:30:{number:02}Z"})
        for number, each in enumerate(messages)
    ]


def _counted(usage: tuple[int, int], connectors: int = 0) -> Fields:
    given, output = usage
    counts = {"prompt_tokens": given, "completion_tokens": output}
    return {
        **counts,
        "total_tokens": sum(usage) + connectors,
        "connector_tokens": connectors or None,
    }
