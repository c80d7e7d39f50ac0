"""Requests of a user interface to an agent: the input of a run.

An answer goes back as the messages that the protocol's own client makes of it, under the ids that
the agent gave them: an agent that keeps the thread knows them again.

How that client makes its messages of the events of a run:

Rule 1: a message of text or reasoning begins with its id, and is all text that names that id.
Rule 2: a call is in the assistant message that it names as its parent, else in one of its own.
        Results follow the message of their call.
Rule 3: a snapshot's messages take the place of those with their ids; what it lacks goes, except
        reasoning where it holds none. The calls and results that it holds are those of the run.
Rule 4: an encrypted value belongs to the message or call that it names, and is dropped where there
        is none of that name. Where reasoning showed no text, its span stands for the message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from conformance.core.events import Event
from conformance.dialects.json_edge import elements, mapping, objects, string
from conformance.dialects.requests import Continuation, Question, RequestForm
from conformance.dialects.turns import (
    HistoryCall,
    HistoryEntry,
    HistoryForm,
    history_call,
    listed,
    speaker,
    spoken,
)

Message = dict[str, Any]


def shown_messages(
    before: Sequence[Any], events: Iterable[Event], result: Callable[[int], str]
) -> list[Message]:
    """The messages `before` and those of an answer.

    Calls of the answer without a result are given that of their number, if that says any.
    """
    shown = _Shown(before)
    for event in events:
        shown.take(event.type, event.data)
    for at, name in enumerate(shown.unanswered()):
        if content := result(at):
            shown.add_result({"toolCallId": name, "content": content})
    return [each for each in shown.messages if each.get("role") != "reasoning" or _is_shown(each)]


def _is_shown(message: Message) -> bool:
    return bool(message.get("content")) or "encryptedValue" in message


class _Shown:
    """The messages so far, and the calls of the answer by their ids."""

    def __init__(self, before: Sequence[Any]) -> None:
        self.messages: list[Message] = [dict(mapping(each)) for each in before]
        self._named = {each.get("id"): each for each in self.messages}
        self._calls: dict[str, tuple[Message, Message]] = {}  # each with its message

    def take(self, kind: str, data: Mapping[str, Any]) -> None:
        """One event of the run."""
        name = string(data.get("messageId"))
        if kind.startswith("TEXT_MESSAGE"):
            self._add_text(self._message(name, "assistant"), data)
        elif kind.startswith(("REASONING_MESSAGE", "REASONING_START", "THINKING_TEXT")):
            self._add_text(self._message(name or "thought", "reasoning"), data)
        elif kind == "TOOL_CALL_RESULT":
            self.add_result(data)
        elif kind.startswith("TOOL_CALL"):
            self._call(data)["function"]["arguments"] += string(data.get("delta"))
        elif kind == "REASONING_ENCRYPTED_VALUE":
            self._seal(string(data.get("entityId")), string(data.get("encryptedValue")))
        elif kind == "MESSAGES_SNAPSHOT":
            # Copies, as what follows may add to a call that the snapshot holds.
            self._replace([deepcopy(dict(mapping(m))) for m in elements(data.get("messages"))])

    def unanswered(self) -> list[str]:
        """Calls that have no result."""
        answered = {m.get("toolCallId") for m in self.messages if m.get("role") == "tool"}
        return [name for name in self._calls if name not in answered]

    def add_result(self, data: Mapping[str, Any]) -> None:
        """The result of a call, after those that its message has already."""
        name = string(data.get("toolCallId"))
        message = {"id": string(data.get("messageId")) or f"result-{name}", "role": "tool"}
        result = {**message, "toolCallId": name, "content": data.get("content")}
        parent = self._calls[name][0] if name in self._calls else None
        at = 1 + next((n for n, each in enumerate(self.messages) if each is parent), -1)
        at = at or len(self.messages)
        while at < len(self.messages) and self.messages[at].get("role") == "tool":
            at += 1
        self.messages.insert(at, result)

    def _add_text(self, message: Message, data: Mapping[str, Any]) -> None:
        message["content"] = string(message.get("content")) + string(data.get("delta"))

    def _message(self, name: str, role: str) -> Message:
        if name not in self._named:
            self._named[name] = {"id": name, "role": role, "content": ""}
            self.messages.append(self._named[name])
        return self._named[name]

    def _call(self, data: Mapping[str, Any]) -> Message:
        name = string(data.get("toolCallId"))
        if name not in self._calls:
            parent = self._message(string(data.get("parentMessageId")) or name, "assistant")
            about = {"name": string(data.get("toolCallName")), "arguments": ""}
            call = {"id": name, "type": "function", "function": about}
            parent["toolCalls"] = [*elements(parent.get("toolCalls")), call]
            self._calls[name] = parent, call
        return self._calls[name][1]

    def _seal(self, name: str, value: str) -> None:
        owner = self._calls[name][1] if name in self._calls else self._named.get(name)
        if owner is not None:
            owner["encryptedValue"] = value

    def _replace(self, messages: list[Message]) -> None:
        of = {each.get("id"): each for each in messages}
        shows_thinking = any(each.get("role") == "reasoning" for each in messages)
        kept = [
            of.pop(each.get("id"), each)
            for each in self.messages
            if each.get("id") in of or (each.get("role") == "reasoning" and not shows_thinking)
        ]
        self.messages = [*kept, *of.values()]
        self._calls = {
            name: (message, call)
            for message in messages
            for call in map(mapping, elements(message.get("toolCalls")))
            if (name := string(call.get("id"))) in self._calls
        }
        self._named = {each.get("id"): each for each in self.messages}


def _ask(question: Question) -> dict[str, Any]:
    tools = [{"description": each.name, **each.fields("parameters")} for each in question.tools]
    return {
        "state": {},
        "messages": [{"id": "user-0", "role": "user", "content": question.text}],
        "tools": tools,
        "context": [],
        "forwardedProps": {},
    }


def _next_turns(after: Continuation) -> list[Any]:
    before = elements(after.request.get("messages"))
    shown = shown_messages(before, after.events, after.result_of)
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


def _read_entry(entry: Any) -> HistoryEntry:
    """A message: reasoning is the model's, and activities have no author."""
    fields = mapping(entry)
    text, name = spoken(fields.get("content")), string(fields.get("id"))
    if fields.get("role") == "reasoning":
        return HistoryEntry("model", id=name, thought=text)
    by = speaker(fields.get("role"))
    if by == "tool":
        return HistoryEntry(by, text, results=(string(fields.get("toolCallId")),), id=name)
    calls = [_read_call(each) for each in objects(fields.get("toolCalls"))]
    return HistoryEntry(by, text, tuple(calls), id=name)


def _read_call(call: Mapping[str, Any]) -> HistoryCall:
    function = mapping(call.get("function"))
    return history_call(call.get("id"), function.get("name"), function.get("arguments"))


def _message_name(event: Event) -> str:
    return string(event.data.get("id")) if event.type == "agui.held" else ""


TURNS: Final = HistoryForm("messages", listed("messages"), _read_entry, message_name=_message_name)
