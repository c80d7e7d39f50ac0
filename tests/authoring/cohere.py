"""Events of Cohere's Chat, block by block; `answer` adds the message around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

from tests.authoring.pieces import DONE, Fields, Message, deltas

Usage = tuple[int, int, int | None]
"""Input, output and (among these) thinking tokens; None where those are not counted."""

ANSWER_ID: Final = "5f1c7a2e-0000-4000-8000-000000000001"


def _event(kind: str, said: Fields, **fields: Any) -> Fields:
    return {"type": kind, **fields, "delta": {"message": said}}


def block(index: int, kind: str, pieces: Sequence[str]) -> list[Fields]:
    """A block of thinking or text."""
    start = _event("content-start", {"content": {"type": kind, kind: ""}}, index=index)
    events = [_event("content-delta", {"content": {kind: each}}, index=index) for each in pieces]
    return [start, *events, {"type": "content-end", "index": index}]


def thinking(index: int, text: str) -> list[Fields]:
    return block(index, "thinking", deltas(text))


def text(index: int, said: str, pieces: Sequence[str] = ()) -> list[Fields]:
    return block(index, "text", pieces or deltas(said))


def plan(said: str) -> list[Fields]:
    """What older models say before they call."""
    return [_event("tool-plan-delta", {"tool_plan": each}) for each in deltas(said)]


def call(index: int, name: str, fragments: Sequence[str]) -> list[Fields]:
    begun = {"id": call_id(name, index), "type": "function"}
    opening = {**begun, "function": {"name": name, "arguments": ""}}
    functions = [{"function": {"arguments": each}} for each in fragments]
    return [
        _event("tool-call-start", {"tool_calls": opening}, index=index),
        *(_event("tool-call-delta", {"tool_calls": each}, index=index) for each in functions),
        {"type": "tool-call-end", "index": index},
    ]


def call_id(name: str, index: int) -> str:
    return f"{name}_{index}k2m9"


def citation(index: int, start: int, words: str) -> list[Fields]:
    """A citation of the text, which begins at a character."""
    source = {"type": "document", "id": "doc:0", "document": {"id": "doc:0", "text": words}}
    cited = {"start": start, "end": start + len(words), "text": words, "sources": [source]}
    part = {"citations": {**cited, "content_index": 0, "type": "TEXT_CONTENT"}}
    return [_event("citation-start", part, index=index), {"type": "citation-end", "index": index}]


def counted(usage: Usage) -> Fields:
    given, written, thought = usage
    tokens: Fields = {"input_tokens": given + 490, "output_tokens": written}
    if thought is not None:
        tokens["reasoning_tokens"] = thought
    billed = {"input_tokens": given, "output_tokens": written - 2}
    return {"billed_units": billed, "tokens": tokens, "cached_tokens": 448}


def opening() -> Fields:
    head = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    return _event("message-start", head, id=ANSWER_ID)


def ending(reason: str, usage: Usage, **more: Any) -> Fields:
    delta = {**more, "finish_reason": reason, "usage": counted(usage)}
    return {"type": "message-end", "delta": delta}


def message(fields: Fields) -> Message:
    """An event with the line that its type asks for."""
    return Message(fields, str(fields["type"]))


def answer(
    parts: Iterable[list[Fields]], usage: Usage, reason: str = "COMPLETE", **more: Any
) -> tuple[Message, ...]:
    """A whole stream."""
    events = [opening(), *chain.from_iterable(parts), ending(reason, usage, **more)]
    return (*map(message, events), DONE)


def body(said: Fields, usage: Usage, reason: str = "COMPLETE") -> Fields:
    """The answer in one piece."""
    named = {"id": ANSWER_ID, "message": {"role": "assistant", **said}}
    return {**named, "finish_reason": reason, "usage": counted(usage)}
