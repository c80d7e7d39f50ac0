"""Requests to the server of LangGraph: a run without a thread, which is given all messages.

`assistant_id` is the name of a graph; that of the templates of LangGraph is `agent`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.core.events import Event
from conformance.dialects.json_edge import elements, mapping, objects, string
from conformance.dialects.langgraph.content import OF_MODEL, is_of_model, joined, pieces_of
from conformance.dialects.langgraph.vocabulary import (
    IN_THREAD,
    KEPT,
    MESSAGE,
    PARTIAL,
    RESTATED,
    VALUES,
)
from conformance.dialects.requests import Continuation, Question, RequestForm
from conformance.dialects.turns import (
    HistoryCall,
    HistoryEntry,
    HistoryForm,
    Speaker,
    history_call,
    speaker,
)

_SPEAKERS: Final[Mapping[str, Speaker]] = {
    "human": "user",
    "ai": "model",
    "AIMessageChunk": "model",
    "tool": "tool",
}
_THOUGHTS: Final = frozenset({"thinking", "reasoning", "redacted_thinking", "reasoning_content"})


def _ask(question: Question) -> dict[str, Any]:
    message = {"type": "human", "content": question.text}
    return {
        "assistant_id": "agent",
        "input": {"messages": [message]},
        "stream_mode": ["messages-tuple", "values"],
        "stream_subgraphs": True,
    }


def _next_turns(after: Continuation) -> list[Any]:
    """The messages of the last state, as a client that keeps them sends them back."""
    shown = _last_state(after.events) or elements(_input(after.request).get("messages"))
    kept = [each if after.keeps_thinking else _without_thinking(each) for each in shown]
    question = [{"type": "human", "content": after.question}] if after.question else []
    return [*kept, *question]


def _last_state(events: Sequence[Event]) -> list[Any]:
    states = [each.data for each in events if each.type == VALUES and not each.data["namespace"]]
    return elements(states[-1].get("messages")) if states else []


def _without_thinking(message: Any) -> Any:
    fields = mapping(message)
    if not isinstance(content := fields.get("content"), list):
        return message
    kept = [each for each in content if mapping(each).get("type") not in _THOUGHTS]
    return {**fields, "content": kept}


def _input(body: Any) -> dict[str, Any]:
    return mapping(mapping(body).get("input"))


def _read_entry(entry: Any) -> HistoryEntry:
    fields = mapping(entry)
    kind = string(fields.get("type"))
    by = _SPEAKERS.get(kind) or speaker(fields.get("role") or kind)
    text = joined(pieces_of(fields), "text")
    if by == "tool":
        return HistoryEntry(by, text, results=(string(fields.get("tool_call_id")),))
    calls = tuple(map(_read_call, objects(fields.get("tool_calls"))))
    return HistoryEntry(by, text, calls, id=string(fields.get("id")))


def _read_call(call: Mapping[str, Any]) -> HistoryCall:
    """A call as LangChain has it, or as Chat Completions has it."""
    function = mapping(call.get("function")) or {**call, "arguments": call.get("args")}
    return history_call(call.get("id"), function.get("name"), function.get("arguments"))


def _message_name(event: Event) -> str:
    is_said = event.type in (MESSAGE, PARTIAL, RESTATED) and event.data.get("type") in OF_MODEL
    return string(event.data.get("id")) if is_said else ""


def _is_answer(entry: Any) -> bool:
    return is_of_model(mapping(entry))


def _streams(body: Any) -> bool:
    return "stream_mode" in mapping(body)


REQUEST: Final = RequestForm(
    history="input.messages",
    limits=(),
    ask=_ask,
    next_turns=_next_turns,
    streams=_streams,
    streams_at=lambda path: path.partition("?")[0].endswith("/stream"),
    is_answer=_is_answer,
)
TURNS: Final = HistoryForm(
    "input.messages",
    lambda body: elements(_input(body).get("messages")),
    _read_entry,
    thread_path=IN_THREAD,
    message_name=_message_name,
    restates=KEPT,
)
