"""OpenAI Responses."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from conformance.dialects.base import DeltaColumns, Dialect, Reading, facets
from conformance.dialects.client_cases import ClientCases, listing
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.json_edge import mapping, string, whole
from conformance.dialects.openai_responses.knob_signs import ResponsesKnobs
from conformance.dialects.openai_responses.reader import ResponsesReader
from conformance.dialects.wire_keys import AnswerBounds, ItemPlaces, SseEnvelope, WireKeys

_DELTAS: Final = frozenset(
    {
        "response.output_text.delta",
        "response.reasoning_text.delta",
        "response.reasoning_summary_text.delta",
        "response.function_call_arguments.delta",
        "response.refusal.delta",
    }
)


def delta_columns(payload: Any, _reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    if string(fields.get("type")) not in _DELTAS or not string(fields.get("delta")):
        return None
    is_numbered = whole(fields.get("sequence_number")) is not None
    return _columns(is_numbered=is_numbered, is_padded=isinstance(fields.get("obfuscation"), str))


@cache
def _columns(*, is_numbered: bool, is_padded: bool) -> DeltaColumns:
    more = ("sequence_number",) * is_numbered + ("obfuscation",) * is_padded
    return DeltaColumns(("delta", *more), "delta")


DIALECT: Final = Dialect(
    **facets(__name__, "vocabulary", "requests", "turns", "script", "socket"),
    reader=ResponsesReader,
    columns=delta_columns,
    keys=WireKeys(
        texts=("delta", "content", "text", "arguments", "refusal", "summary"),
        shown=("delta", "content", "text"),
        indices=("output_index", "content_index", "summary_index"),
        opaque=("encrypted_content",),
        words=("kind", "object", "phase", "reason", "role", "status", "type"),
        free=("arguments", "input", "metadata", "parameters", "properties", "schema"),
    ),
    envelope=SseEnvelope(is_named=lambda kind: kind.startswith("response.")),
    bounds=AnswerBounds(
        first=frozenset({"response.created"}),
        once=frozenset({"response.created"}),
        last=frozenset({"response.completed", "response.incomplete", "response.failed"}),
    ),
    items=ItemPlaces(index="output_index", output=("response", "output")),
    knobs=ResponsesKnobs,
    endpoint=Endpoint("responses", "/responses"),
    models=ModelListing("/models"),
    client=ClientCases(listing("output")),
    unit="response",
    counts_within=True,
    echoes=True,
)
