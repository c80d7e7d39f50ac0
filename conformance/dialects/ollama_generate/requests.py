"""Requests of Ollama's completions: a prompt, and the tokens of the history."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.json_edge import elements
from conformance.dialects.requests import (
    PLAIN,
    Continuation,
    Question,
    RequestForm,
    RequestStyle,
    streams_by_default,
)


def _ask_body(question: Question) -> dict[str, Any]:
    limit = {"num_predict": question.limit}
    return {"prompt": question.text, "think": question.thinks, "options": limit}


def _next_turns(after: Continuation) -> list[Any]:
    """What the last line gave as the talk so far; nothing else can be sent back."""
    given = [event.data["context"] for event in after.events if "context" in event.data]
    return elements(given[-1]) if given else []


REQUEST: Final = RequestForm(
    history="context",
    instructions="system",
    prompt="prompt",
    limits=("options.num_predict",),
    ask=_ask_body,
    next_turns=_next_turns,
    styles=(RequestStyle({"options": {"temperature": 0, "seed": 0}}), PLAIN),
    streams=streams_by_default,
    switches=("think",),
    refusals=("think",),
)
