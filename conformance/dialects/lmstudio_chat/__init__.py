"""LM Studio's own REST API: chats that the server remembers, and tools that it runs."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.client_cases import ClientCases, listing
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.lmstudio_chat.reader import LmStudioReader
from conformance.dialects.lmstudio_chat.vocabulary import EVENTS

DIALECT: Final = Dialect(
    **facets(__name__, "vocabulary", "requests", "script"),
    reader=LmStudioReader,
    columns=EVENTS.columns(),
    endpoint=Endpoint("lmstudio", "/api/v1/chat", base=""),
    models=ModelListing(
        "/api/v1/models", base="", entries="models", name="key", frame={}, details={"type": "llm"}
    ),
    client=ClientCases(listing("output"), effort_paths=("reasoning",)),
    carries_opaque=False,
    tells_reasons=False,
)
