"""OpenTelemetry's conventions for generative AI: what a model was given, and what it answered."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.otel_genai.reader import TelemetryReader

DIALECT: Final = Dialect(
    **facets(__name__, "vocabulary", "requests"),
    reader=TelemetryReader,
    framing="body",
    carries_opaque=False,
    counts_within=True,
    unit="call",
)
