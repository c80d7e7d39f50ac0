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


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ({"finish_reason": "content_filter"}, Verdict.VACUOUS),
        ({"finish_reason": "stop"}, Verdict.FAIL),
        ({"finish_reason": "stop", "message": {"content": "Yes."}}, Verdict.FAIL),
    ],
    ids=["filtered", "not filtered", "no role"],
)
def test_what_a_filter_took_whole_has_no_message(choice: Any, wanted: Verdict) -> None:
    body = {**CHAT, "choices": [{"index": 0, **choice}]}
    assert verdict("wire/chat/message-fields", "openai.chat", body) is wanted


SAID_OF_GEMINI: Final = {"content": {"parts": [{"text": "Yes."}], "role": "model"}}
SOURCES: Final = {"content": {}, "groundingMetadata": {"webSearchQueries": ["rise"]}}


@pytest.mark.parametrize(
    ("candidates", "wanted"),
    [
        ([{**SAID_OF_GEMINI, "finishReason": "STOP"}, SOURCES], Verdict.PASS),
        ([SAID_OF_GEMINI, SOURCES], Verdict.FAIL),
        ([{**SAID_OF_GEMINI, "finishReason": "STOP"}, {**SOURCES, **SAID_OF_GEMINI}], Verdict.FAIL),
        ([{"content": {}}], Verdict.FAIL),
    ],
    ids=["sources behind the end", "no end", "more words", "nothing"],
)
def test_sources_may_come_behind_the_finish(candidates: Any, wanted: Verdict) -> None:
    rule = "wire/gemini/finish-stated"
    chunks = [f"data: {json.dumps({'candidates': [each]})}\n\n".encode() for each in candidates]
    checker = Checker("gemini.generate", "strict", rules=[rule])
    assert checker.check(chunks).verdicts[rule] is wanted


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        ({"event": "usage", "usage": {"input_tokens": 5}}, Verdict.PASS),
        ({"event": "provider", "provider": "openai", "name": "x", "payload": {}}, Verdict.PASS),
        ({"event": "cost", "cost": 1}, Verdict.FAIL),
    ],
    ids=["counts so far", "of the provider", "unknown"],
)
def test_langchain_for_javascript_has_two_more_events(event: Any, wanted: Verdict) -> None:
    rule = "wire/langchain-events/event-known"
    text = {
        "event": "content-block-delta",
        "index": 0,
        "delta": {"type": "text-delta", "text": "a"},
    }
    sent = [
        {"event": "message-start", "id": "m1"},
        {"event": "content-block-start", "index": 0, "content": {"type": "text", "text": ""}},
        *(text, event),
        {"event": "content-block-finish", "index": 0, "content": {"type": "text", "text": "a"}},
        {"event": "message-finish", "reason": "stop"},
    ]
    envelope = {"type": "event", "method": "messages"}
    chunks = [
        f"data: {json.dumps({**envelope, 'params': {'namespace': [], 'data': each}})}\n\n".encode()
        for each in sent
    ]
    checker = Checker("langchain.events", "strict", rules=[rule])
    assert checker.check(chunks).verdicts[rule] is wanted
