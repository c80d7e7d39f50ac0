"""AG-UI: results of calls that a run goes on from, and what its snapshots state of calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.dialects.agui.streamed import MOST_CALLS, StreamedCalls
from conformance.judging.checker import Checker

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
