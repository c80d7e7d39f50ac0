"""Answers that a rule nearly forbids, and vendors send: they break nothing."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from conformance.judging.checker import Checker
from conformance.rules.verdicts import Verdict

CALL: Final = {"toolUseId": "t1", "name": "nova_grounding", "input": {}}
FOUND: Final = {"toolUseId": "t1", "content": [], "type": "nova_grounding_result"}


def converse(*content: dict[str, Any]) -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": list(content)}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 5, "outputTokens": 4, "totalTokens": 9},
        "metrics": {"latencyMs": 3},
    }


def response(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1795176000,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": "think-1",
        "output": [
            {"id": "rs_1", "type": "reasoning", "summary": []},
            {**message, "content": [part]},
        ],
        "usage": {
            "input_tokens": 5,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 64,
            "output_tokens_details": {"reasoning_tokens": 64},
            "total_tokens": 69,
        },
    }


CHAT: Final = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1795176000,
    "model": "think-1",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}
    ],
}
CONVERSE_STOP: Final = "wire/converse/body-stop-agrees"
COUNTED: Final = "wire/responses/whole-text-counted"


def verdict(rule: str, dialect: str, body: dict[str, Any], status: int = 200) -> Verdict:
    head = {"status": status, "headers": [["content-type", "application/json"]]}
    chunks = [json.dumps(body).encode()]
    return Checker(dialect, "strict", rules=[rule]).check(chunks, response=head).verdicts[rule]


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ([{"toolUse": {**CALL, "type": "server_tool_use"}}, {"text": "Yes."}], Verdict.PASS),
        ([{"toolUse": CALL}, {"toolResult": FOUND}, {"text": "Yes."}], Verdict.PASS),
        ([{"text": "Let me see."}, {"toolUse": CALL}], Verdict.FAIL),
    ],
    ids=["hosted", "result beside it", "the caller's"],
)
def test_a_tool_that_the_server_runs_ends_no_turn(content: Any, wanted: Verdict) -> None:
    assert verdict(CONVERSE_STOP, "bedrock.converse", converse(*content)) is wanted


@pytest.mark.parametrize(
    ("text", "wanted"), [("", Verdict.PASS), ("\n", Verdict.PASS), ("Yes.", Verdict.FAIL)]
)
def test_where_nothing_is_said_all_tokens_may_be_reasoning(text: str, wanted: Verdict) -> None:
    assert verdict(COUNTED, "openai.responses", response(text)) is wanted


@pytest.mark.parametrize("status", [200, 201, 203, 206, 207, 208, 226])
def test_every_success_may_have_an_answer(status: int) -> None:
    assert verdict("wire/http/answer-status", "openai.chat", CHAT, status) is Verdict.PASS


@pytest.mark.parametrize("status", [204, 205, 300, 304, 404, 429, 500, 503])
def test_a_refusal_and_no_content_have_none(status: int) -> None:
    assert verdict("wire/http/answer-status", "openai.chat", CHAT, status) is Verdict.FAIL


def update(kind: str, status: str) -> dict[str, Any]:
    call = {"sessionUpdate": kind, "toolCallId": "a", "title": "Read", "status": status}
    params = {"sessionId": "s", "update": call}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


TOLD: Final = [update("tool_call", "pending"), update("tool_call_update", "in_progress")]
OVER: Final = [*TOLD, update("tool_call_update", "completed")]


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [([*OVER, *OVER], Verdict.PASS), ([*OVER, TOLD[1]], Verdict.FAIL)],
    ids=["told again", "goes on"],
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


MESSAGE: Final = {"id": "msg_1", "type": "message", "role": "assistant", "model": "think-1"}
THOUGHT: Final = {"type": "thinking", "thinking": "It has to rise.", "signature": "c2ln"}


def message(thought: str, counted: int | None) -> dict[str, Any]:
    blocks = [{**THOUGHT, "thinking": thought}, {"type": "text", "text": "Yes."}]
    details = {} if counted is None else {"output_tokens_details": {"thinking_tokens": counted}}
    usage = {"input_tokens": 5, "output_tokens": 64, **details}
    return {**MESSAGE, "content": blocks, "stop_reason": "end_turn", "usage": usage}


@pytest.mark.parametrize(
    ("thought", "counted", "wanted"),
    [
        ("", 0, Verdict.PASS),  # what is not shown may be none
        ("It has to rise.", 12, Verdict.PASS),
        ("It has to rise.", None, Verdict.VACUOUS),
        ("It has to rise.", 0, Verdict.FAIL),
    ],
)
def test_shown_thinking_may_be_left_uncounted(
    thought: str, counted: int | None, wanted: Verdict
) -> None:
    rule = "wire/messages/body-thinking-counted"
    assert verdict(rule, "anthropic.messages", message(thought, counted)) is wanted


@pytest.mark.parametrize(
    ("message", "counted", "wanted"),
    [
        ({"content": "Yes."}, 0, Verdict.PASS),
        ({"content": "Yes.", "reasoning_content": ""}, 0, Verdict.PASS),
        ({"content": "Yes.", "reasoning_content": "It rises."}, 3, Verdict.PASS),
        ({"content": "Yes.", "reasoning_content": "It rises."}, 0, Verdict.FAIL),
        ({"content": "Yes.", "reasoning": "It rises."}, 0, Verdict.FAIL),
    ],
)
def test_a_whole_answer_without_thinking_counts_none(
    message: dict[str, Any], counted: int, wanted: Verdict
) -> None:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    details = {"completion_tokens_details": {"reasoning_tokens": counted}}
    usage = {"prompt_tokens": 5, "completion_tokens": 9, "total_tokens": 14, **details}
    body = {**CHAT, "choices": [choice], "usage": usage}
    assert verdict("wire/chat/whole-thinking-counted", "openai.chat", body) is wanted


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("output_text", Verdict.PASS),
        ("refusal", Verdict.PASS),
        ("output_audio", Verdict.PASS),  # of a later version
        ("text", Verdict.FAIL),
        ("input_text", Verdict.FAIL),
    ],
)
def test_parts_of_other_kinds_may_come(kind: str, wanted: Verdict) -> None:
    body = response("Yes.")
    body["output"][1]["content"][0]["type"] = kind
    assert verdict("wire/responses-items/whole-text-shown", "openai.responses", body) is wanted


CALLED: Final = {"type": "function_call", "id": "c1", "name": "look", "arguments": {}}
GIVEN: Final = {"type": "function_result", "call_id": "c1", "result": "here"}


@pytest.mark.parametrize(
    ("status", "steps", "wanted"),
    [
        ("requires_action", [CALLED], Verdict.PASS),
        ("completed", [CALLED, GIVEN], Verdict.PASS),
        ("completed", [{**CALLED, "type": "code_execution_call"}], Verdict.PASS),
        ("incomplete", [CALLED], Verdict.PASS),
        ("completed", [CALLED], Verdict.FAIL),
    ],
)
def test_an_answered_call_may_complete_an_interaction(
    status: str, steps: list[Any], wanted: Verdict
) -> None:
    body = {"id": "v1_a", "object": "interaction", "status": status, "steps": steps}
    assert verdict("wire/interactions/body-requires-action", "gemini.interactions", body) is wanted


def greeting(**result: Any) -> list[dict[str, Any]]:
    asked = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
    return [asked, {"jsonrpc": "2.0", "id": 0, "result": result}]


@pytest.mark.parametrize(
    ("version", "wanted"),
    [(1, Verdict.PASS), (0, Verdict.PASS), ("2025-06-18", Verdict.FAIL), (None, Verdict.FAIL)],
)
def test_the_version_of_the_protocol_is_a_whole_number(version: Any, wanted: Verdict) -> None:
    rule = "wire/acp/version-is-a-number"
    chunks = [json.dumps(line).encode() + b"\n" for line in greeting(protocolVersion=version)]
    assert Checker("acp", "strict", rules=[rule]).check(chunks).verdicts[rule] is wanted


EVENT: Final = {
    "type": "stream_event",
    "uuid": "u",
    "session_id": "s",
    "event": {"type": "message_stop"},
}


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (EVENT, Verdict.PASS),
        ({**EVENT, "uuid": None}, Verdict.PASS),  # blacked out
        ({key: value for key, value in EVENT.items() if key != "uuid"}, Verdict.FAIL),
        ({key: value for key, value in EVENT.items() if key != "session_id"}, Verdict.FAIL),
    ],
)
def test_the_id_of_a_line_may_be_blacked_out(line: dict[str, Any], wanted: Verdict) -> None:
    rule = "wire/stream-json/event-lines-named"
    chunks = [json.dumps(line).encode() + b"\n"]
    checker = Checker("claude.stream-json", "strict", rules=[rule])
    assert checker.check(chunks).verdicts[rule] is wanted


@pytest.mark.parametrize(
    ("stated", "wanted"),
    [
        ({"is_error": False, "usage": {"output_tokens": 9}}, Verdict.PASS),
        (
            {"is_error": True, "usage": {"output_tokens_details": {"thinking_tokens": 0}}},
            Verdict.PASS,
        ),
        (
            {"is_error": False, "usage": {"output_tokens_details": {"thinking_tokens": 0}}},
            Verdict.FAIL,
        ),
    ],
    ids=["uncounted", "failed", "lost"],
)
def test_a_result_may_leave_thinking_uncounted(stated: dict[str, Any], wanted: Verdict) -> None:
    rule = "wire/stream-json/thinking-count-kept"
    usage = {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}
    ended = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}
    lines = [{**EVENT, "event": ended}, {"type": "result", "session_id": "s", **stated}]
    chunks = [json.dumps(line).encode() + b"\n" for line in lines]
    checker = Checker("claude.stream-json", "strict", rules=[rule])
    assert checker.check(chunks).verdicts[rule] is wanted


@pytest.mark.parametrize(
    ("index", "wanted"),
    [({"index": 0}, Verdict.PASS), ({"index": "0"}, Verdict.PASS), ({}, Verdict.FAIL)],
)
def test_an_index_may_be_written_as_text(index: dict[str, Any], wanted: Verdict) -> None:
    choice = {"message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}
    body = {**CHAT, "choices": [{**choice, **index}]}
    assert verdict("wire/mistral/body-fields", "mistral.chat", body) is wanted


@pytest.mark.parametrize(
    ("thought", "counted", "wanted"),
    [("", 0, Verdict.PASS), ("It rises.", 3, Verdict.PASS), ("It rises.", 0, Verdict.FAIL)],
)
def test_thinking_that_is_not_shown_may_count_as_none(
    thought: str, counted: int, wanted: Verdict
) -> None:
    said = [{"type": "reasoning", "content": thought}, {"type": "message", "content": "Yes."}]
    stats = {"input_tokens": 5, "total_output_tokens": 9, "reasoning_output_tokens": counted}
    body = {"model_instance_id": "m", "output": said, "stats": stats, "response_id": "resp_1"}
    assert verdict("wire/lmstudio/body-thinking-counted", "lmstudio.chat", body) is wanted
