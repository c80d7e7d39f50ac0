"""Events of an AG-UI run, one by one; `run` adds its start and its end."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, Final

from tests.authoring.pieces import Fields, Message, characters, compact, deltas

RUN: Final[Fields] = {"threadId": "thread-1", "runId": "run-1"}


def event(kind: str, **fields: Any) -> Fields:
    return {"type": kind, **fields}


def text(message_id: str, said: str) -> list[Fields]:
    """A message that the user reads."""
    pieces = [event("TEXT_MESSAGE_CONTENT", messageId=message_id, delta=d) for d in deltas(said)]
    start = event("TEXT_MESSAGE_START", messageId=message_id, role="assistant")
    return [start, *pieces, event("TEXT_MESSAGE_END", messageId=message_id)]


def thought(message_id: str, said: str) -> list[Fields]:
    """A message of reasoning, without the span around it."""
    pieces = [
        event("REASONING_MESSAGE_CONTENT", messageId=message_id, delta=d) for d in deltas(said)
    ]
    start = event("REASONING_MESSAGE_START", messageId=message_id, role="reasoning")
    return [start, *pieces, event("REASONING_MESSAGE_END", messageId=message_id)]


def sealed(message_id: str, value: str) -> Fields:
    """What is to be returned with a message, and read by nobody."""
    owner = {"subtype": "message", "entityId": message_id}
    return event("REASONING_ENCRYPTED_VALUE", **owner, encryptedValue=value)


def span(span_id: str, *parts: list[Fields]) -> list[Fields]:
    """A stretch of reasoning."""
    start, end = (
        event("REASONING_START", messageId=span_id),
        event("REASONING_END", messageId=span_id),
    )
    return [start, *chain.from_iterable(parts), end]


def earlier_thought(text: str) -> list[Fields]:
    """Reasoning as protocol 0.1.10 has it."""
    pieces = [event("THINKING_TEXT_MESSAGE_CONTENT", delta=piece) for piece in deltas(text)]
    start, end = event("THINKING_TEXT_MESSAGE_START"), event("THINKING_TEXT_MESSAGE_END")
    return [event("THINKING_START"), start, *pieces, end, event("THINKING_END")]


def call(call_id: str, name: str, arguments: Fields, result: str) -> list[Fields]:
    """A call with its result."""
    pieces = characters(compact(arguments), 6)
    return [
        event("TOOL_CALL_START", toolCallId=call_id, toolCallName=name),
        *(event("TOOL_CALL_ARGS", toolCallId=call_id, delta=each) for each in pieces),
        event("TOOL_CALL_END", toolCallId=call_id),
        event("TOOL_CALL_RESULT", toolCallId=call_id, messageId=f"of-{call_id}", content=result),
    ]


def step(name: str, *parts: list[Fields]) -> list[Fields]:
    """A named phase of the run."""
    start, end = event("STEP_STARTED", stepName=name), event("STEP_FINISHED", stepName=name)
    return [start, *chain.from_iterable(parts), end]


def snapshot(*messages: Fields) -> Fields:
    return event("MESSAGES_SNAPSHOT", messages=list(messages))


def run(parts: Iterable[list[Fields]], version: str = "1.0", **named: str) -> tuple[Message, ...]:
    """A whole stream; without a version it is one of the earlier protocol."""
    ids = {**RUN, **named}
    stated = {"protocolVersion": version} if version else {}
    outcome = {"outcome": {"type": "success"}} if version else {}
    begun, over = event("RUN_STARTED", **ids, **stated), event("RUN_FINISHED", **ids, **outcome)
    return tuple(map(Message, [begun, *chain.from_iterable(parts), over]))


def run_input(question: str) -> Fields:
    message = {"id": "user-1", "role": "user", "content": question}
    rest: Fields = {"state": {}, "tools": [], "context": [], "forwardedProps": {}}
    return {**RUN, "messages": [message], **rest}
