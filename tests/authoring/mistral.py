"""Chunks and bodies of Mistral's chat, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from tests.authoring.pieces import DONE, Fields, Message, deltas

Usage = tuple[int, int]
"""Prompt and completion tokens; thinking is counted nowhere."""

MODEL: Final = "think-1"
ANSWER_ID: Final = "00000000000000000000000000000a17"
CREATED_AT: Final = 1_795_176_000
END: Final[Fields] = {"type": "thinking", "thinking": []}
"""The empty part by which older models end their thinking."""


def head(kind: str) -> Fields:
    return {"id": ANSWER_ID, "object": kind, "created": CREATED_AT, "model": MODEL}


def chunk(finish: str | None = None, usage: Usage | None = None, **delta: Any) -> Message:
    """A chunk of one choice, padded to hide its length."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    counts = {} if usage is None else {"usage": counted(usage)}
    padding = "abcdefghijklmnopqrstuvwxyz"[: len(str(delta)) % 26]
    fields = {**head("chat.completion.chunk"), "choices": [choice], **counts, "p": padding}
    return Message(fields)


def counted(usage: Usage) -> Fields:
    given, output = usage
    counts = {"prompt_tokens": given, "completion_tokens": output, "total_tokens": given + output}
    return {**counts, "prompt_tokens_details": {"cached_tokens": 0}}


def thinking(text: str, **more: Any) -> Fields:
    return {"type": "thinking", "thinking": [written(text)], **more}


def written(text: str) -> Fields:
    return {"type": "text", "text": text}


def parts(*each: Fields) -> Message:
    return chunk(content=list(each))


def thought(text: str, **more: Any) -> list[Message]:
    """Thinking, a part for every few words; `more` stands in every part."""
    return [parts(thinking(piece, **more)) for piece in deltas(text)]


def text_chunks(texts: Iterable[str]) -> list[Message]:
    return [chunk(content=each) for each in texts]


def call(number: int, name: str, arguments: str) -> Fields:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id(number), "type": "function", "function": function, "index": number}


def call_id(number: int) -> str:
    return f"k2m9x4q1{number}"


def answer(
    pieces: Sequence[Message], usage: Usage, finish: str = "stop", **last: Any
) -> tuple[Message, ...]:
    """A whole stream; `last` is what the chunk that finishes says."""
    opening = chunk(role="assistant", content="")
    return (opening, *pieces, chunk(finish, usage, **{"content": "", **last}), DONE)


def body(message: Fields, usage: Usage, finish: str = "stop") -> Fields:
    """The answer in one piece."""
    turn = {"role": "assistant", "tool_calls": None, **message}
    choice = {"index": 0, "message": turn, "finish_reason": finish}
    return {**head("chat.completion"), "choices": [choice], "usage": counted(usage)}
