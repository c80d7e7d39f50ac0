"""What an agent's side is told of the client's: sessions that it knows, requests that wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.core.events import Event

ReadStream = Callable[..., list[Event]]
NEW = {"id": 1, "method": "session/new", "params": {"cwd": "/"}}
MADE = {"id": 1, "result": {"sessionId": "a"}}
PROMPT = {"id": 2, "method": "session/prompt", "params": {"sessionId": "a", "prompt": []}}
SAID: dict[str, Any] = {
    "method": "session/update",
    "params": {
        "sessionId": "a",
        "update": {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": "4."},
        },
    },
}
STOPPED = {"id": 2, "result": {"stopReason": "end_turn"}}
BESIDE = {"id": 3, "method": "session/prompt", "params": {"sessionId": "b", "prompt": []}}


def update(session: Any) -> dict[str, Any]:
    news = {"sessionUpdate": "plan", "entries": []}
    return {"method": "session/update", "params": {"sessionId": session, "update": news}}


@pytest.mark.parametrize(
    ("frames", "known"),
    [
        pytest.param([update("a")], None, id="the client's side is not there"),
        pytest.param([NEW, update("a")], None, id="the session is being made"),
        pytest.param([PROMPT, NEW, update("b")], None, id="another one is being made"),
        pytest.param([NEW, MADE, update("a")], True, id="made"),
        pytest.param([PROMPT, update("a")], True, id="prompted"),
        pytest.param([PROMPT, update("b")], False, id="of nobody"),
        pytest.param([PROMPT, update(["a"])], False, id="no name"),
        pytest.param([SAID, update("a")], True, id="the turn began in it"),
        pytest.param([SAID, update("b")], False, id="the turn began in another one"),
        pytest.param([SAID, STOPPED, update("b")], None, id="the turn is over"),
    ],
)
def test_session_is_known(frames: list[Any], known: bool | None, read_stream: ReadStream) -> None:
    (plan,) = [event for event in read_stream("acp", frames) if event.type == "plan"]
    assert plan.data.get("session_known") is known


@pytest.mark.parametrize(
    ("frames", "known"),
    [
        pytest.param([], None, id="the client's side is not there"),
        pytest.param([{**PROMPT, "id": 7}], True, id="answered"),
        pytest.param([PROMPT], False, id="of another id"),
        pytest.param([{**NEW, "id": 7}], False, id="of another kind"),
    ],
)
def test_response_is_known(frames: list[Any], known: bool | None, read_stream: ReadStream) -> None:
    answer = {"id": 7, "result": {"stopReason": "end_turn"}}
    events = read_stream("acp", [*frames, answer])
    (response,) = [event for event in events if event.type == "prompt.response"]
    assert response.data.get("request_known") is known


def kinds(events: list[Event]) -> list[str]:
    return [event.type for event in events if event.type in ("prompt.response", "finish", "done")]


def test_sessions_that_overlap_are_one_answer(read_stream: ReadStream) -> None:
    events = read_stream("acp", [PROMPT, BESIDE, SAID, STOPPED, {**STOPPED, "id": 3}])
    assert kinds(events) == ["prompt.response", "prompt.response", "finish", "done"]
    sessions = [e.data["sessionId"] for e in events if e.type == "prompt.response"]
    assert sessions == ["a", "b"]
    assert {event.answer for event in events} == {1}


def test_a_response_is_of_the_session_of_its_turn(read_stream: ReadStream) -> None:
    def session(*frames: Any) -> Any:
        (response,) = [e for e in read_stream("acp", frames) if e.type == "prompt.response"]
        return response.data.get("sessionId")

    other = {**SAID, "params": {**SAID["params"], "sessionId": "b"}}
    assert session(SAID, STOPPED) == "a"
    assert session(SAID, other, STOPPED) is None, "nobody knows whose it is"
    assert session(PROMPT, other, STOPPED) == "a"


def test_what_a_loaded_session_repeats_is_no_answer(read_stream: ReadStream) -> None:
    load = {"id": 4, "method": "session/load", "params": {"sessionId": "a"}}
    frames = [load, SAID, update("b"), {"id": 4, "result": None}, PROMPT, SAID, STOPPED]
    events = read_stream("acp", frames)
    chunks = [each for each in events if each.type == "agent_message_chunk"]
    assert [each.data.get("replayed") for each in chunks] == [True, None]
    assert [each.number for each in events if each.type == "text.delta"] == [6]
    assert all("replayed" not in each.data for each in events if each.type == "plan")
