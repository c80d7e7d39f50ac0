"""A scenario as requests to record: what came decides what is asked next."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.core.errors import UsageError
from conformance.core.events import Chunk, Exchange, Response
from conformance.runs import RequestSettings, scenario_requests
from conformance.scenarios import load_scenarios
from conformance.targets.recording import DirectRequest

WAY = RequestSettings("m", 64)
CALL = {"index": 0, "id": "call_1", "type": "function"}
SAID: dict[str, dict[str, Any]] = {
    "called": {"tool_calls": [{**CALL, "function": {"name": "calculator", "arguments": "{}"}}]},
    "spoken": {"content": "5"},
}


def answer(said: str, number: int) -> Exchange:
    message = {"role": "assistant", "content": None, **SAID[said]}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "c", "object": "chat.completion", "choices": [choice]}
    head = Response(200, "1.1", (("content-type", "application/json"),))
    return Exchange(number=number, response=head, chunks=(Chunk(json.dumps(body).encode()),))


def asked(name: str, *said: str) -> tuple[list[DirectRequest], list[str]]:
    """The requests for these answers, and what was told."""
    told: list[str] = []
    (scenario,) = load_scenarios([name])
    questions = scenario_requests(scenario, "openai.chat", WAY, {"x-one": "1"}, tell=told.append)
    found = [next(questions)]
    for number, each in enumerate(said, 1):
        try:
            found.append(questions.send(answer(each, number)))
        except StopIteration:
            break
    return found, told


def test_a_follow_up_carries_on_what_was_answered() -> None:
    (first, second, third), told = asked("tools", "called", "spoken", "called")
    assert (first.scenario, first.role, first.after) == ("tools", "tool-turn", None)
    assert (second.role, second.after, third.role) == ("follow-up", 1, "tool-turn-body")
    assert second.body["messages"][-1] == {"role": "tool", "tool_call_id": "call_1", "content": "5"}
    assert told == []
    assert dict(first.headers)["x-one"] == "1"
    assert first.body["model"] == "m"


def test_a_step_that_cannot_be_taken_is_told_and_left_out() -> None:
    found, told = asked("tools", "spoken", "spoken")
    assert [each.role for each in found] == ["tool-turn", "tool-turn-body"]
    assert told == ["tools/follow-up was left out: continues tool-turn, which called no tool"]


@pytest.mark.parametrize(
    ("name", "dialect", "why"),
    [
        ("gateway-answer", "openai.chat", "is for gateways"),
        ("summary", "anthropic.messages", "has no request for anthropic.messages"),
    ],
)
def test_what_cannot_be_recorded_is_a_wrong_call(name: str, dialect: str, why: str) -> None:
    (scenario,) = load_scenarios([name])
    with pytest.raises(UsageError, match=why):
        scenario_requests(scenario, dialect, WAY)
