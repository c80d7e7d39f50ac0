"""Requests of a user interface to an agent: the input of a run."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.json_edge import elements, string
from conformance.dialects.requests import Continuation, Question, RequestForm


def _ask(question: Question) -> dict[str, Any]:
    tools = [{"name": name, "description": name, "parameters": {}} for name in question.tools]
    return {
        "threadId": "thread-1",
        "runId": "run-1",
        "state": {},
        "messages": [{"id": "user-1", "role": "user", "content": question.text}],
        "tools": tools,
        "context": [],
        "forwardedProps": {},
    }


def _next_turns(after: Continuation) -> list[Any]:
    before = elements(after.request.get("messages"))
    number = len(before)
    thought = {"id": f"thought-{number}", "role": "reasoning", "content": after.thinking}
    answer: dict[str, Any] = {"id": f"answer-{number}", "role": "assistant", "content": after.text}
    calls = [
        {
            "id": call.get("id"),
            "type": "function",
            "function": {"name": call.get("name"), "arguments": string(call.get("arguments"))},
        }
        for call in after.tools
    ]
    if calls:
        answer["toolCalls"] = calls
    results = [
        {
            "id": f"result-{number}-{place}",
            "role": "tool",
            "toolCallId": call["id"],
            "content": after.result,
        }
        for place, call in enumerate(calls)
    ]
    asked = [{"id": f"user-{number}", "role": "user", "content": after.question}]
    return [
        *before,
        *([thought] if after.keeps_thinking and after.thinking else []),
        answer,
        *results,
        *(asked if after.question else []),
    ]


REQUEST: Final = RequestForm(
    history="messages",
    limits=(),
    ask=_ask,
    next_turns=_next_turns,
    streams=lambda _body: True,
)
