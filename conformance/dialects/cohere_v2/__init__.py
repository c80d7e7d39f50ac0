"""Cohere's Chat API, version 2."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.client_cases import ClientCases, message_at
from conformance.dialects.cohere_v2.reader import CohereReader
from conformance.dialects.cohere_v2.vocabulary import EVENTS
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.json_edge import mapping
from conformance.dialects.turns import MESSAGES
from conformance.dialects.wire_keys import SseEnvelope, WireKeys

DIALECT: Final = Dialect(
    **facets(__name__, "vocabulary", "requests", "script"),
    reader=CohereReader,
    columns=EVENTS.columns(),
    keys=WireKeys(
        texts=("content", "text", "thinking", "tool_plan", "arguments"),
        shown=("content", "text", "thinking", "tool_plan"),
        indices=("index",),
        words=("role", "type", "finish_reason"),
        free=("citations", "sources"),
        unrolled=("tool_calls",),
        unrolling=("cohere.",),
    ),
    envelope=SseEnvelope(
        is_named=EVENTS.types.__contains__,
        finishes=lambda payload: mapping(payload).get("type") == "message-end",
    ),
    bounds=EVENTS.bounds(),
    endpoint=Endpoint("cohere", "/v2/chat", base=""),
    models=ModelListing("/v1/models", base="", entries="models", name="name", frame={}, details={}),
    turns=MESSAGES,
    client=ClientCases(message_at("message"), effort_paths=("thinking",), own_models="command"),
)
