"""LM Studio's own REST API: chats that the server remembers, and tools that it runs."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.client_cases import ClientCases, listing
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.lmstudio_chat.reader import LmStudioReader, recognises
from conformance.dialects.lmstudio_chat.requests import REQUEST, TURNS
from conformance.dialects.lmstudio_chat.script import SCRIPT
from conformance.dialects.lmstudio_chat.vocabulary import (
    BOUNDS,
    ENVELOPE,
    EVENTS,
    NAME,
    VOCABULARY,
    WIRE_KEYS,
)

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=LmStudioReader,
    recognises=recognises,
    columns=EVENTS.columns(),
    keys=WIRE_KEYS,
    envelope=ENVELOPE,
    bounds=BOUNDS,
    endpoint=Endpoint("lmstudio", "/api/v1/chat", base=""),
    models=ModelListing(
        "/api/v1/models", base="", entries="models", name="key", frame={}, details={"type": "llm"}
    ),
    request=REQUEST,
    turns=TURNS,
    script=SCRIPT,
    client=ClientCases(listing("output"), effort_paths=("reasoning",)),
    carries_opaque=False,
    tells_reasons=False,
)
