"""Requests of Agent2Agent: the agent keeps the conversation, so that only what is new is sent.

The agent names the conversation (`contextId`), and a message that carries it on repeats that name.
A question is spelled as in 0.3, which agents of 1.0 take, too, unless a header says `1.0`.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.core.events import Event
from conformance.dialects.json_edge import mapping, objects, string
from conformance.dialects.requests import Continuation, Question, RequestForm
from conformance.dialects.turns import HistoryForm, SaidEntry

_STREAMS: Final = frozenset(
    {"message/stream", "tasks/resubscribe", "SendStreamingMessage", "SubscribeToTask"}
)


def _ask_body(question: Question) -> dict[str, Any]:
    said = {
        "kind": "message",
        "role": "user",
        "parts": [{"kind": "text", "text": question.text}],
    }
    method = "message/stream" if question.streams else "message/send"
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": said}}


def _next_turns(after: Continuation) -> list[Any]:
    """What is new: the agent remembers the rest."""
    return [{"kind": "text", "text": after.question}] if after.question else []


def _context_id(event: Event) -> str:
    return string(event.data.get("contextId"))


def _message(body: Any) -> Any:
    return mapping(mapping(body).get("params", body)).get("message")


def _entries(body: Any) -> list[Any]:
    message = _message(body)
    return [message] if isinstance(message, dict) else []


def _read_entry(entry: Any) -> SaidEntry:
    texts = (string(part.get("text")) for part in objects(mapping(entry).get("parts")))
    return SaidEntry("user", "".join(texts))


REQUEST: Final = RequestForm(
    history="params.message.parts",
    limits=(),
    ask=_ask_body,
    next_turns=_next_turns,
    streams=lambda body: mapping(body).get("method") in _STREAMS,
    streams_at=lambda path: path.partition("?")[0].endswith((":stream", ":subscribe")),
    is_answer=lambda _entry: False,
    previous="params.message.contextId",
    answer_id=_context_id,
    own_id="params.message.messageId",
)
TURNS: Final = HistoryForm("params", _entries, _read_entry)
