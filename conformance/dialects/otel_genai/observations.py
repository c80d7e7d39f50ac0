"""Calls as Langfuse and Logfire keep them, by the names of OpenTelemetry's conventions.

Langfuse: an observation of type GENERATION, as its API and its downloads have it, with `input`,
`output`, `model`, `usageDetails` (or `usage`) and `level`; or a span of its SDK, which has them as
attributes (`langfuse.observation.output`).
Logfire: a span with `request_data` and `response_data`, as its instrumentation of OpenAI's and
Anthropic's SDKs writes it; newer releases write the conventions' own names, too, and those count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.json_values import decode_json
from conformance.dialects.otel_genai.kept_messages import as_messages

_OF_SPAN: Final = "langfuse.observation."
MARKS: Final = (b'"GENERATION"', b"response_data", f"{_OF_SPAN}output".encode())
_SPAN_KEYS: Final = {
    "input": "input",
    "output": "output",
    "model": "model.name",
    "usageDetails": "usage_details",
    "level": "level",
    "statusMessage": "status_message",
}
_GIVEN: Final = "gen_ai.input.messages"
_ANSWERS: Final = "gen_ai.output.messages"
_INPUT: Final = "gen_ai.usage.input_tokens"
_OUTPUT: Final = "gen_ai.usage.output_tokens"
_REASONED: Final = "gen_ai.usage.reasoning.output_tokens"
_COUNTS: Final = {
    _INPUT: ("input", "prompt_tokens", "input_tokens", "promptTokens"),
    _OUTPUT: ("output", "completion_tokens", "output_tokens", "completionTokens"),
}
_REASONING: Final = ("output_reasoning_tokens", "reasoning_tokens", "output_reasoning")

Fields = Mapping[str, Any]


def as_call(record: Fields) -> Fields:
    """The attributes of a call that one of them keeps; empty for anything else."""
    if record.get("type") == "GENERATION" and "output" in record:
        return _observed_call(record)
    if record.get(f"{_OF_SPAN}type") == "generation" and f"{_OF_SPAN}output" in record:
        return _observed_call({key: record.get(_OF_SPAN + at) for key, at in _SPAN_KEYS.items()})
    if "response_data" in record and _ANSWERS not in record:
        return _span_call(record)
    return {}


def _observed_call(record: Fields) -> dict[str, Any]:
    usage = _object(record.get("usageDetails") or record.get("usage"))
    failed = record.get("level") == "ERROR"
    error = {"error.type": str(record.get("statusMessage") or "error")} if failed else {}
    return _call_attributes(
        record.get("input"), record.get("output"), record.get("model"), usage, error
    )


def _span_call(record: Fields) -> dict[str, Any]:
    request, answered = (_object(record.get(key)) for key in ("request_data", "response_data"))
    answer = answered.get("message", answered.get("combined_chunk_content"))
    return _call_attributes(request, answer, request.get("model"), answered.get("usage"), {})


def _call_attributes(
    given: Any, answer: Any, model: Any, usage: Any, more: Fields
) -> dict[str, Any]:
    answers = [{**each, "finish_reason": ""} for each in as_messages(answer)]
    joined = [part for each in answers for part in each["parts"]]
    # Items of one answer are one message; nothing states its reason.
    whole = [{"role": "assistant", "parts": joined, "finish_reason": ""}] if joined else []
    if not whole and not more:
        return {}  # no answer was kept
    named = {"gen_ai.request.model": model} if isinstance(model, str) else {}
    return {
        **named,
        _GIVEN: as_messages(given),
        _ANSWERS: whole,
        **_token_counts(_object(usage)),
        **more,
    }


def _token_counts(usage: Fields) -> dict[str, int]:
    made = {}
    for name, keys in _COUNTS.items():
        found = next((usage[key] for key in keys if type(usage.get(key)) is int), None)
        if found is not None:
            made[name] = found
    details = _object(usage.get("completion_tokens_details") or usage.get("output_tokens_details"))
    both = {**details, **usage}
    if (thought := next((both[k] for k in _REASONING if type(both.get(k)) is int), None)) is None:
        return made
    if usage.get("output") is not None and _OUTPUT in made:
        made[_OUTPUT] += thought  # Langfuse counts each kind of token by itself
    return {**made, _REASONED: thought}


def _object(value: Any) -> Fields:
    value = decode_json(value) if isinstance(value, str) else value
    return value if isinstance(value, dict) else {}
