"""Requests of a user interface to an agent: the input of a run.

An answer goes back as the messages that the protocol's own client makes of it, under the ids that
the agent gave them: an agent that keeps the thread knows them again.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.agui.shown_messages import shown_messages
from conformance.dialects.json_edge import elements
from conformance.dialects.requests import Continuation, Question, RequestForm


def _ask(question: Question) -> dict[str, Any]:
    tools = [{"name": name, "description": name, "parameters": {}} for name in question.tools]
    return {
        "state": {},
        "messages": [{"id": "user-0", "role": "user", "content": question.text}],
        "tools": tools,
        "context": [],
        "forwardedProps": {},
    }


def _next_turns(after: Continuation) -> list[Any]:
    before = elements(after.request.get("messages"))
    shown = shown_messages(before, after.events, after.result)
    if not after.keeps_thinking:
        shown = [each for each in shown if each in before or each.get("role") != "reasoning"]
    question = {"id": f"user-{len(before)}", "role": "user", "content": after.question}
    return [*shown, *([question] if after.question else [])]


REQUEST: Final = RequestForm(
    history="messages",
    limits=(),
    ask=_ask,
    next_turns=_next_turns,
    streams=lambda _body: True,
    conversation="threadId",
    own_id="runId",
)
