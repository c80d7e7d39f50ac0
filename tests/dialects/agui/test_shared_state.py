"""Whether deltas apply: JSON Patch as RFC 6902 has it, and the state that is known."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.dialects.agui.shared_state import (
    PatchedState,
    PatchError,
    SharedState,
    UnknownStateError,
)
from conformance.dialects.agui.streamed import MOST_CALLS, StreamedCalls, StreamedTexts
from conformance.judging.checker import Checker

STATE: dict[str, Any] = {"a": 1, "list": [1, 2], "x/y": {"~": 0}, "deep": {"b": [{"c": None}]}}
APPLY: list[list[dict[str, Any]]] = [
    [],
    [{"op": "add", "path": "/new", "value": None}],
    [{"op": "add", "path": "", "value": {"b": 1}}, {"op": "test", "path": "/b", "value": 1}],
    [{"op": "add", "path": "/list/-", "value": 3}, {"op": "test", "path": "/list/2", "value": 3}],
    [{"op": "add", "path": "/list/0", "value": 3}, {"op": "test", "path": "/list/1", "value": 1}],
    [{"op": "add", "path": "/list/2", "value": 3}],
    [{"op": "remove", "path": "/list/0"}, {"op": "test", "path": "/list", "value": [2]}],
    [{"op": "replace", "path": "/x~1y/~0", "value": 1}],
    [{"op": "replace", "path": "", "value": 1}, {"op": "test", "path": "", "value": 1.0}],
    [{"op": "move", "from": "/a", "path": "/b"}, {"op": "test", "path": "/b", "value": 1}],
    [{"op": "copy", "from": "/deep", "path": "/a"}, {"op": "remove", "path": "/deep/b/0/c"},
     {"op": "test", "path": "/a/b/0/c", "value": None}],
    [{"op": "test", "path": "/deep/b/0/c", "value": None}],
]  # fmt: skip
REFUSED: list[Any] = [
    [{"op": "replace", "path": "/new", "value": 1}],
    [{"op": "remove", "path": "/list/2"}],
    [{"op": "remove", "path": "/list/-"}],
    [{"op": "remove", "path": "/list/00"}],
    [{"op": "add", "path": "/list/3", "value": 1}],
    [{"op": "add", "path": "/none/b", "value": 1}],
    [{"op": "add", "path": "/a/b", "value": 1}],
    [{"op": "add", "path": "/new"}],
    [{"op": "add", "path": "new", "value": 1}],
    [{"op": "add", "value": 1}],
    [{"op": "test", "path": "/a", "value": True}],
    [{"op": "test", "path": "/a", "value": 2}],
    [{"op": "move", "from": "/none", "path": "/b"}],
    [{"op": "set", "path": "/a", "value": 1}],
    [{"op": ["add"], "path": "/a", "value": 1}],
    ["add"],
    [None],
]


@pytest.mark.parametrize("operations", APPLY)
def test_a_patch_applies(operations: list[Any]) -> None:
    PatchedState(STATE).patch(operations)
    assert STATE["list"] == [1, 2], "what was stated stays as it was"


@pytest.mark.parametrize("operations", REFUSED)
def test_a_patch_does_not_apply(operations: list[Any]) -> None:
    with pytest.raises(PatchError):
        PatchedState(STATE).patch(operations)


def test_a_state_that_doubles_is_followed_no_more() -> None:
    doubled = {"op": "copy", "from": "", "path": "/again"}
    with pytest.raises(UnknownStateError):
        PatchedState({"a": "x" * 1000}).patch([doubled] * 400)


def test_a_deep_state_is_followed_no_more() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(UnknownStateError):
        PatchedState(deep)


def verdict(state: SharedState, delta: Any) -> bool | None:
    return state.take("STATE_DELTA", {"delta": delta}).get("applies")


def test_a_state_is_known_by_request_or_snapshot() -> None:
    state = SharedState()
    remove = [{"op": "remove", "path": "/a"}]
    assert verdict(state, remove) is None, "nobody knows the state"
    assert verdict(state, {"a": 2}) is False, "but that this is no patch"
    state.begin_with({"state": {"a": 1}})
    assert verdict(state, remove) is True
    assert verdict(state, remove) is False
    assert verdict(state, remove) is None, "until the next snapshot"
    state.take("STATE_SNAPSHOT", {"snapshot": {"a": 1}})
    assert verdict(state, remove) is True


def test_an_activity_has_a_state_of_its_own() -> None:
    state = SharedState()
    state.take("ACTIVITY_SNAPSHOT", {"messageId": "m", "content": {"n": 1}})
    patch = [{"op": "replace", "path": "/n", "value": 2}]
    assert state.take("ACTIVITY_DELTA", {"messageId": "m", "patch": patch}) == {"applies": True}
    assert state.take("ACTIVITY_DELTA", {"messageId": "other", "patch": patch}) == {}


def held(*events: tuple[str, str, str], **stated: str) -> dict[str, bool]:
    streamed = StreamedTexts()
    for kind, name, delta in events:
        streamed.take(kind, {"messageId": name, "delta": delta} if name else {"delta": delta})
    return streamed.held_against([{"id": key, "content": text} for key, text in stated.items()])


ANSWER = (
    ("TEXT_MESSAGE_START", "m", ""),
    ("TEXT_MESSAGE_CONTENT", "m", "It is "),
    ("TEXT_MESSAGE_CONTENT", "m", "four."),
    ("TEXT_MESSAGE_END", "m", ""),
)
CHUNKS = (("TEXT_MESSAGE_CHUNK", "m", "It is "), ("TEXT_MESSAGE_CHUNK", "", "four."))


@pytest.mark.parametrize("events", [ANSWER, CHUNKS])
def test_a_snapshot_is_held_against_what_was_streamed(events: tuple[Any, ...]) -> None:
    same = {"adds_text": False, "renames": False}
    assert held(*events, m="It is four.") == same
    assert held(*events, m="It is four. Or so.") == {**same, "adds_text": True}
    assert held(*events, m="It is") == same, "what is lost is another rule's business"
    assert held(*events, z="It is four.") == {"renames": True}
    assert held(*events, z="It is five.") == {"renames": False}
    assert held(("TEXT_MESSAGE_CHUNK", "n", "So. "), *events, m="So.\nIt is four.") == same


def test_an_open_message_is_not_compared() -> None:
    assert held(*ANSWER[:2], m="It is four.", z="It is ") == {}


RUN = {"threadId": "t", "runId": "r"}
BEGUN = {"type": "RUN_STARTED", **RUN}
OVER = {"type": "RUN_FINISHED", **RUN}
CALLED: list[dict[str, Any]] = [
    {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "tide"},
    {"type": "TOOL_CALL_END", "toolCallId": "c"},
]
RESULT = {"type": "TOOL_CALL_RESULT", "messageId": "o", "toolCallId": "c", "content": "noon"}
CHUNK = {"type": "TOOL_CALL_CHUNK", "toolCallId": "c", "toolCallName": "tide", "delta": "{}"}
ANSWERED: list[dict[str, Any]] = [
    {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "At noon."},
    {"type": "TEXT_MESSAGE_END", "messageId": "m"},
]
FUNCTION = {"id": "c", "type": "function", "function": {"name": "tide", "arguments": ""}}
ASKED = {"id": "a", "role": "assistant", "toolCalls": [FUNCTION]}
TOLD = {"id": "o", "role": "tool", "toolCallId": "c", "content": "noon"}
SAID = {"id": "m", "role": "assistant", "content": "At noon."}


def snapshot(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"type": "MESSAGES_SNAPSHOT", "messages": list(messages)}


def failing(*events: dict[str, Any], profile: str = "strict") -> set[str]:
    stream = "".join(f"data: {json.dumps(each)}\n\n" for each in events)
    result = Checker("agui", profile).check([stream.encode()])
    return {finding.rule.removeprefix("wire/agui/") for finding in result.findings}


LEGAL = {
    "the result came": [BEGUN, *CALLED, RESULT, *ANSWERED, OVER],
    "and is in the snapshot": [*CALLED, RESULT, *ANSWERED, snapshot(ASKED, TOLD, SAID)],
    "a snapshot is ahead of the event": [*CALLED, snapshot(ASKED, TOLD), RESULT, *ANSWERED],
    "the interface carries the call out": [*CALLED, OVER, BEGUN, *ANSWERED],
    "and states its result in the next run": [
        *CALLED,
        OVER,
        BEGUN,
        *ANSWERED,
        snapshot(ASKED, TOLD, SAID),
    ],
    "the model fell silent": [*CALLED],
    "the model said more in the same answer": [*CALLED, *ANSWERED],
    "a snapshot of another thread": [snapshot(TOLD), *ANSWERED],
    "chunks": [CHUNK, RESULT, *ANSWERED],
}
DROPPED = {
    "the snapshot alone has it": ([*CALLED, snapshot(ASKED, TOLD)], "call-answered"),
    "of chunks": ([CHUNK, *ANSWERED, snapshot(ASKED, TOLD)], "call-answered"),
    "the snapshot lacks it": ([*CALLED, RESULT, snapshot(ASKED)], "snapshot-has-calls"),
    "and the call": ([*CALLED, RESULT, snapshot(TOLD)], "snapshot-has-calls"),
    "it is another one": (
        [*CALLED, RESULT, snapshot(ASKED, {**TOLD, "content": "nine"})],
        "snapshot-result-agrees",
    ),
}


def of_calls(events: list[dict[str, Any]]) -> set[str]:
    found = failing(*([] if events[0] is BEGUN else [BEGUN]), *events, OVER)
    return found & {"call-answered", "snapshot-has-calls", "snapshot-result-agrees"}


@pytest.mark.parametrize("events", LEGAL.values(), ids=LEGAL)
def test_results_that_are_where_they_belong(events: list[dict[str, Any]]) -> None:
    assert of_calls(events) == set()


@pytest.mark.parametrize(("events", "rule"), DROPPED.values(), ids=DROPPED)
def test_results_that_are_dropped(events: list[dict[str, Any]], rule: str) -> None:
    assert of_calls(events) == {rule}


@pytest.mark.parametrize("profile", ["strict", "before-0.1.11"])
def test_a_delta_of_the_earlier_protocol_that_holds_no_text(profile: str) -> None:
    thought = [
        {"type": "THINKING_START"},
        {"type": "THINKING_TEXT_MESSAGE_START"},
        {"type": "THINKING_TEXT_MESSAGE_CONTENT", "text": "Low tide."},
        {"type": "THINKING_TEXT_MESSAGE_END"},
        {"type": "THINKING_END"},
    ]
    assert "carries" in failing(BEGUN, *thought, *ANSWERED, OVER, profile=profile)


def test_too_many_calls_are_compared_no_more() -> None:
    calls = StreamedCalls()
    for number in range(MOST_CALLS + 1):
        calls.take("TOOL_CALL_START", {"toolCallId": f"c{number}"})
    assert calls.held_against([]) == {}
