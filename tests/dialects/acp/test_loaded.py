"""What an agent replays of a session that is loaded, and what of that is wrong."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from conformance.dialects.acp import loaded
from conformance.judging.checker import Checker

CHECKER: Final = Checker("acp", "strict")
Update = dict[str, Any]
SESSION: Final = "sess-1"


def chunk(who: str, text: str) -> Update:
    return {"sessionUpdate": f"{who}_chunk", "content": {"type": "text", "text": text}}


def call(name: str, city: str, result: str = "", status: str = "completed") -> Update:
    content = [{"type": "content", "content": {"type": "text", "text": result}}] if result else []
    given = {"title": f"Weather of {city}", "rawInput": {"city": city}, "content": content}
    return {"sessionUpdate": "tool_call", "toolCallId": name, "status": status, **given}


ASKED: Final = chunk("user_message", "How warm is it in Bergen right now?")
THOUGHT: Final = chunk("agent_thought", "Bergen lies at the sea, so I ask the tool.")
BEFORE: Final = chunk("agent_message", "Let me look that up for you.")
CALLED: Final = call("c1", "Bergen", "14 degrees, rain")
SAID: Final = chunk("agent_message", "It is fourteen degrees in Bergen, with rain.")
ASKED_MORE: Final = chunk("user_message", "Is Oslo warmer than that?")
CALLED_MORE: Final = call("c2", "Oslo", "19 degrees, sun")
SAID_MORE: Final = chunk("agent_message", "Oslo is warmer.")
FIRST: Final = [ASKED, THOUGHT, BEFORE, CALLED, SAID]
SECOND: Final = [ASKED_MORE, CALLED_MORE, SAID_MORE]


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def response(number: int, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def news(update: Update, session: str = SESSION) -> dict[str, Any]:
    params = {"sessionId": session, "update": update}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def turn(
    number: int, asked: Update, *said: Update, reason: str = "end_turn"
) -> list[dict[str, Any]]:
    prompt = request(number, "session/prompt", sessionId=SESSION, prompt=[asked["content"]])
    return [prompt, *map(news, said), response(number, stopReason=reason)]


BEGUN: Final = [request(1, "session/new", cwd="/"), response(1, sessionId=SESSION)]
LOAD: Final = request(4, "session/load", sessionId=SESSION, cwd="/", mcpServers=[])
TURNS: Final = [*BEGUN, *turn(2, *FIRST), *turn(3, *SECOND)]


def broken(*messages: dict[str, Any]) -> list[str]:
    found = CHECKER.check([json.dumps(each).encode() + b"\n" for each in messages]).findings
    return [each.rule.removeprefix("wire/acp/") for each in found]


def replayed(*updates: Update) -> list[str]:
    return broken(*TURNS, LOAD, *map(news, updates), response(4))


@pytest.mark.parametrize(
    "updates",
    [
        pytest.param([*FIRST, *SECOND], id="whole"),
        pytest.param([each for each in [*FIRST, *SECOND] if each != THOUGHT], id="no thoughts"),
        pytest.param([chunk("user_message", "[note] "), *FIRST, *SECOND], id="in a frame"),
        pytest.param([*FIRST, *SECOND, chunk("agent_message", "Restored.")], id="a notice"),
        pytest.param([ASKED, THOUGHT, BEFORE, {**CALLED, "title": "exec"}, SAID, *SECOND],
                     id="titled otherwise"),
        pytest.param([ASKED, THOUGHT, BEFORE, call("h1", "Bergen", "14 degrees…"), SAID, *SECOND],
                     id="another id, and cut"),
        pytest.param([ASKED, THOUGHT, BEFORE, {**CALLED, "status": "pending"},
                      {**CALLED, "sessionUpdate": "tool_call_update"}, SAID, *SECOND],
                     id="a call with news"),
    ],
)  # fmt: skip
def test_a_replay_may_differ_in_form(updates: list[Update]) -> None:
    assert replayed(*updates) == []


@pytest.mark.parametrize(
    ("updates", "rule"),
    [
        ([], "load-replays"),
        (SECOND, "load-replays"),
        (FIRST, "load-replays"),
        ([*SECOND, *FIRST], "load-replays"),
        ([*FIRST[1:], *SECOND], "load-replays"),
        ([*FIRST, CALLED_MORE, SAID_MORE, ASKED_MORE], "load-replays"),
        ([ASKED, THOUGHT, CALLED, SAID, *SECOND], "load-replays"),
        ([*FIRST, *FIRST, *SECOND], "load-replays-once"),
        ([*FIRST, ASKED_MORE, *SECOND], "load-replays-once"),
        ([ASKED, THOUGHT, BEFORE, CALLED, CALLED, SAID, *SECOND], "load-replays-once"),
        ([*FIRST, THOUGHT, *SECOND], "load-replays-once"),
        ([ASKED, BEFORE, CALLED, SAID, *SECOND, THOUGHT], "load-replays-thoughts"),
        (
            [ASKED, chunk("agent_thought", "Bergen lies"), *FIRST[2:], *SECOND],
            "load-replays-thoughts",
        ),
        ([ASKED, THOUGHT, BEFORE, SAID, *SECOND], "load-replays-calls"),
        ([*FIRST, ASKED_MORE, call("c2", "Oslo"), SAID_MORE], "load-replays-calls"),
        (
            [*FIRST, ASKED_MORE, call("c2", "Lagos", "19 degrees, sun"), SAID_MORE],
            "load-replays-calls",
        ),
        (
            [*FIRST, ASKED_MORE, call("c2", "Oslo", "14 degrees, rain"), SAID_MORE],
            "load-replays-calls",
        ),
        (
            [*FIRST, ASKED_MORE, {**CALLED_MORE, "status": "failed"}, SAID_MORE],
            "load-replays-calls",
        ),
    ],
)
def test_a_fault_of_a_replay_is_one_finding(updates: list[Update], rule: str) -> None:
    assert replayed(*updates) == [f"{rule}"]


def test_a_replay_in_another_session_or_too_late_is_one_finding() -> None:
    whole = [*FIRST, *SECOND]
    elsewhere = (news(each, "sess-2") for each in whole)
    assert broken(*TURNS, LOAD, *elsewhere, response(4)) == ["update-of-session"]
    assert broken(*TURNS, LOAD, response(4), *map(news, whole)) == ["load-replays"]


def test_turns_that_need_not_come_back() -> None:
    cut = turn(3, *SECOND[:-1], reason="cancelled")
    assert broken(*BEGUN, *turn(2, *FIRST), *cut, LOAD, *map(news, FIRST), response(4)) == []
    compact = turn(5, chunk("user_message", "/compact"), chunk("agent_message", "Summed up."))
    summary = news(chunk("agent_message", "Bergen was warm."))
    assert broken(*TURNS, *compact, LOAD, summary, response(4)) == []
    resumed = request(4, "session/resume", sessionId=SESSION, cwd="/", mcpServers=[])
    assert broken(*TURNS, resumed, response(4)) == []


@pytest.mark.parametrize(("given", "found"), [({}, []), ({"city": "Rome"}, ["load-replays-calls"])])
def test_a_call_under_another_id_is_known_by_its_input_in_any_order(
    given: dict[str, Any], found: list[str]
) -> None:
    made = {**CALLED, "title": "", "rawInput": {"city": "Bergen", "unit": "C"}}
    again = {**made, "toolCallId": "h1", "rawInput": {"unit": "C", "city": "Bergen", **given}}
    once = [*BEGUN, *turn(2, ASKED, made, SAID)]
    assert broken(*once, LOAD, *map(news, (ASKED, again, SAID)), response(4)) == found


def test_of_too_much_nothing_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = [*FIRST, *SECOND, SAID]
    assert replayed(*twice) == ["load-replays-once"]
    monkeypatch.setattr(loaded, "_MOST_SEARCHED", 0)
    assert replayed(*twice) == []
