"""OpenTelemetry's conventions for generative AI: what a model was given, and what it answered."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.otel_genai.reader import TelemetryReader, recognises
from conformance.dialects.otel_genai.requests import REQUEST, TURNS
from conformance.dialects.otel_genai.vocabulary import NAME, VOCABULARY, WIRE_KEYS

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=TelemetryReader,
    recognises=recognises,
    framing="body",
    keys=WIRE_KEYS,
    request=REQUEST,
    turns=TURNS,
    carries_opaque=False,
    counts_within=True,
    unit="call",
)
