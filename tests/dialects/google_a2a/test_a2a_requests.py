"""What a run asks an agent of Agent2Agent, and what its answer need not show."""

from __future__ import annotations

from typing import Any, Final

import pytest

from conformance import dialects
from conformance.core.events import Chunk, Exchange, Response
from conformance.core.reading import Reading
from conformance.judging.transcript import read_transcript
from conformance.runs.step_requests import RequestSettings, known_values, step_request
from conformance.scenarios import load_scenarios
from tests.authoring.a2a import Agent, call, said, thought
from tests.evidence.two_hops import broken_hops, chat, judged_hops, sse

NAME: Final = "google.a2a"
SETTINGS: Final = RequestSettings("m", 64)
CALL: Final = {
    "index": 0,
    "id": "c",
    "type": "function",
    "function": {"name": "look", "arguments": "{}"},
}


def message(asked: Any) -> Any:
    return asked.json["params"]["message"]


def test_a_message_that_carries_on_names_the_context_and_is_a_message_of_its_own() -> None:
    (scenario,) = load_scenarios(["app-answer"])
    first, later = scenario.steps
    agent = Agent("0.3")
    told = [agent.task(), agent.artifact([said("At one.")]), agent.status("completed")]
    asked = step_request(first, NAME, known_values(first, lambda _: None, NAME, SETTINGS), SETTINGS)
    head = Response(headers=(("content-type", "text/event-stream"),))
    answer = Exchange(
        number=1, request=asked, response=head, chunks=(Chunk(sse(told).encode()),), dialect=NAME
    )
    read = read_transcript(answer, dialects.get(NAME), Reading(), keep="wire")
    values = known_values(later, lambda _: read, NAME, SETTINGS)
    next_one = step_request(later, NAME, values, SETTINGS, answer)
    assert "contextId" not in message(asked)
    assert message(next_one)["contextId"] == told[0]["result"]["contextId"]
    assert message(next_one)["messageId"] != message(asked)["messageId"]


@pytest.mark.parametrize(
    ("shown", "broken"),
    [
        ([], set[str]()),
        ([thought("Hm.")], {"hop/thinking"}),
        ([thought("Hm, a tide.")], set[str]()),
        ([call("seek", {}, "c", "")], {"hop/tools"}),
    ],
)
def test_an_agent_need_not_show_what_it_thinks_and_calls(
    shown: list[Any], broken: set[str]
) -> None:
    agent = Agent("0.3")
    parts = [agent.status("working", [each]) for each in shown]
    told = [agent.task(), *parts, agent.artifact([said("At one.")]), agent.status("completed")]
    first = chat({"reasoning_content": "Hm, a tide."}, {"tool_calls": [CALL]}, reason="tool_calls")
    found = judged_hops((NAME, sse(told)), first, chat({"content": "At one."}))
    assert broken_hops(found) == broken
