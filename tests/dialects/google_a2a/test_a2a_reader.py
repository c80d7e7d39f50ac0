"""Events of Agent2Agent: what is new in them, what is said again, and when a task is over."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import pytest

from conformance import dialects
from conformance.core.events import Chunk, Event, Exchange, Response
from conformance.core.reading import Reading
from conformance.dialects.google_a2a.repeated_texts import RepeatedTexts
from conformance.judging.transcript import read_transcript
from conformance.runs.step_requests import RequestSettings, known_values, step_request
from conformance.scenarios import load_scenarios
from tests.authoring.a2a import (
    LOCK,
    LOCK_TEXT,
    Agent,
    call,
    request_body,
    result,
    shown,
    streamed,
    text_part,
    thought,
)
from tests.dialects.payloads import read_payloads, texts_of
from tests.evidence.two_hops import broken_hops, chat, judged_hops, sse

DIALECT: Final = dialects.get("google.a2a")
BOTH: Final = pytest.mark.parametrize("version", ["0.3", "1.0"])


read = partial(read_payloads, "google.a2a")


def ends(events: list[Event]) -> list[str]:
    return [each.type for each in events if each.type in ("done", "error", "cut")]


@BOTH
@pytest.mark.parametrize("expected", [streamed, shown])
def test_what_is_repeated_is_reported_once(expected: Any, version: str) -> None:
    events = read(*expected(Agent(version)))
    assert texts_of(events, "text.delta") == LOCK_TEXT
    assert texts_of(events, "thinking.delta").endswith(LOCK)
    assert texts_of(events, "thinking.delta").count(LOCK) == 1
    assert ends(events) == ["done"]


@BOTH
def test_the_work_is_distinguished_from_the_answer(version: str) -> None:
    agent = Agent(version)
    status = agent.status("working", [text_part("I look.")])
    events = read(
        agent.task(), status, agent.artifact([text_part("At one.")]), agent.status("completed")
    )
    spoken = [(e.data["text"], e.data.get("phase")) for e in events if e.type == "text.delta"]
    assert spoken == [("I look.", "commentary"), ("At one.", None)]


@pytest.mark.parametrize(
    ("last", "end"),
    [
        ({"state": "completed"}, ["done"]),
        ({"state": "input-required", "parts": [text_part("Which?")]}, ["done"]),
        ({"state": "working"}, ["cut"]),
        ({"state": "failed", "parts": [text_part("It is away.")]}, ["error", "cut"]),
    ],
)
@BOTH
def test_a_task_is_over_as_its_last_state_says(version: str, last: Any, end: Any) -> None:
    agent = Agent(version)
    assert ends(read(agent.task(), agent.status(**last))) == end


@BOTH
def test_a_call_is_one_however_often_it_is_shown(version: str) -> None:
    agent = Agent(version)
    step = [thought("Look."), call("read", {"n": 1}, "c", "c2ln")]
    given = agent.artifact([result("read", "c", "shut")])
    events = read(agent.status("working", step), agent.artifact(step), given)
    assert [e.data["name"] for e in events if e.type == "tool.start"] == ["read"]
    assert [e.data["data"] for e in events if e.type == "thinking.opaque"] == ["c2ln"]


def test_another_id_than_that_of_the_request_is_reported() -> None:
    task, status = Agent().task(), {**Agent().status("completed"), "id": 7}
    events = read(task, status, request=request_body())
    assert [e.data["foreign_id"] for e in events if "foreign_id" in e.data] == [False, True]


def test_another_task_is_another_answer() -> None:
    agent = Agent()
    later = agent.task()
    later["result"] = {**later["result"], "id": "later"}
    events = read(agent.task(), agent.status("completed"), later)
    assert [e.answer for e in events if e.type == "a2a.task"] == [1, 2]


def test_a_whole_answer_is_done_when_it_is_there() -> None:
    events = read(Agent().task("working"), kind="body")
    assert ends(events) == ["done"]
    assert events[0].type == "a2a.body"


@pytest.mark.parametrize(
    ("pieces", "text", "elsewhere", "known"),
    [
        (["a", "b"], "ab", False, 2),
        (["a", "b"], "abc", False, 2),
        (["x", "a", "b"], "ab", False, 2),
        (["data", "a"], "a", False, 0),
        (["data", "a"], "a", True, 1),
        (["a", "b"], "b.", False, 0),
        ([], "a", True, 0),
    ],
)
def test_only_known_texts_repeat(pieces: list[str], text: str, elsewhere: bool, known: int) -> None:
    texts = RepeatedTexts()
    for each in pieces:
        texts.add(each)
    assert texts.repeated(text, is_elsewhere=elsewhere) == known
    assert texts.repeated(text, is_elsewhere=elsewhere) == (len(text) if known else 0)


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
    found = [agent.task(), agent.artifact([text_part("At one.")]), agent.status("completed")]
    asked = step_request(first, NAME, known_values(first, lambda _: None, NAME, SETTINGS), SETTINGS)
    head = Response(headers=(("content-type", "text/event-stream"),))
    answer = Exchange(
        number=1, request=asked, response=head, chunks=(Chunk(sse(found).encode()),), dialect=NAME
    )
    read = read_transcript(answer, dialects.get(NAME), Reading(), keep="wire")
    values = known_values(later, lambda _: read, NAME, SETTINGS)
    next_one = step_request(later, NAME, values, SETTINGS, answer)
    assert "contextId" not in message(asked)
    assert message(next_one)["contextId"] == found[0]["result"]["contextId"]
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
def test_agent_need_not_show_what_it_thinks_and_calls(shown: list[Any], broken: set[str]) -> None:
    agent = Agent("0.3")
    parts = [agent.status("working", [each]) for each in shown]
    events = [
        agent.task(),
        *parts,
        agent.artifact([text_part("At one.")]),
        agent.status("completed"),
    ]
    first = chat({"reasoning_content": "Hm, a tide."}, {"tool_calls": [CALL]}, reason="tool_calls")
    found = judged_hops((NAME, sse(events)), first, chat({"content": "At one."}))
    assert broken_hops(found) == broken
