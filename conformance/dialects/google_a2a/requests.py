"""Requests of Agent2Agent: the agent keeps the conversation, so that only what is new is sent.

The agent names the conversation (`contextId`), and a message that carries it on repeats that name.
A question is spelled as in 0.3, and as in 1.0 where an agent does not know that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.events import Event, Request
from conformance.dialects.json_edge import mapping, objects, string
from conformance.dialects.requests import (
    PLAIN,
    Continuation,
    Question,
    RequestForm,
    RequestStyle,
)
from conformance.dialects.turns import HistoryEntry, HistoryForm

_JOINS: Final = frozenset({"tasks/resubscribe", "SubscribeToTask"})
_STREAMS: Final = _JOINS | {"message/stream", "SendStreamingMessage"}

_METHODS_OF_1_0: Final = {
    "message/stream": "SendStreamingMessage",
    "message/send": "SendMessage",
}


def _ask_body(question: Question) -> dict[str, Any]:
    message = {
        "kind": "message",
        "role": "user",
        "parts": [{"kind": "text", "text": question.text}],
    }
    method = "message/stream" if question.streams else "message/send"
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}


def _as_of_1_0(body: Mapping[str, Any]) -> dict[str, Any]:
    """A question in the words of 1.0: the fields are the same, but none says its kind."""
    given = mapping(mapping(body.get("params")).get("message"))
    parts = [_without_kind(part) for part in objects(given.get("parts"))]
    message = {**_without_kind(given), "role": "ROLE_USER", "parts": parts}
    method = _METHODS_OF_1_0.get(string(body.get("method")), body.get("method"))
    return {**body, "method": method, "params": {"message": message}}


def _without_kind(thing: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in thing.items() if key != "kind"}


def _next_turns(after: Continuation) -> list[Any]:
    """What is new: the agent remembers the rest."""
    return [{"kind": "text", "text": after.question}] if after.question else []


def _context_id(event: Event) -> str:
    return string(event.data.get("contextId"))


def _message(body: Any) -> Any:
    return mapping(mapping(body).get("params", body)).get("message")


def named_in(body: Any, key: str) -> str:
    """The context or the task that a message names under a key, empty where it names none."""
    return string(mapping(_message(body)).get(key))


def joins_task(request: Request) -> bool:
    """Whether a request joins a task that is under way."""
    is_path = request.path.partition("?")[0].endswith(":subscribe")
    return is_path or mapping(request.json).get("method") in _JOINS


def _version_of(body: Any) -> str:
    """The binding and its version: the methods of JSON-RPC have other names since 1.0."""
    method = mapping(body).get("method")
    if method is None:
        return "REST"
    return "0.3" if "/" in string(method) else "1.0"


def _entries(body: Any) -> list[Any]:
    message = _message(body)
    return [message] if isinstance(message, dict) else []


def _read_entry(entry: Any) -> HistoryEntry:
    texts = (string(part.get("text")) for part in objects(mapping(entry).get("parts")))
    return HistoryEntry("user", "".join(texts))


REQUEST: Final = RequestForm(
    history="params.message.parts",
    limits=(),
    ask=_ask_body,
    next_turns=_next_turns,
    styles=(PLAIN, RequestStyle(respelled=_as_of_1_0, headers=(("A2A-Version", "1.0"),))),
    streams=lambda body: mapping(body).get("method") in _STREAMS,
    streams_at=lambda path: path.partition("?")[0].endswith((":stream", ":subscribe")),
    is_answer=lambda _entry: False,
    version_of=_version_of,
    previous="params.message.contextId",
    answer_id=_context_id,
    own_id="params.message.messageId",
)
TURNS: Final = HistoryForm(
    "params",
    _entries,
    _read_entry,
    thread=("params.message.contextId", "message.contextId"),
    answer_thread=lambda event: string(event.data.get("context")),
    named=("params.message.taskId", "message.taskId"),
    answer_name=lambda event: string(event.data.get("task")),
)
