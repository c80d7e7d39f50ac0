"""OpenAI Responses."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.client_cases import ClientCases, listing
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.openai_responses.columns import delta_columns
from conformance.dialects.openai_responses.knob_signs import ResponsesKnobs
from conformance.dialects.openai_responses.reader import ResponsesReader, recognises
from conformance.dialects.openai_responses.requests import REQUEST
from conformance.dialects.openai_responses.script import SCRIPT
from conformance.dialects.openai_responses.socket import SOCKET
from conformance.dialects.openai_responses.turns import TURNS
from conformance.dialects.openai_responses.vocabulary import NAME, VOCABULARY
from conformance.dialects.openai_responses.wire_keys import BOUNDS, ENVELOPE, ITEMS, WIRE_KEYS

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=ResponsesReader,
    recognises=recognises,
    columns=delta_columns,
    keys=WIRE_KEYS,
    envelope=ENVELOPE,
    bounds=BOUNDS,
    items=ITEMS,
    knobs=ResponsesKnobs,
    endpoint=Endpoint("responses", "/responses"),
    models=ModelListing("/models"),
    request=REQUEST,
    turns=TURNS,
    script=SCRIPT,
    client=ClientCases(listing("output")),
    unit="response",
    socket=SOCKET,
    counts_within=True,
    echoes=True,
)
