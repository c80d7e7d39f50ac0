"""Mutation of `gemini.interactions`: where its events hold what, operators on steps and ends."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from conformance.core.json_values import list_at, text_at, value_at
from conformance.dialects.gemini_interactions.vocabulary import EVENTS
from conformance.editing.edits import (
    ask_otherwise,
    double_piece,
    drop_piece,
    drop_value,
    ends_before,
    lists_between,
    move_after_next,
    move_before,
    places_of,
    places_with,
    prolong_text,
    raise_value,
    request_sites,
    request_with,
    right_after,
    set_value,
    shortened,
    thinking_shown,
    turn_around,
    typed_by,
)
from conformance.editing.operator import Edit, Mutation, OperatorTable, Sites
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()
_RETURNED: Final = ("input", "*", "summary", "*", "text")
_CREATED: Final = "interaction.created"
_COMPLETED: Final = "interaction.completed"
_START: Final = "step.start"
_DELTA: Final = "step.delta"
_STOP: Final = "step.stop"
_STATUS: Final = ("interaction", "status")
_USAGE: Final = ("interaction", "usage")


def _error_event(message: str, code: str) -> dict[str, Any]:
    return {"event_type": "error", "error": {"message": message, "code": code}}


def _signature(piece: Piece) -> str:
    steps = list_at(piece.payload, "steps")
    return text_at(piece.payload, "delta", "signature") or next(
        filter(None, (text_at(step, "signature") for step in steps)), ""
    )


_LAYOUT: Final = EVENTS.layout(
    type_of=lambda payload: text_at(payload, *EVENTS.event_type),
    error=_error_event,
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


def _ends_with(status: str, *, calls: bool | None = None) -> Sites:
    """Ends of this status, of interactions with a call or without."""

    def sites(stream: Stream) -> list[int]:
        called = bool(_starts_of("function_call")(stream))
        found = [n for n in stream.typed(_COMPLETED) if stream.text_at(n, *_STATUS) == status]
        return found if calls in (None, called) else []

    return sites


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
    return stream.without(*(n for n in events if n < _first_start_behind(stream, site)))


def _first_start_behind(stream: Stream, site: int) -> int:
    return next((n for n in stream.typed(_START) if n > site), len(stream.pieces))


@OPERATORS.edit(
    "X14-whole-thought-lost", lists_between("steps", first=("thought",), last="function_call")
)
def _lose_whole_thought(stream: Stream, site: int) -> Stream:
    """A whole interaction counts a thought and has none."""
    steps = stream.list_at(site, "steps")
    kept = [step for step in steps if text_at(step, "type") != "thought"]
    return stream.with_value(site, ("steps",), kept)


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


def _as_type(kind: str) -> Edit:
    """A delta says something of another type."""
    said: Any = {"type": kind, "text": "Hm."}
    if kind == "thought_summary":
        said = {"type": kind, "content": {"type": "text", "text": "Hm."}}
    return set_value(said, "delta")


def _as_thought(step: Any) -> Any:
    if text_at(step, "type") != "model_output":
        return step
    return {"type": "thought", "summary": step["content"]}


def _as_output(step: Any) -> Any:
    if not list_at(step, "summary"):
        return step
    return {"type": "model_output", "content": step["summary"]}


_ENDS: Final = places_of(_COMPLETED)
OPERATORS.add("X4-step-overlap", "A step ends after the next one began.")(
    ends_before(_STOP, _START), move_after_next(_START)
)
OPERATORS.add("X15-thought-last", "A thought of a whole interaction stands behind its output.")(
    lists_between("steps", first=("thought",), last="model_output"), turn_around("steps")
)

OPERATORS.add("S1-no-thought-signature", "The signature of a thought is lost.")(
    _SIGNATURES, drop_piece
)
OPERATORS.add("S1-no-step-signature", "A thought of a whole interaction has no signature.")(
    _thoughts_first, drop_value("steps", 0, "signature")
)
OPERATORS.add("S3-thought-signed-twice", "A thought is signed twice.")(_SIGNATURES, double_piece)
OPERATORS.add("S4-signature-before-summary", "A signature comes before the summary's end.")(
    right_after(_SIGNATURES, _deltas_of("thought_summary")),
    move_before,
)
OPERATORS.add("S8-thought-signature-empty", "The signature of a thought is empty.")(
    _SIGNATURES, set_value("", "delta", "signature")
)
OPERATORS.add("X16-summary-in-output", "A piece of summary comes in a step of output.")(
    _deltas_of("text"), _as_type("thought_summary")
)
OPERATORS.add("X16-text-in-thought", "A piece of text comes in a thought.")(
    _deltas_of("thought_summary"), _as_type("text")
)
OPERATORS.add("I10-step-index-off", "A delta names another step.")(
    places_of(_DELTA), raise_value("index")
)
OPERATORS.add("I10-no-step-index", "An event of a step has no index.", most=4)(
    places_of(_START, _DELTA, _STOP), drop_value("index")
)
OPERATORS.add("I10-steps-from-one", "Steps are counted from 1.")(
    lambda stream: stream.typed(_START)[:1],
    lambda stream, _site: _counted_from_one(stream),
)
OPERATORS.add("I4-other-interaction", "The end is that of another interaction.")(
    _ENDS, prolong_text("0", "interaction", "id")
)
OPERATORS.add("N10-untyped-step", "A step starts without its type.")(
    places_of(_START), drop_value("step", "type")
)
OPERATORS.add("N10-untyped-delta", "A delta has no type.")(
    places_of(_DELTA), drop_value("delta", "type")
)
OPERATORS.add("N10-no-interaction-id", "An interaction begins without an id.")(
    places_of(_CREATED), drop_value("interaction", "id")
)
OPERATORS.add("N10-no-body-status", "A whole interaction has no status.")(
    places_with("steps"), drop_value("status")
)
OPERATORS.add("T5-nameless-call", "A call starts without its name.")(
    _starts_of("function_call"), drop_value("step", "name")
)
OPERATORS.add("T5-no-call-id", "A call starts without its id.")(
    _starts_of("function_call"), drop_value("step", "id")
)
OPERATORS.add("U4-no-status", "The end of an interaction has no status.")(
    _ENDS, drop_value(*_STATUS)
)
OPERATORS.add("U4-still-running", "The end says that the interaction goes on.")(
    _ENDS, set_value("in_progress", *_STATUS)
)
OPERATORS.add("U10-unknown-status", "The status is no known one.")(
    _ENDS, set_value("done", *_STATUS)
)
OPERATORS.add("U8-call-is-complete", "A call waits, and the interaction says it is complete.")(
    _ends_with("requires_action", calls=True), set_value("completed", *_STATUS)
)
OPERATORS.add("U8-nothing-to-do", "The interaction waits for results, and no call came.")(
    _ends_with("completed", calls=False), set_value("requires_action", *_STATUS)
)
OPERATORS.add("U5-end-without-usage", "The end of an interaction has no usage.")(
    places_with(*_USAGE), drop_value(*_USAGE)
)
OPERATORS.add("U6-total-off", "The total is not the sum of its parts.")(
    places_with(*_USAGE, "total_tokens"), raise_value(*_USAGE, "total_tokens")
)
OPERATORS.add("U6-body-total-off", "The total of a whole interaction is not the sum.")(
    places_with("usage", "total_tokens"), raise_value("usage", "total_tokens")
)
OPERATORS.add("P1-summaries-refused", "A summary is shown that was turned off.")(
    thinking_shown, request_with(generation_config={"thinking_summaries": "none"})
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
OPERATORS.add("H2-shortened-thinking", "Thinking goes back with half of its text.")(
    request_sites(*_RETURNED), ask_otherwise(shortened, *_RETURNED)
)

MUTATION: Final = Mutation(_LAYOUT, tuple(OPERATORS))
