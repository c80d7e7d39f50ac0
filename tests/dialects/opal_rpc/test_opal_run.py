"""Opal: what its command line shows of a run, where nothing ends a thought."""

from __future__ import annotations

from typing import Any

from tests.dialects.streams import Payload, PayloadReader

READER = PayloadReader("opal.rpc")
read, semantic = READER.read, READER.semantic


def of(kind: str, **fields: Any) -> Payload:
    return {"jsonrpc": "2.0", "method": "agent/event", "params": {"type": kind, **fields}}


THOUGHT = of("thinking_delta", delta="so")
SPOKEN = of("message_delta", delta="Hi")


def test_a_run_of_one_turn() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    assert semantic(
        *(of("agent_start"), of("thinking_start"), THOUGHT, of("message_start"), SPOKEN),
        *(of("turn_end", message="Hi"), of("agent_end", usage=usage)),
    ) == [
        ("message.start", {"role": "assistant"}),
        ("step.start", {"step": 0}),
        ("thinking.start", {"block": 0, "channel": "raw", "explicit": True}),
        ("thinking.delta", {"block": 0, "channel": "raw", "text": "so"}),
        ("thinking.end", {"block": 0, "explicit": False}),
        ("text.start", {"block": 1}),
        ("text.delta", {"block": 1, "text": "Hi"}),
        ("text.end", {"block": 1}),
        ("step.end", {"step": 0}),
        ("finish", {"reason": "stop"}),
        ("usage", {"input": 3, "output": 2}),
        ("done", {"explicit": True}),
    ]


def test_thinking_that_goes_on_after_text_is_a_block_of_its_own() -> None:
    starts = [data for kind, data in semantic(THOUGHT, SPOKEN, THOUGHT) if kind == "thinking.start"]
    assert [each["explicit"] for each in starts] == [False, False]


def test_turns_are_numbered_on_the_wire() -> None:
    events = read(SPOKEN, of("turn_end"), SPOKEN)
    wired = [event.data["turn"] for event in events if event.layer == "wire"]
    assert wired == [0, 0, 1]


def test_a_tool_runs_under_its_earlier_names_too() -> None:
    named = {"tool": "read", "call_id": "c", "args": {"path": "a"}}
    for begins, ends in (
        ("tool_start", "tool_end"),
        ("tool_execution_start", "tool_execution_end"),
    ):
        found = semantic(of(begins, **named), of(ends, call_id="c"))
        (end,) = [data for kind, data in found if kind == "tool.end"]
        call = {"index": 0, "id": "c", "name": "read", "hosted": True}
        assert end == {**call, "arguments": '{"path":"a"}'}


def test_an_abort_and_a_failure_end_the_run() -> None:
    assert semantic(of("agent_abort"))[0] == ("finish", {"reason": "cancelled"})
    assert semantic(of("error", reason=":no")) == [("error", {"code": "", "message": ":no"})]


def test_what_is_no_event_of_the_agent_says_nothing() -> None:
    lines: list[Payload] = [
        {"method": "agent/prompt", "id": 1},
        {"id": 1, "result": {}},
        of("sub_agent_event", inner={}),
        of("newer"),
        {"odd": 1},
    ]
    assert [event.type for event in read(*lines)] == [
        *("rpc.request", "rpc.response", "sub_agent_event", "event.unknown", "line.unknown", "cut")
    ]
