"""Scripted answers of the Interactions API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.core.json_values import value_at
from conformance.dialects.script import (
    MODEL,
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedEvent,
    pieces_of,
)
from conformance.dialects.wishes import WishForm

_SHOWS: Final = ("generation_config", "thinking_summaries")
_LAST: Final = ("model_output", "function_call")
_STATUSES: Final = {"tools": "requires_action", "length": "incomplete"}


def _error_body(message: str, *, is_refusal: bool) -> dict[str, Any]:
    code = "invalid_request" if is_refusal else "internal_error"
    return {"error": {"message": message, "code": code}}


def _stream_events(answer: ScriptedAnswer, request: Mapping[str, Any]) -> Iterator[ScriptedEvent]:
    begun = {**_interaction_head(answer), "status": "in_progress"}
    yield _event("interaction.created", interaction=begun)
    yield _event("interaction.status_update", interaction_id=begun["id"], status="in_progress")
    for index, (step, deltas) in enumerate(_steps(answer, request)):
        yield _event("step.start", index=index, step=step)
        for delta in deltas:
            yield _event("step.delta", index=index, delta=delta)
        if not (answer.is_broken and step["type"] in _LAST):
            yield _event("step.stop", index=index)
    if answer.word == "error":
        yield _event("error", **_error_body(answer.error, is_refusal=False))
    if answer.is_finished:
        yield _event(
            "interaction.completed", interaction={**_interaction_head(answer), **_ending(answer)}
        )
        yield "done", "[DONE]"


def _whole_body(answer: ScriptedAnswer, request: Mapping[str, Any]) -> dict[str, Any]:
    thinking = _shown_thinking(answer, request)
    summary = {"summary": [{"type": "text", "text": thinking}]} if thinking else {}
    steps: list[dict[str, Any]] = [{**_thought(answer), **summary}] if answer.thinking else []
    steps += [{**_call(call), "arguments": call.fields} for call in answer.calls]
    if not answer.calls:
        content = [{"type": "text", "text": answer.text}]
        steps.append({"type": "model_output", "content": content})
    ending = {} if answer.word == "no-finish" else _ending(answer)
    return {**_interaction_head(answer), **ending, "steps": steps}


def _steps(
    answer: ScriptedAnswer, request: Mapping[str, Any]
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Every step as it is announced, and its deltas."""
    if answer.thinking:
        shown = pieces_of(_shown_thinking(answer, request))
        content = [{"type": "text", "text": piece} for piece in shown]
        signed = {"type": "thought_signature", "signature": answer.signature}
        deltas = [{"type": "thought_summary", "content": each} for each in content]
        yield {"type": "thought"}, [*deltas, signed]
    for call in answer.calls:
        yield (
            {**_call(call), "arguments": {}},
            [{"type": "arguments_delta", "arguments": each} for each in call.pieces],
        )
    if not answer.calls:
        texts = [{"type": "text", "text": piece} for piece in answer.text_pieces()]
        yield {"type": "model_output"}, texts


def _shown_thinking(answer: ScriptedAnswer, request: Mapping[str, Any]) -> str:
    """Summaries are shown to who asks for them."""
    return answer.thinking if value_at(request, *_SHOWS) == "auto" else ""


def _thought(answer: ScriptedAnswer) -> dict[str, Any]:
    return {"type": "thought", "signature": answer.signature}


def _call(call: ScriptedCall) -> dict[str, Any]:
    return {"type": "function_call", "id": f"call{call.mark}", "name": call.tool}


def _interaction_head(answer: ScriptedAnswer) -> dict[str, Any]:
    return {"id": f"v1_scripted{answer.mark}", "object": "interaction", "model": MODEL}


def _ending(answer: ScriptedAnswer) -> dict[str, Any]:
    given, written, thought = answer.tokens
    usage = {
        "total_input_tokens": given,
        "total_output_tokens": written - thought,
        "total_thought_tokens": thought,
        "total_tokens": given + written,
    }
    return {"status": _STATUSES.get(answer.ending, "completed"), "usage": usage}


def _event(kind: str, **fields: Any) -> ScriptedEvent:
    return kind, {"event_type": kind, **fields}


SCRIPT: Final = Script(
    _stream_events,
    _whole_body,
    _error_body,
    WishForm(
        schemas=("response_format",),
        json="response_mime_type",
        json_words=("application/json",),
        choice=("generation_config.tool_choice",),
        stops="generation_config.stop_sequences",
    ),
)
