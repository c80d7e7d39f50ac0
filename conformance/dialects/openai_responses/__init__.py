"""OpenAI Responses."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.openai_responses.columns import delta_columns
from conformance.dialects.openai_responses.reader import ResponsesReader, recognises
from conformance.dialects.openai_responses.requests import REQUEST
from conformance.dialects.openai_responses.script import SCRIPT
from conformance.dialects.openai_responses.vocabulary import NAME, VOCABULARY

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=ResponsesReader,
    recognises=recognises,
    columns=delta_columns,
    endpoint=Endpoint("responses", "/responses"),
    models=ModelListing("/models"),
    request=REQUEST,
    script=SCRIPT,
    mutation="conformance.dialects.openai_responses.mutation",
)
