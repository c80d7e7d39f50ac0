"""Events of the Interactions API, step by step; `answer` adds the interaction around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from tests.authoring.pieces import Fields, Message, deltas

Usage = tuple[int, int, int]
"""Tokens of the input, of the answer and, beside these, of thoughts."""

MODEL: Final = "think-1"
ANSWER_ID: Final = "v1_Synthetic0001"
DONE: Final = Message("[DONE]", "done")
_TIME: Final = "2026-06-12T09:30:00Z"


def _event(kind: str, **fields: Any) -> Fields:
    return {"event_type": kind, **fields}


def step(index: int, begun: Fields, said: Iterable[Fields]) -> list[Fields]:
    """A step with its deltas."""
    return [
        _event("step.start", index=index, step=begun),
        *(_event("step.delta", index=index, delta=each) for each in said),
        _event("step.stop", index=index),
    ]


def thought(index: int, signature: str, paragraphs: Sequence[str] = ()) -> list[Fields]:
    """A thought; its summary comes in whole paragraphs."""
    summary = [{"type": "thought_summary", "content": written(each)} for each in paragraphs]
    signed = {"type": "thought_signature", "signature": signature}
    return step(index, {"type": "thought"}, [*summary, signed])


def output(index: int, text: str, pieces: Sequence[str] = ()) -> list[Fields]:
    contents = [{"type": "text", "text": each} for each in pieces or deltas(text, 4)]
    return step(index, {"type": "model_output"}, contents)


def call(index: int, call_id: str, name: str, fragments: Sequence[str]) -> list[Fields]:
    begun = {"type": "function_call", "id": call_id, "signature": "", "name": name, "arguments": {}}
    return step(index, begun, ({"type": "arguments_delta", "arguments": f} for f in fragments))


def written(text: str) -> Fields:
    return {"type": "text", "text": text}


def user(text: str) -> Fields:
    """What a user says, as a step."""
    return {"type": "user_input", "content": [written(text)]}


def counted(usage: Usage) -> Fields:
    given, output, thoughts = usage
    return {
        "total_tokens": given + output + thoughts,
        "total_input_tokens": given,
        "input_tokens_by_modality": [{"modality": "text", "tokens": given}],
        "total_cached_tokens": 0,
        "total_output_tokens": output,
        "total_tool_use_tokens": 0,
        "total_thought_tokens": thoughts,
    }


def created() -> Fields:
    begun = {"id": ANSWER_ID, "status": "in_progress", "object": "interaction", "model": MODEL}
    return _event("interaction.created", interaction=begun)


def updated(status: str = "in_progress") -> Fields:
    return _event("interaction.status_update", interaction_id=ANSWER_ID, status=status)


def _ended(usage: Usage, status: str) -> Fields:
    times = {"created": _TIME, "updated": _TIME, "service_tier": "standard"}
    named = {"object": "interaction", "model": MODEL}
    return {"status": status, "usage": counted(usage), **times, **named}


def completed(usage: Usage, status: str, **more: Any) -> Fields:
    ended = {"id": ANSWER_ID, **_ended(usage, status), **more}
    return _event("interaction.completed", interaction=ended)


def message(fields: Mapping[str, Any]) -> Message:
    """An event with the line that its type asks for."""
    return Message(fields, str(fields["event_type"]))


def answer(
    steps: Iterable[list[Fields]], usage: Usage, status: str = "completed", **more: Any
) -> tuple[Message, ...]:
    """A whole stream."""
    events = [created(), updated(), *chain.from_iterable(steps), completed(usage, status, **more)]
    return (*map(message, events), DONE)


def body(steps: Sequence[Fields], usage: Usage, status: str = "completed") -> Fields:
    """The interaction in one piece."""
    return {"id": ANSWER_ID, **_ended(usage, status), "steps": list(steps)}
