"""Legal answers of agents, applications and their servers: what may look like a fault of theirs."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from conformance.judging.checker import Checker
from conformance.rules.verdicts import Verdict
from tests.rules.test_legal_answers import streamed, verdict


def update(kind: str, status: str) -> dict[str, Any]:
    call = {"sessionUpdate": kind, "toolCallId": "a", "title": "Read", "status": status}
    params = {"sessionId": "s", "update": call}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


TOLD: Final = [update("tool_call", "pending"), update("tool_call_update", "in_progress")]
OVER: Final = [*TOLD, update("tool_call_update", "completed")]


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [([*OVER, *OVER], Verdict.PASS), ([*OVER, TOLD[1]], Verdict.FAIL)],
    ids=["replayed", "goes on"],
)
def test_a_loaded_session_tells_its_calls_again(lines: Any, wanted: Verdict) -> None:
    rule = "wire/acp/call-over"
    chunks = [json.dumps(line).encode() + b"\n" for line in lines]
    assert Checker("acp", "strict", rules=[rule]).check(chunks).verdicts[rule] is wanted


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    fields = {"sessionId": "s", **params}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": fields}


@pytest.mark.parametrize("rule", ["silent-after-response", "call-told-once", "call-over"])
def test_a_session_may_be_loaded_after_its_turn(rule: str) -> None:
    prompt = [{"type": "text", "text": "Go on."}]
    turn = [
        *(request(1, "session/prompt", prompt=prompt), *OVER),
        {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "end_turn"}},
    ]
    load = [request(2, "session/load", cwd="/", mcpServers=[]), OVER[0], OVER[2]]
    chunks = [json.dumps(line).encode() + b"\n" for line in [*turn, *load]]
    found = Checker("acp", "strict", rules=[f"wire/acp/{rule}"]).check(chunks)
    assert found.verdicts[f"wire/acp/{rule}"] is Verdict.PASS


def said(text: str, kind: str = "agent_message_chunk") -> dict[str, Any]:
    content = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
    params = {"sessionId": "s", "update": content}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


NOTHING: Final = {"result": None}
SPOKEN: Final = [said("Let me look."), *OVER, said("Its stem"), said(" is hollow.")]


@pytest.mark.parametrize(
    ("asked", "stop", "again", "end", "wanted"),
    [
        ("Why?", "end_turn", [*SPOKEN], {"result": {}}, Verdict.PASS),
        ("Why?", "end_turn", [*SPOKEN[:-2], said("Its stem is hollow.\n")], NOTHING, Verdict.PASS),
        ("Why?", "end_turn", [said("Earlier."), *SPOKEN], {"result": {}}, Verdict.PASS),
        ("Why?", "end_turn", [said("Its stem is hollow.\n")], NOTHING, Verdict.FAIL),
        ("Why?", "cancelled", [], {"result": {}}, Verdict.VACUOUS),
        ("/help", "end_turn", [], {"result": {}}, Verdict.VACUOUS),
        ("Why?", "end_turn", [], {"error": {"code": 1, "message": "No."}}, Verdict.VACUOUS),
        ("Why?", "end_turn", [], {"result": {}}, Verdict.FAIL),
        ("Why?", "end_turn", SPOKEN[:-1], {"result": {}}, Verdict.FAIL),
        (
            *("Why?", "end_turn", [said("Its stem is hollow.", "agent_thought_chunk")]),
            *({"result": {}}, Verdict.FAIL),
        ),
    ],
)
def test_a_loaded_session_repeats_its_messages(
    asked: str, stop: str, again: list[Any], end: dict[str, Any], wanted: Verdict
) -> None:
    lines = [
        request(1, "session/prompt", prompt=[{"type": "text", "text": asked}]),
        *SPOKEN,
        {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": stop}},
        request(2, "session/load", cwd="/", mcpServers=[]),
        *again,
        {"jsonrpc": "2.0", "id": 2, **end},
    ]
    rule = "wire/acp/load-replays"
    chunks = [json.dumps(line).encode() + b"\n" for line in lines]
    assert Checker("acp", "strict", rules=[rule]).check(chunks).verdicts[rule] is wanted


@pytest.mark.parametrize(
    ("of", "wanted"), [({"subagentRunId": "r2"}, Verdict.PASS), ({}, Verdict.FAIL)]
)
def test_a_subagent_thinks_while_its_agent_speaks(of: Any, wanted: Verdict) -> None:
    events = [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r1"},
        {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"},
        {"type": "REASONING_START", "messageId": "q1", **of},
        {"type": "TEXT_MESSAGE_END", "messageId": "m1"},
    ]
    assert streamed("wire/agui/reasoning-apart-from-text", "agui", events) is wanted


def bus(kind: str, **properties: Any) -> dict[str, Any]:
    return {"id": "e", "type": kind, "properties": {"sessionID": "s", **properties}}


def bus_part(kind: str, **fields: Any) -> dict[str, Any]:
    named = {"id": f"p-{kind}", "messageID": "m", "sessionID": "s", "type": kind}
    return bus("message.part.updated", part={**named, **fields})


def bus_message(**fields: Any) -> dict[str, Any]:
    info = {"id": "m", "sessionID": "s", "role": "assistant", "parentID": "q", "time": {}}
    return bus("message.updated", info={**info, **fields})


TOKENS: Final = {"input": 3, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}
STEP: Final = bus_part("step-start")
STEP_OVER: Final = bus_part("step-finish", reason="tool-calls", tokens=TOKENS)
IDLE: Final = bus("session.idle")
ABORTED: Final = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}


@pytest.mark.parametrize(
    ("between", "wanted"),
    [
        ((STEP_OVER,), Verdict.PASS),
        ((bus("session.error", error=ABORTED),), Verdict.PASS),
        ((bus_message(error=ABORTED),), Verdict.PASS),
        ((), Verdict.FAIL),
    ],
    ids=["finished", "failed", "aborted", "left open"],
)
def test_a_step_that_failed_has_no_finish(between: Any, wanted: Verdict) -> None:
    events = [bus_message(), STEP, *between, IDLE]
    assert streamed("wire/opencode-serve/step-ended", "opencode.serve", events) is wanted


@pytest.mark.parametrize(
    ("finish", "wanted"),
    [
        ({"finish": "tool-calls"}, Verdict.PASS),
        ({}, Verdict.VACUOUS),
        ({"finish": "stop"}, Verdict.FAIL),
    ],
)
def test_a_message_need_not_say_why_it_finished(finish: Any, wanted: Verdict) -> None:
    events = [bus_message(), STEP, STEP_OVER, bus_message(**finish), IDLE]
    found = streamed("wire/opencode-serve/finish-agrees", "opencode.serve", events)
    assert found is wanted


def claude_event(event: dict[str, Any], parent: str | None = None) -> dict[str, Any]:
    line = {"type": "stream_event", "session_id": "s", "uuid": "u", "parent_tool_use_id": parent}
    return {**line, "event": event}


def claude_stop(reason: str, parent: str | None = None) -> dict[str, Any]:
    return claude_event({"type": "message_delta", "delta": {"stop_reason": reason}}, parent)


@pytest.mark.parametrize(
    ("last", "wanted"),
    [
        (claude_stop("max_tokens", "toolu_1"), Verdict.PASS),
        (claude_stop("max_tokens"), Verdict.FAIL),
    ],
    ids=["of a subagent", "of the run"],
)
def test_a_subagent_may_stop_for_another_reason(last: Any, wanted: Verdict) -> None:
    rule = "wire/stream-json/result-stop-agrees"
    result = {"type": "result", "subtype": "success", "is_error": False, "session_id": "s"}
    lines = [claude_stop("end_turn"), last, {**result, "stop_reason": "end_turn", "result": "Hi"}]
    chunks = [json.dumps(line).encode() + b"\n" for line in lines]
    checker = Checker("claude.stream-json", "strict", rules=[rule])
    assert checker.check(chunks).verdicts[rule] is wanted


LM_THOUGHT: Final = {"type": "reasoning", "content": "A sum."}
LM_TEXT: Final = {"type": "message", "content": "4"}
LM_CALL: Final = {"type": "tool_call", "tool": "add", "arguments": {}, "output": "4"}


@pytest.mark.parametrize(
    ("output", "wanted"),
    [
        ([LM_THOUGHT, LM_TEXT, LM_CALL, LM_THOUGHT, LM_TEXT], Verdict.PASS),
        ([LM_TEXT, {"type": "invalid_tool_call", "reason": "no tool"}, LM_THOUGHT], Verdict.PASS),
        ([LM_THOUGHT, {"type": "message", "content": "\n"}, LM_THOUGHT], Verdict.PASS),
        ([LM_TEXT], Verdict.VACUOUS),
        ([LM_TEXT, LM_THOUGHT], Verdict.FAIL),
    ],
    ids=["behind a call", "behind a bad call", "behind a blank", "no thinking", "behind text"],
)
def test_lm_studio_may_think_again_behind_a_call(output: Any, wanted: Verdict) -> None:
    body = {"model_instance_id": "m", "output": output, "stats": {}}
    assert verdict("wire/lmstudio/result-thinks-first", "lmstudio.chat", body) is wanted
