"""Anthropic Messages."""

from __future__ import annotations

from typing import Final

from conformance.dialects.anthropic_messages.columns import delta_columns
from conformance.dialects.anthropic_messages.reader import (
    NAME,
    VOCABULARY,
    MessagesReader,
    recognises,
)
from conformance.dialects.base import Dialect
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.requests import PLAIN, RequestForm, RequestStyle

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=MessagesReader,
    recognises=recognises,
    columns=delta_columns,
    endpoint=Endpoint(
        "messages",
        "/messages",
        headers=(("anthropic-version", "2023-06-01"),),
        key_header="x-api-key",
    ),
    models=ModelListing("/models"),
    request=RequestForm(
        history="messages",
        instructions="system",
        limits=("max_tokens",),
        styles=(RequestStyle({"temperature": 0}), PLAIN),
    ),
    mutation="conformance.dialects.anthropic_messages.mutation",
)
