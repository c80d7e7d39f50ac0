"""The Interactions API of Gemini, in its steps."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.client_cases import ClientCases, listing
from conformance.dialects.endpoint import Endpoint
from conformance.dialects.gemini_generate import MODELS
from conformance.dialects.gemini_interactions.reader import InteractionsReader
from conformance.dialects.gemini_interactions.vocabulary import EVENTS
from conformance.dialects.json_edge import mapping
from conformance.dialects.wire_keys import SseEnvelope, WireKeys

DIALECT: Final = Dialect(
    **facets(__name__, "vocabulary", "requests", "script"),
    reader=InteractionsReader,
    columns=EVENTS.columns(),
    keys=WireKeys(
        texts=("text", "arguments", "result"),
        shown=("text",),
        indices=("index",),
        opaque=("signature", "continuation_token"),
        words=("event_type", "type", "status", "object", "modality", "service_tier"),
        free=("arguments", "result", "parameters", "generation_config"),
        unrolled=("steps",),
        unrolling=("interaction",),
    ),
    envelope=SseEnvelope(
        is_named=EVENTS.types.__contains__,
        finishes=lambda payload: mapping(payload).get("event_type") == "interaction.completed",
    ),
    bounds=EVENTS.bounds(),
    endpoint=Endpoint(
        "interactions",
        "/interactions",
        base="/v1beta",
        headers=(("api-revision", "2026-05-20"),),
        key_header="x-goog-api-key",
    ),
    models=MODELS,
    client=ClientCases(
        listing("steps"),
        effort_paths=("generation_config.thinking_level",),
        own_models="gemini-",
    ),
)
