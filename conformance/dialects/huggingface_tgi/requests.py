"""Requests of Text Generation Inference: one prompt, and parameters."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.prompt_requests import prompt_form
from conformance.dialects.requests import Question, RequestForm


def _ask_body(question: Question) -> dict[str, Any]:
    return {
        "inputs": question.text,
        "parameters": {"max_new_tokens": question.limit, "details": True},
    }


# A temperature of 0 is refused ("`temperature` must be strictly positive").
REQUEST: Final[RequestForm] = prompt_form(
    "inputs", "parameters.max_new_tokens", _ask_body, {"parameters": {"do_sample": False}}
)
