"""Anthropic Messages."""

from __future__ import annotations

from typing import Final

from conformance.dialects.anthropic_messages.reader import (
    NAME,
    VOCABULARY,
    MessagesReader,
    doubts,
    recognises,
)
from conformance.dialects.anthropic_messages.requests import REQUEST, TURNS
from conformance.dialects.anthropic_messages.script import SCRIPT
from conformance.dialects.anthropic_messages.wire_keys import (
    BOUNDS,
    ENVELOPE,
    EVENTS,
    WIRE_KEYS,
)
from conformance.dialects.base import Dialect
from conformance.dialects.client_cases import ClientCases, listing
from conformance.dialects.endpoint import Endpoint, ModelListing

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=MessagesReader,
    recognises=recognises,
    doubts=doubts,
    columns=EVENTS.columns(),
    keys=WIRE_KEYS,
    envelope=ENVELOPE,
    bounds=BOUNDS,
    endpoint=Endpoint(
        "messages",
        "/messages",
        headers=(("anthropic-version", "2023-06-01"),),
        key_header="x-api-key",
        never_below=("/threads/",),  # messages of OpenAI's Assistants
    ),
    models=ModelListing("/models"),
    request=REQUEST,
    turns=TURNS,
    script=SCRIPT,
    client=ClientCases(listing("content"), own_models="claude"),
    unit="message",
    counts_within=True,
)
