"""Anthropic Messages."""

from __future__ import annotations

from typing import Final

from conformance.dialects.anthropic_messages.reader import MessagesReader
from conformance.dialects.anthropic_messages.wire_keys import EVENTS
from conformance.dialects.base import Dialect, facets
from conformance.dialects.client_cases import ClientCases, listing
from conformance.dialects.endpoint import Endpoint, ModelListing

DIALECT: Final = Dialect(
    **facets(__name__, "wire_keys", "requests", "script"),
    reader=MessagesReader,
    columns=EVENTS.columns(),
    endpoint=Endpoint(
        "messages",
        "/messages",
        headers=(("anthropic-version", "2023-06-01"),),
        key_header="x-api-key",
        never_below=("/threads/",),  # messages of OpenAI's Assistants
    ),
    models=ModelListing("/models"),
    client=ClientCases(listing("content"), own_models="claude"),
    unit="message",
    counts_within=True,
)
