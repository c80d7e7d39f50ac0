"""Requests of LM Studio's chat: the history stays with the server.

A request names the answer that it continues (`previous_response_id`), and says what is new.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.core.events import Event
from conformance.dialects.json_edge import mapping, string
from conformance.dialects.lmstudio_chat.vocabulary import BODY
from conformance.dialects.requests import (
    PLAIN,
    Continuation,
    Question,
    RequestForm,
    RequestStyle,
)
from conformance.dialects.turns import HistoryEntry, HistoryForm, listed_or_text


def _ask_body(question: Question) -> dict[str, Any]:
    return {
        "input": question.text,
        "reasoning": "on" if question.thinks else "off",
        "max_output_tokens": question.limit,
    }


def _next_turns(after: Continuation) -> list[Any]:
    """What is new: tools are the server's own, and so are their results."""
    return [{"type": "text", "content": after.question}] if after.question else []


def _answer_id(event: Event) -> str:
    result = event.data if event.type == BODY else mapping(event.data.get("result"))
    return string(result.get("response_id"))


def _user_entry(entry: Any) -> HistoryEntry:
    return HistoryEntry("user", string(mapping(entry).get("content")))


REQUEST: Final = RequestForm(
    history="input",
    instructions="system_prompt",
    limits=("max_output_tokens",),
    ask=_ask_body,
    next_turns=_next_turns,
    styles=(RequestStyle({"temperature": 0}), PLAIN),
    is_answer=lambda _entry: False,
    previous="previous_response_id",
    remembers=True,
    answer_id=_answer_id,
    answer_id_bytes=rb'"response_id"\s*:\s*"(resp_[A-Za-z0-9_-]{1,400})"',
    switches=("reasoning",),
    refusals=("reasoning",),
)
TURNS: Final = HistoryForm("input", listed_or_text("input"), _user_entry)
