"""generateContent of the Gemini API, which Vertex AI speaks too."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qs, urlsplit

from conformance.core.framing import Framing
from conformance.dialects.base import Dialect, facets
from conformance.dialects.client_cases import ClientCases, message_at
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.gemini_generate.reader import GeminiReader
from conformance.dialects.wire_keys import WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("text",),
    shown=("text",),
    indices=("index",),
    opaque=("thoughtSignature", "thought_signature"),
    words=("role", "finishReason", "blockReason", "modality", "serviceTier"),
    free=("args", "functionResponse", "generationConfig"),
    unrolled=("candidates", "parts"),
    unrolling=("gemini.",),
)


MODELS: Final = ModelListing(
    "/models",
    base="/v1beta",
    entries="models",
    name="name",
    prefix="models/",
    frame={},
    details={"supportedGenerationMethods": ["generateContent"]},
)


def _framing_at(path: str) -> Framing:
    """Events where the query asks for them, else one array that grows."""
    return "sse" if "sse" in parse_qs(urlsplit(path).query).get("alt", ()) else "array"


DIALECT: Final = Dialect(
    **facets(__name__, "requests", "script"),
    reader=GeminiReader,
    framing_at=_framing_at,
    keys=WIRE_KEYS,
    endpoint=Endpoint(
        "gemini",
        "/models/{model}:generateContent",
        base="/v1beta",
        key_header="x-goog-api-key",
        stream_path="/models/{model}:streamGenerateContent?alt=sse",
    ),
    models=MODELS,
    client=ClientCases(
        message_at("candidates", 0, "content"),
        effort_paths=(
            "generationConfig.thinkingConfig.thinkingLevel",
            "generationConfig.thinkingConfig.thinkingBudget",
        ),
        own_models="gemini-",
        finishes_early=True,
    ),
)
