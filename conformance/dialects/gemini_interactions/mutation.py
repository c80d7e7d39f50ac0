"""Mutation of `gemini.interactions`: where its events hold what, operators on steps and ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from conformance.core.json_values import list_at, text_at, value_at
from conformance.dialects.gemini_interactions.vocabulary import EVENTS
from conformance.editing.edits import ask_otherwise, request_sites, typed_by
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()
_COMPLETED: Final = "interaction.completed"
_START: Final = "step.start"
_DELTA: Final = "step.delta"
_STOP: Final = "step.stop"
_STATUS: Final = ("interaction", "status")
_USAGE: Final = ("interaction", "usage")


def _signature(piece: Piece) -> str:
    steps = list_at(piece.payload, "steps")
    return text_at(piece.payload, "delta", "signature") or next(
        filter(None, (text_at(step, "signature") for step in steps)), ""
    )


_LAYOUT: Final = EVENTS.layout(
    type_of=lambda payload: text_at(payload, *EVENTS.event_type),
    error=lambda message, code: {
        "event_type": "error",
        "error": {"message": message, "code": code},
    },
    text_keys=("index",),
    named_events=True,
    sentinel="[DONE]",
    reasoning_tokens=((*_USAGE, "total_thought_tokens"), ("usage", "total_thought_tokens")),
    opaque=_signature,
    elements={"interaction.step": ("steps", 0)},
)


_starts_of: Final = typed_by(_START, "step", "type")
_deltas_of: Final = typed_by(_DELTA, "delta", "type")
_SIGNATURES: Final = _deltas_of("thought_signature")


_calls: Final = _starts_of("function_call")


def _needless_ends(stream: Stream) -> Sequence[int]:
    """Ends of interactions without a call."""
    return () if _calls(stream) else typed_by(_COMPLETED, *_STATUS)("completed")(stream)


def _thoughts_first(stream: Stream) -> list[int]:
    """Whole interactions that begin with a thought."""
    return [n for n, _ in stream.events() if stream.text_at(n, "steps", 0, "type") == "thought"]


def _thoughts_alone(stream: Stream) -> list[int]:
    """The first step, where it is the only thought and a call follows."""
    thoughts, calls = _starts_of("thought")(stream), _starts_of("function_call")(stream)
    return list(thoughts) if calls and thoughts == stream.typed(_START)[:1] else []


@OPERATORS.edit("X14-thought-step-lost", _thoughts_alone)
def _lose_thought(stream: Stream, site: int) -> Stream:
    """The step of a thought is lost, and those after it count without it."""
    first = stream.value_at(site, "index")
    events = stream.typed(_START, _DELTA, _STOP)
    for place in events:
        index = stream.value_at(place, "index")
        if isinstance(index, int) and index != first:
            stream = stream.with_value(place, ("index",), index - 1)
    return stream.without(*(n for n in events if n < _next_start(stream, site)))


def _next_start(stream: Stream, site: int) -> int:
    return next((n for n in stream.typed(_START) if n > site), len(stream.pieces))


def _text_of_signed(stream: Stream) -> list[int]:
    """The first text, where a thought before it was signed."""
    texts = [*_deltas_of("text")(stream)][:1]
    return texts if _SIGNATURES(stream) else []


@OPERATORS.edit("S2-signature-in-output", _text_of_signed)
def _sign_output(stream: Stream, site: int) -> Stream:
    """The signature of a thought comes in a step of output."""
    signature = stream.value_at(_SIGNATURES(stream)[0], "delta")
    payload = {**stream.pieces[site].payload, "delta": signature}
    return stream.insert(site + 1, stream.pieces[site].with_payload(payload))


def _listed_arguments(stream: Stream) -> list[int]:
    return [
        n
        for n, _ in stream.events()
        for step in list_at(stream.pieces[n].payload, "steps")
        if isinstance(value_at(step, "arguments"), dict)
    ]


@OPERATORS.edit("T3-body-arguments-text", _listed_arguments)
def _write_arguments(stream: Stream, site: int) -> Stream:
    """The arguments of a call in a whole interaction are a text."""
    for number, step in enumerate(stream.list_at(site, "steps")):
        if isinstance(value_at(step, "arguments"), dict):
            text = msgspec.json.encode(step["arguments"]).decode()
            stream = stream.with_value(site, ("steps", number, "arguments"), text)
    return stream


def _as_thought(step: Any) -> Any:
    if text_at(step, "type") != "model_output":
        return step
    return {"type": "thought", "summary": step["content"]}


def _as_output(step: Any) -> Any:
    if not list_at(step, "summary"):
        return step
    return {"type": "model_output", "content": step["summary"]}


OPERATORS.add("I10-steps-from-one", "Steps are counted from 1.")(
    lambda stream: stream.typed(_START)[:1],
    lambda stream, _site: _counted_from_one(stream),
)


def _counted_from_one(stream: Stream) -> Stream:
    for place in stream.typed(_START, _DELTA, _STOP):
        index = stream.value_at(place, "index")
        if isinstance(index, int):
            stream = stream.with_value(place, ("index",), index + 1)
    return stream


OPERATORS.add("H4-text-as-thinking", "What the model said goes back as a thought.")(
    request_sites("input", "*"), ask_otherwise(_as_thought, "input", "*")
)
OPERATORS.add("H4-thinking-as-text", "A thought goes back as what the model said.")(
    request_sites("input", "*"), ask_otherwise(_as_output, "input", "*")
)

MUTATION: Final = Mutation(_LAYOUT, (*OPERATORS, *operator_rows(__file__, globals())))
