"""OpenAI Responses."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.openai_responses.columns import delta_columns
from conformance.dialects.openai_responses.reader import ResponsesReader, recognises
from conformance.dialects.openai_responses.vocabulary import NAME, VOCABULARY
from conformance.dialects.requests import PLAIN, RequestForm, RequestStyle

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=ResponsesReader,
    recognises=recognises,
    columns=delta_columns,
    endpoint=Endpoint("responses", "/responses"),
    models=ModelListing("/models"),
    request=RequestForm(
        history="input",
        instructions="instructions",
        limits=("max_output_tokens",),
        styles=(RequestStyle({"temperature": 0}), PLAIN),
        previous="previous_response_id",
        answer_id=rb'"id"\s*:\s*"(resp_[A-Za-z0-9_-]{1,200})"',
    ),
    mutation="conformance.dialects.openai_responses.mutation",
)
