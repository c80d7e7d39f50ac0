"""Cohere's Chat API, version 2."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.client_cases import ClientCases, message_at
from conformance.dialects.cohere_v2.reader import CohereReader, recognises
from conformance.dialects.cohere_v2.requests import REQUEST
from conformance.dialects.cohere_v2.script import SCRIPT
from conformance.dialects.cohere_v2.vocabulary import EVENTS, NAME, VOCABULARY
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.json_edge import mapping
from conformance.dialects.turns import MESSAGES
from conformance.dialects.wire_keys import SseEnvelope, WireKeys

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=CohereReader,
    recognises=recognises,
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
    request=REQUEST,
    turns=MESSAGES,
    script=SCRIPT,
    client=ClientCases(message_at("message"), effort_paths=("thinking",), own_models="command"),
)
