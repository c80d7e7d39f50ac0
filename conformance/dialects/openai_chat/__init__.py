"""OpenAI Chat Completions."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.openai_chat.client_cases import CLIENT_CASES
from conformance.dialects.openai_chat.columns import delta_columns
from conformance.dialects.openai_chat.knob_signs import ChatKnobs
from conformance.dialects.openai_chat.private_fields import PrivateFields
from conformance.dialects.openai_chat.reader import (
    NAME,
    VOCABULARY,
    ChatReader,
    is_piece,
    recognises,
)
from conformance.dialects.openai_chat.requests import REQUEST
from conformance.dialects.openai_chat.script import SCRIPT
from conformance.dialects.openai_chat.wire_keys import BOUNDS, ENVELOPE, WIRE_KEYS
from conformance.dialects.turns import MESSAGES

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=ChatReader,
    recognises=recognises,
    columns=delta_columns,
    keys=WIRE_KEYS,
    envelope=ENVELOPE,
    bounds=BOUNDS,
    knobs=ChatKnobs,
    private_texts=PrivateFields,
    endpoint=Endpoint("chat", "/chat/completions"),
    models=ModelListing("/models"),
    request=REQUEST,
    turns=MESSAGES,
    script=SCRIPT,
    client=CLIENT_CASES,
    is_piece=is_piece,
    counts_within=True,
)
