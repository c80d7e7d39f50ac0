"""The messages that a user interface sends back are those that the protocol's client shows."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.core.events import Event
from conformance.dialects import get
from conformance.dialects.requests import Continuation, Question

Payload = dict[str, Any]


def of(kind: str, **fields: Any) -> Event:
    return Event(kind, fields, 1, "wire")


THOUGHT = [
    of("REASONING_START", messageId="m-1"),
    of("REASONING_MESSAGE_START", messageId="m-1"),
    of("REASONING_MESSAGE_CONTENT", messageId="m-1", delta="two "),
    of("REASONING_MESSAGE_CONTENT", messageId="m-1", delta="and two"),
]
SEALED = of("REASONING_ENCRYPTED_VALUE", subtype="message", entityId="m-1", encryptedValue="x")
SEALED_OF_NOBODY = of(
    "REASONING_ENCRYPTED_VALUE", subtype="message", entityId="step-1", encryptedValue="x"
)
CALL = [
    of("TOOL_CALL_START", toolCallId="c-1", toolCallName="sum", parentMessageId="m-2"),
    of("TOOL_CALL_ARGS", toolCallId="c-1", delta="{}"),
]
TEXT = [
    of("TEXT_MESSAGE_START", messageId="m-4"),
    of("TEXT_MESSAGE_CONTENT", messageId="m-4", delta="Four."),
]
RESULT = of("TOOL_CALL_RESULT", toolCallId="c-1", messageId="m-3", content="4")


def history(*events: Event, keeps_thinking: bool = True, question: str = "") -> list[Payload]:
    form = get("agui").request
    assert form is not None
    first = form.ask(Question("2 + 2?", 10, streams=True, thinks=True, summarises=False))
    after = Continuation(first, events, "", "", (), keeps_thinking, ("none",), question)
    return form.next_turns(after)


def briefly(messages: list[Payload]) -> list[str]:
    return [f"{each['role']} {each['id']}" for each in messages]


def test_messages_come_in_their_order_under_their_own_ids() -> None:
    shown = history(*THOUGHT, SEALED, *CALL, RESULT, *TEXT, question="And then?")
    assert briefly(shown) == [
        *("user user-0", "reasoning m-1", "assistant m-2", "tool m-3"),
        *("assistant m-4", "user user-1"),
    ]
    assert (shown[1]["content"], shown[1]["encryptedValue"]) == ("two and two", "x")
    assert shown[2]["toolCalls"][0]["function"] == {"name": "sum", "arguments": "{}"}


def test_a_call_that_nobody_answered_is_given_a_result_after_its_message() -> None:
    shown = history(*CALL, *TEXT)
    assert briefly(shown) == ["user user-0", "assistant m-2", "tool result-c-1", "assistant m-4"]
    assert shown[2]["content"] == "none"


def test_sealed_thinking_without_a_text_goes_back_and_an_empty_span_does_not() -> None:
    span = of("REASONING_START", messageId="m-1")
    assert briefly(history(span, SEALED)) == ["user user-0", "reasoning m-1"]
    assert briefly(history(span)) == ["user user-0"]


def test_a_sealed_value_of_no_message_is_dropped() -> None:
    """The protocol's own client does so; a message that nobody announced is nobody's history."""
    shown = history(*THOUGHT, SEALED_OF_NOBODY, *TEXT)
    assert briefly(shown) == ["user user-0", "reasoning m-1", "assistant m-4"]
    assert "encryptedValue" not in shown[1]


def test_no_thinking_goes_back_where_none_is_kept() -> None:
    shown = history(*THOUGHT, SEALED, *TEXT, keeps_thinking=False)
    assert briefly(shown) == ["user user-0", "assistant m-4"]


def snapshot(*messages: Payload) -> Event:
    return of("MESSAGES_SNAPSHOT", messages=list(messages))


@pytest.mark.parametrize(
    ("messages", "wanted"),
    [
        (
            [{"id": "user-0", "role": "user"}, {"id": "m-4", "role": "assistant", "content": "4"}],
            ["user user-0", "reasoning m-1", "assistant m-4"],
        ),
        (
            [{"id": "r", "role": "reasoning", "content": "hm"}, {"id": "m-4", "role": "assistant"}],
            ["assistant m-4", "reasoning r"],
        ),
    ],
)
def test_snapshot_takes_place_of_what_was_shown(messages: list[Payload], wanted: list[str]) -> None:
    assert briefly(history(*THOUGHT, *TEXT, snapshot(*messages))) == wanted


def test_a_call_whose_result_a_snapshot_has_is_not_given_another() -> None:
    asked = {"id": "c-1", "type": "function", "function": {"name": "sum", "arguments": "{}"}}
    called = {"id": "n-2", "role": "assistant", "toolCalls": [asked]}
    result = {"id": "n-3", "role": "tool", "toolCallId": "c-1", "content": "4"}
    answer = {"id": "n-4", "role": "assistant", "content": "Four."}
    user = {"id": "user-0", "role": "user"}
    shown = history(*CALL, *TEXT, snapshot(user, called, result, answer))
    assert briefly(shown) == ["user user-0", "assistant n-2", "tool n-3", "assistant n-4"]
    open_call = snapshot(user, called, answer)
    shown = history(*CALL, *TEXT, open_call)
    assert briefly(shown) == ["user user-0", "assistant n-2", "tool result-c-1", "assistant n-4"]
    more = of("TOOL_CALL_ARGS", toolCallId="c-1", delta=" ")
    assert history(*CALL, open_call, more)[1]["toolCalls"][0]["function"]["arguments"] == "{} "
    assert called["toolCalls"] == [asked]
    assert asked["function"] == {"name": "sum", "arguments": "{}"}


def test_messages_of_any_shape_are_borne() -> None:
    strange = snapshot({}, {"id": "m-4", "role": "assistant", "content": [1], "toolCalls": 5})
    call = of("TOOL_CALL_START", toolCallId="c", parentMessageId="m-4")
    shown = history(strange, *TEXT, call)
    assert [each.get("content") for each in shown if each.get("id") == "m-4"] == ["Four."]
