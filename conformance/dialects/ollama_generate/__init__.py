"""Completions of Ollama's native API."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.client_cases import ClientCases
from conformance.dialects.endpoint import Endpoint
from conformance.dialects.ollama_columns import line_columns
from conformance.dialects.ollama_generate.reader import GenerateReader
from conformance.dialects.ollama_knobs import OllamaKnobs
from conformance.dialects.ollama_lines import BOUNDS
from conformance.dialects.ollama_script import MODELS
from conformance.dialects.wire_keys import WireKeys

DIALECT: Final = Dialect(
    **facets(__name__, "requests", "script"),
    reader=GenerateReader,
    columns=line_columns("", "response"),
    framing="lines",
    keys=WireKeys(
        texts=("response", "thinking"),
        shown=("response", "thinking"),
        words=("done_reason",),
        free=("options", "format", "details", "context"),
        unrolled=("models",),
        unrolling=("ollama.", "models"),
    ),
    bounds=BOUNDS,
    knobs=OllamaKnobs,
    endpoint=Endpoint("ollama-generate", "/api/generate", base=""),
    models=MODELS,
    client=ClientCases(lambda body: body if "response" in body else None, effort_paths=("think",)),
)
