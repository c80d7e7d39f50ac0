"""Requests of SGLang's `/generate`: one prompt, and parameters of sampling."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.prompt_requests import prompt_form
from conformance.dialects.requests import Question, RequestForm


def _ask_body(question: Question) -> dict[str, Any]:
    return {"text": question.text, "sampling_params": {"max_new_tokens": question.limit}}


REQUEST: Final[RequestForm] = prompt_form(
    "text", "sampling_params.max_new_tokens", _ask_body, {"sampling_params": {"temperature": 0}}
)
