"""Text Generation Inference: the tokens of its own `/generate_stream`."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.huggingface_tgi.reader import TokenReader
from conformance.dialects.prompt_requests import prompt_form
from conformance.dialects.requests import Question


def _ask_body(question: Question) -> dict[str, Any]:
    return {
        "inputs": question.text,
        "parameters": {"max_new_tokens": question.limit, "details": True},
    }


# A temperature of 0 is refused ("`temperature` must be strictly positive").


DIALECT: Final = Dialect(
    **facets(__name__, "script"),
    reader=TokenReader,
    endpoint=Endpoint(
        *("tgi", "/generate"),
        base="",
        stream_path="/generate_stream",
        never_below=("/api/", "/v1/"),  # Ollama's, and the first API of Cohere
        only_named=True,
    ),
    models=ModelListing("/models"),
    request=prompt_form(
        "inputs", "parameters.max_new_tokens", _ask_body, {"parameters": {"do_sample": False}}
    ),
    carries_opaque=False,
    tells_parts=False,
)
