"""Requests of SGLang's `/generate`: one prompt, and parameters of sampling.

What was said before would be part of the prompt, in the words of a model's template.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects.requests import PLAIN, Question, RequestForm, RequestStyle


def _ask_body(question: Question) -> dict[str, Any]:
    return {"text": question.text, "sampling_params": {"max_new_tokens": question.limit}}


def _without_model(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """A server has one model, and no request names it."""
    return {key: value for key, value in body.items() if key != "model"}


REQUEST: Final = RequestForm(
    history="text",
    limits=("sampling_params.max_new_tokens",),
    ask=_ask_body,
    next_turns=lambda _after: [],
    carries_on=False,
    styles=(
        RequestStyle({"sampling_params": {"temperature": 0}}, respelled=_without_model),
        PLAIN,
    ),
    is_answer=lambda _entry: False,
)
