"""Calls that agents state twice: what may differ between a call that came and the one that ran."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from conformance.judging.checker import Checker
from conformance.rules.verdicts import Verdict
from tests.authoring.copilot import event, message, turn

NAMED: Final = {"toolCallId": "c", "toolName": "look"}
RUNS: Final = event("tool.execution_start", {**NAMED, "arguments": {}})


def lines(dialect: str, rule: str, *payloads: Any) -> Verdict:
    body = [f"{json.dumps(each)}\n".encode() for each in payloads]
    return Checker(dialect, rules=[rule]).check(body).verdicts[rule]


def delta(text: str, kind: str = "function") -> dict[str, Any]:
    named = {**NAMED, "toolType": kind, "inputDelta": text}
    return event("assistant.tool_call_delta", named)


def requested(arguments: Any, name: str = "look", call_id: str = "c") -> dict[str, Any]:
    return message(0, "", {"toolCallId": call_id, "name": name, "arguments": arguments})


@pytest.mark.parametrize(
    ("events", "wanted"),
    [
        ([delta('{"a": '), delta("1}"), requested({"a": 1})], Verdict.PASS),
        ([delta("*** Begin", "custom"), requested({"input": "*** Begin"})], Verdict.PASS),
        ([delta('{"a": 1}'), requested({"a": 2})], Verdict.FAIL),
        ([delta('{"a": 1}'), requested({"a": 1}, "find")], Verdict.FAIL),
        ([delta('{"a": 1}'), requested({"a": 1}, "look", "d")], Verdict.FAIL),
        ([delta('{"a":'), event("assistant.turn_retry", {}), requested({})], Verdict.VACUOUS),
        ([{**delta("{}"), "agentId": "sub"}, message(0, "Yes.")], Verdict.VACUOUS),
        ([requested({"a": 1})], Verdict.VACUOUS),
    ],
    ids=["spaces", "custom", "altered", "renamed", "other id", "again", "subagent", "not streamed"],
)
def test_copilot_requests_the_calls_that_were_streamed(events: Any, wanted: Verdict) -> None:
    assert lines("copilot.cli", "wire/copilot/calls-agree", *turn(0, events)) is wanted


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ([requested({})], Verdict.PASS),
        ([event("tool.user_requested", {"toolCallId": "c", "toolName": "look"})], Verdict.VACUOUS),
        ([requested({}, "look", "d")], Verdict.FAIL),
        ([message(0, "Yes.")], Verdict.FAIL),
    ],
    ids=["by a message", "by the user", "another", "by none"],
)
def test_a_tool_of_copilot_runs_as_somebody_asked(before: Any, wanted: Verdict) -> None:
    events = turn(0, [*before, RUNS])
    assert lines("copilot.cli", "wire/copilot/tool-requested", *events) is wanted
    of_agent = [*before, {**RUNS, "agentId": "sub"}]
    found = lines("copilot.cli", "wire/copilot/tool-requested", *turn(0, of_agent))
    assert found is Verdict.VACUOUS


@pytest.mark.parametrize(
    ("call_id", "name", "wanted"),
    [
        ("a", "look", Verdict.PASS),
        ("a", "find", Verdict.FAIL),
        ("b", "find", Verdict.VACUOUS),  # of no call: another rule speaks of that
    ],
)
def test_a_result_of_adk_names_the_tool_of_its_call(
    call_id: str, name: str, wanted: Verdict
) -> None:
    call = {"functionCall": {"id": "a", "name": "look", "args": {}}}
    result = {"functionResponse": {"id": call_id, "name": name, "response": {}}}
    events = [
        {"author": "x", "invocationId": "e", "content": {"role": role, "parts": [part]}}
        for role, part in (("model", call), ("user", result))
    ]
    rule = "wire/adk/result-named"
    body = [f"data: {json.dumps(each)}\n\n".encode() for each in events]
    assert Checker("google.adk", rules=[rule]).check(body).verdicts[rule] is wanted


DONE: Final = {"type": "tool_call.success", "tool": "add", "arguments": {"a": 1}, "output": "4"}
LISTED: Final = {"type": "tool_call", "tool": "add", "arguments": {"a": 1}, "output": "4"}
REFUSED: Final = {"type": "invalid_tool_call", "reason": "no tool", "metadata": {"tool_name": "x"}}


@pytest.mark.parametrize(
    ("rule", "output", "wanted"),
    [
        ("arguments", [REFUSED, LISTED], Verdict.PASS),
        ("outputs", [REFUSED, {**LISTED, "provider_info": {}}], Verdict.PASS),
        ("arguments", [{**LISTED, "arguments": {"a": 2}}], Verdict.FAIL),
        ("outputs", [{**LISTED, "output": "5"}], Verdict.FAIL),
    ],
)
def test_lm_studio_states_again_what_its_calls_did(rule: str, output: Any, wanted: Verdict) -> None:
    ended = {"type": "chat.end", "result": {"output": output, "stats": {}}}
    rule = f"wire/lmstudio/result-states-{rule}"
    body = [
        f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode()
        for each in ({"type": "chat.start", "model_instance_id": "m"}, DONE, ended)
    ]
    assert Checker("lmstudio.chat", rules=[rule]).check(body).verdicts[rule] is wanted
