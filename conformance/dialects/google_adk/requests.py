"""Requests to the server of ADK: it keeps the session, so that only what is new is sent."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.json_edge import mapping, objects, string
from conformance.dialects.requests import Continuation, Question, RequestForm
from conformance.dialects.turns import HistoryEntry, HistoryForm

_NEW: Final = "newMessage"


def _ask_body(question: Question) -> dict[str, Any]:
    message = {"role": "user", "parts": [{"text": question.text}]}
    return {"userId": "user", _NEW: message, "streaming": question.streams}


def _next_turns(after: Continuation) -> list[Any]:
    """What is new: the session remembers the rest."""
    return [{"text": after.question}] if after.question else []


def _entries(body: Any) -> list[Any]:
    new = mapping(body).get(_NEW)
    return [new] if isinstance(new, dict) else []


def _read_entry(entry: Any) -> HistoryEntry:
    texts = (string(part.get("text")) for part in objects(mapping(entry).get("parts")))
    return HistoryEntry("user", "".join(texts))


REQUEST: Final = RequestForm(
    history=f"{_NEW}.parts",
    limits=(),
    ask=_ask_body,
    next_turns=_next_turns,
    # Fragments are asked for there; its events come as a stream either way.
    streams=lambda body: mapping(body).get("streaming") is True,
    streams_at=lambda path: path.partition("?")[0].endswith("/run_sse"),
    is_answer=lambda _entry: False,
    conversation="sessionId",
)
TURNS: Final = HistoryForm(_NEW, _entries, _read_entry, thread=("sessionId",))
