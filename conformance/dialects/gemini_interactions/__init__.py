"""The Interactions API of Gemini, in its steps."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.client_cases import ClientCases, listing
from conformance.dialects.endpoint import Endpoint
from conformance.dialects.gemini_generate import MODELS
from conformance.dialects.gemini_interactions.reader import InteractionsReader, recognises
from conformance.dialects.gemini_interactions.requests import REQUEST
from conformance.dialects.gemini_interactions.script import SCRIPT
from conformance.dialects.gemini_interactions.turns import TURNS
from conformance.dialects.gemini_interactions.vocabulary import EVENTS, NAME, VOCABULARY
from conformance.dialects.gemini_interactions.wire_keys import BOUNDS, ENVELOPE, WIRE_KEYS

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=InteractionsReader,
    recognises=recognises,
    columns=EVENTS.columns(),
    keys=WIRE_KEYS,
    envelope=ENVELOPE,
    bounds=BOUNDS,
    endpoint=Endpoint(
        "interactions",
        "/interactions",
        base="/v1beta",
        headers=(("api-revision", "2026-05-20"),),
        key_header="x-goog-api-key",
    ),
    models=MODELS,
    request=REQUEST,
    turns=TURNS,
    client=ClientCases(
        listing("steps"),
        effort_paths=("generation_config.thinking_level",),
        own_models="gemini-",
    ),
    script=SCRIPT,
)
