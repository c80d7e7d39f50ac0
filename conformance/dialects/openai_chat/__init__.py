"""OpenAI Chat Completions."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.openai_chat.knob_signs import ChatKnobs
from conformance.dialects.openai_chat.private_fields import PrivateFields
from conformance.dialects.openai_chat.reader import ChatReader
from conformance.dialects.turns import MESSAGES

DIALECT: Final = Dialect(
    **facets(__name__, "wire_keys", "columns", "requests", "script", "client_cases"),
    reader=ChatReader,
    knobs=ChatKnobs,
    private_texts=PrivateFields,
    endpoint=Endpoint("chat", "/chat/completions"),
    models=ModelListing("/models"),
    turns=MESSAGES,
    counts_within=True,
)
