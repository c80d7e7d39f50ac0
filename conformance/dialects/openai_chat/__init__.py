"""OpenAI Chat Completions."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.openai_chat.columns import delta_columns
from conformance.dialects.openai_chat.reader import NAME, VOCABULARY, ChatReader, recognises
from conformance.dialects.requests import PLAIN, RequestForm, RequestStyle

_STEADY: Final = {"temperature": 0, "seed": 0}
_NEW_LIMIT: Final = {"max_tokens": "max_completion_tokens"}

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=ChatReader,
    recognises=recognises,
    columns=delta_columns,
    endpoint=Endpoint("chat", "/chat/completions"),
    models=ModelListing("/models"),
    request=RequestForm(
        history="messages",
        limits=("max_tokens", "max_completion_tokens"),
        styles=(
            RequestStyle(_STEADY),
            RequestStyle(_STEADY, _NEW_LIMIT),
            RequestStyle({}, _NEW_LIMIT),
            PLAIN,
        ),
    ),
    mutation="conformance.dialects.openai_chat.mutation",
)
