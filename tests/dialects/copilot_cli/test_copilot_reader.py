"""Lines of Copilot: what they give, and what they end with."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from conformance import dialects
from conformance.core.events import Event
from conformance.recordings.check import check_paths
from tests.authoring.copilot import (
    event,
    message,
    message_events,
    reasoning,
    run,
    thought,
    turn,
)
from tests.dialects.payloads import read_payloads, texts_of, types_of

DIALECT = dialects.get("copilot.cli")
ENDS = {"thinking.end", "text.end", "tool.end", "error", "done", "cut"}
IDLE = event("assistant.idle", {})
ERROR = event("session.error", {"errorType": "query", "message": "gone"})


def read(payloads: Iterable[Any]) -> list[Event]:
    return read_payloads("copilot.cli", *payloads, kind="line")


def test_a_thought_then_text_and_the_end() -> None:
    lines = run(turn(0, thought(0, "a b"), message_events(1, "c d")))
    assert types_of(read(each.payload for each in lines)) == [
        *("message.start", "thinking.start", "thinking.delta", "thinking.end"),
        *("text.start", "text.delta", "text.end", "done"),
    ]


def test_complete_events_are_reported_once() -> None:
    request = {"toolCallId": "x", "name": "look", "arguments": {"a": 1}}
    whole = [message(0, "b", request, reasoningText="a"), reasoning(0, "a"), IDLE]
    events = read(whole)
    assert (texts_of(events, "thinking.delta"), texts_of(events, "text.delta")) == (
        "a",
        "b",
    )
    (call,) = [each.data for each in events if each.type == "tool.end"]
    assert (call["name"], call["arguments"], call["hosted"]) == ("look", '{"a":1}', True)
    assert texts_of(read([*whole[:-1], message(0, "b"), IDLE]), "text.delta") == "b"


def test_what_was_begun_before_is_stated() -> None:
    events = read([*message_events(1, "a"), reasoning(0, "b"), IDLE])
    stated = {each.type: each.data.get("stated") for each in events if each.layer == "wire"}
    assert (stated["assistant.message"], stated["assistant.reasoning"]) == ("a", None)


def test_sealed_reasoning_is_opaque() -> None:
    events = read([message(0, "a", reasoningOpaque="c2VhbA=="), IDLE])
    assert [each.data["data"] for each in events if each.type == "thinking.opaque"] == ["c2VhbA=="]


def test_a_subagent_says_nothing() -> None:
    events = read({**each, "agentId": "a-1"} for each in turn(0, message_events(1, "a")))
    assert types_of(events) == ["cut"]


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ([*thought(0, "a"), event("assistant.turn_retry", {}), IDLE], ["thinking.end", "done"]),
        ([*thought(0, "a"), ERROR, IDLE], ["thinking.end", "error"]),
        ([*thought(0, "a")], ["thinking.end", "cut"]),
        ([IDLE, event("session.idle", {}), {"type": "result", "exitCode": 0}], ["done"]),
        ([event("session.other", {}), {"type": 1}], ["cut"]),
    ],
)
def test_what_comes_to_an_end(lines: list[Any], wanted: list[str]) -> None:
    assert [each for each in types_of(read(lines)) if each in ENDS] == wanted


def test_a_turn_after_the_end_begins_the_next_answer() -> None:
    events = read([*turn(0, message_events(1, "a")), IDLE, *turn(0, message_events(2, "b")), IDLE])
    assert [each.answer for each in events if each.type == "text.delta"] == [1, 2]


def test_more_messages_than_are_followed_end_the_reading() -> None:
    events = read([*(message(n, "a") for n in range(5000)), IDLE])
    assert "done" not in types_of(events)
    assert [each.type for each in events if each.layer == "wire"].count("copilot.overflow") == 1


def test_a_run_whose_calls_all_fail_is_known(tmp_path: Path) -> None:
    """As 1.0.102 writes it where nothing listens: most of its lines are about calls that failed."""
    tried = [
        *("model.call_start", "model.call_failure", "model.call_finished"),
        *("assistant.turn_retry", "session.info"),
    ]
    kinds = [
        *("session.skills_loaded", "session.tools_updated", "user.message"),
        *("assistant.turn_start", *tried * 5, "model.call_final_result", "assistant.turn_end"),
        *("session.error", "assistant.idle", "result"),
    ]
    path = tmp_path / "run.jsonl"
    lines = [{"type": kind, "data": {}, "id": f"e{at}"} for at, kind in enumerate(kinds)]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    assert [each.dialect for each in check_paths([path]).streams] == ["copilot.cli"]
