"""Completions of Ollama's native API."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.client_cases import ClientCases
from conformance.dialects.endpoint import Endpoint
from conformance.dialects.ollama_columns import line_columns
from conformance.dialects.ollama_generate.reader import (
    NAME,
    VOCABULARY,
    GenerateReader,
    recognises,
)
from conformance.dialects.ollama_generate.requests import REQUEST
from conformance.dialects.ollama_generate.script import SCRIPT
from conformance.dialects.ollama_knobs import OllamaKnobs
from conformance.dialects.ollama_lines import BOUNDS
from conformance.dialects.ollama_script import MODELS
from conformance.dialects.wire_keys import WireKeys

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=GenerateReader,
    recognises=recognises,
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
    request=REQUEST,
    client=ClientCases(lambda body: body if "response" in body else None, effort_paths=("think",)),
    script=SCRIPT,
)
