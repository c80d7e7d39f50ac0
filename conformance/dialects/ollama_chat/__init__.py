"""Ollama's native API."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.client_cases import ClientCases, message_at
from conformance.dialects.endpoint import Endpoint
from conformance.dialects.ollama_chat.reader import OllamaReader
from conformance.dialects.ollama_columns import line_columns
from conformance.dialects.ollama_knobs import OllamaKnobs
from conformance.dialects.ollama_lines import BOUNDS
from conformance.dialects.ollama_script import MODELS
from conformance.dialects.turns import MESSAGES
from conformance.dialects.wire_keys import WireKeys

DIALECT: Final = Dialect(
    **facets(__name__, "requests", "script"),
    reader=OllamaReader,
    columns=line_columns("message", "content"),
    framing="lines",
    keys=WireKeys(
        texts=("content", "thinking"),
        shown=("content", "thinking"),
        words=("role", "done_reason"),
        free=("arguments", "options", "format", "details"),
        unrolled=("tool_calls", "models"),
        unrolling=("ollama.", "models"),
    ),
    bounds=BOUNDS,
    knobs=OllamaKnobs,
    endpoint=Endpoint("ollama", "/api/chat", base=""),
    models=MODELS,
    turns=MESSAGES,
    client=ClientCases(message_at("message"), effort_paths=("think",)),
)
