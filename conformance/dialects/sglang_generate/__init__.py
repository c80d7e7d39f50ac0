"""SGLang's own `/generate`: the text so far, again and again."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.prompt_requests import prompt_form
from conformance.dialects.requests import Question
from conformance.dialects.sglang_generate.reader import GrowingTextReader, finishes
from conformance.dialects.wire_keys import SseEnvelope


def _ask_body(question: Question) -> dict[str, Any]:
    return {"text": question.text, "sampling_params": {"max_new_tokens": question.limit}}


DIALECT: Final = Dialect(
    **facets(__name__, "script"),
    reader=GrowingTextReader,
    envelope=SseEnvelope(finishes=finishes),
    endpoint=Endpoint(
        api="sglang",
        path="/generate",
        base="",
        never_below=("/api/", "/v1/"),  # Ollama's, and the first API of Cohere
        only_named=True,
    ),
    models=ModelListing("/models"),
    request=prompt_form(
        "text", "sampling_params.max_new_tokens", _ask_body, {"sampling_params": {"temperature": 0}}
    ),
    carries_opaque=False,
    tells_parts=False,
    counts_within=True,
)
