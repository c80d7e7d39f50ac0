"""Requests of APIs that complete one prompt for the one model that a server has.

The history would be part of the prompt, in the words of the model's template.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.dialects.requests import PLAIN, Question, RequestForm, RequestStyle


def prompt_form(
    prompt: str, limit: str, ask: Callable[[Question], dict[str, Any]], always_same: dict[str, Any]
) -> RequestForm:
    """The form of such requests; `always_same` makes the server choose the likeliest tokens."""
    return RequestForm(
        history=prompt,
        limits=(limit,),
        ask=ask,
        next_turns=lambda _after: [],
        carries_on=False,
        styles=(RequestStyle(always_same, respelled=_without_model), PLAIN),
        is_answer=lambda _entry: False,
    )


def _without_model(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in body.items() if key != "model"}
