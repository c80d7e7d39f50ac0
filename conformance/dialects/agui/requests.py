"""Requests of a user interface to an agent: the input of a run."""

from __future__ import annotations

from collections.abc import Iterator
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
    told = {
        event.data.get("toolCallId"): event.data.get("content")
        for event in after.events
        if event.type == "TOOL_CALL_RESULT"
    }
    results = [
        {
            "id": f"result-{number}-{place}",
            "role": "tool",
            "toolCallId": call["id"],
            "content": told.get(call["id"], after.result),
        }
        for place, call in enumerate(calls)
    ]
    asked = [{"id": f"user-{number}", "role": "user", "content": after.question}]
    return [
        *before,
        *(_thoughts(after) if after.keeps_thinking else ()),
        answer,
        *results,
        *(asked if after.question else []),
    ]


def _thoughts(after: Continuation) -> Iterator[dict[str, Any]]:
    """A message for each one of reasoning, with the encrypted value that names it."""
    texts: dict[str, str] = {}
    sealed: dict[str, str] = {}
    for event in after.events:
        if event.type.startswith(("REASONING_MESSAGE", "REASONING_START", "THINKING_TEXT")):
            name = string(event.data.get("messageId"))
            texts[name] = texts.get(name, "") + string(event.data.get("delta"))
        elif event.type == "REASONING_ENCRYPTED_VALUE":
            sealed[string(event.data.get("entityId"))] = string(event.data.get("encryptedValue"))
    for name, text in texts.items():
        if text or name in sealed:
            kept = {"encryptedValue": sealed[name]} if name in sealed else {}
            yield {"id": name or "thought", "role": "reasoning", "content": text, **kept}


REQUEST: Final = RequestForm(
    history="messages",
    limits=(),
    ask=_ask,
    next_turns=_next_turns,
    streams=lambda _body: True,
)
