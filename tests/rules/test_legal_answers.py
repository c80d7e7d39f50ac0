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


def item_events(number: int, added: dict[str, Any], *between: str) -> list[dict[str, Any]]:
    about = {"output_index": number, "item_id": added["id"]}
    done = {**added, "arguments": "{}"}
    return [
        {"type": "response.output_item.added", "output_index": number, "item": added},
        *({"type": kind, **about} for kind in between),
        {"type": "response.output_item.done", "output_index": number, "item": done},
    ]


def streamed(rule: str, dialect: str, events: list[dict[str, Any]], request: Any = None) -> Verdict:
    named = dialect in ("openai.responses", "anthropic.messages")
    chunks = [
        (f"event: {event.get('type')}\n" * named + f"data: {json.dumps(event)}\n\n").encode()
        for event in events
    ]
    head = {"status": 200, "headers": [["content-type", "text/event-stream"]]}
    checker = Checker(dialect, "strict", rules=[rule])
    return checker.check(chunks, request=request, response=head).verdicts[rule]


def called(**fields: Any) -> dict[str, Any]:
    call = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "add"}
    return {**call, "arguments": "", "status": "in_progress", **fields}


OF_PROGRAM: Final = {"caller": {"type": "program", "caller_id": "call_0"}}


@pytest.mark.parametrize(
    ("caller", "wanted"),
    [
        (OF_PROGRAM, Verdict.PASS),
        ({"caller": {"type": "direct"}}, Verdict.FAIL),
        ({}, Verdict.FAIL),
    ],
    ids=["of a program", "of the model", "of nobody"],
)
def test_a_call_of_a_program_stays_open(caller: Any, wanted: Verdict) -> None:
    events = item_events(0, called(**caller))
    assert streamed("wire/responses/item-status", "openai.responses", events) is wanted
    body = {**response("Yes."), "output": [called(arguments="{}", **caller)]}
    created = {"type": "response.created", "response": {**body, "output": []}}
    events = [created, *events, {"type": "response.completed", "response": body}]
    # Where the closed item was open already, that is the finding.
    for listed in ("final-items-closed", "final-items-settled"):
        rule = f"wire/responses-items/{listed}"
        assert streamed(rule, "openai.responses", events) is Verdict.PASS
    rule = "wire/responses-items/whole-items-settled"
    assert (verdict(rule, "openai.responses", body) is Verdict.FAIL) is (wanted is Verdict.FAIL)


MCP: Final = {"id": "mcp_1", "type": "mcp_call", "status": "in_progress", "name": "echo"}


def test_openai_says_twice_that_an_approved_call_begins() -> None:
    begins, ends = "response.mcp_call.in_progress", "response.mcp_call.completed"
    rule = "wire/responses-items/hosted-order"
    for kinds, wanted in (
        ([begins, begins, ends], Verdict.PASS),
        ([begins, ends, begins], Verdict.FAIL),
    ):
        assert streamed(rule, "openai.responses", item_events(0, MCP, *kinds)) is wanted


SEARCHED: Final = {"type": "tool_search_call", "call_id": "s1", "execution": "client"}
RESULT: Final = {"type": "function_call_output", "call_id": "s1", "output": "One tool."}
TOOL: Final = {"type": "function", "name": "add", "parameters": {"type": "object"}}
OTHER: Final = {**TOOL, "name": "now"}


@pytest.mark.parametrize(
    ("history", "wanted"), [([SEARCHED, RESULT], Verdict.VACUOUS), ([RESULT], Verdict.FAIL)]
)
def test_a_search_for_tools_may_have_its_result(history: Any, wanted: Verdict) -> None:
    request = {"model": "m", "input": [{"role": "user", "content": "Go."}, *history]}
    events = [{"type": "response.created", "response": response("")}]
    assert streamed("history/calls/asked", "openai.responses", events, request) is wanted


@pytest.mark.parametrize("kind", ["additional_tools", "tool_search_output", "message"])
def test_tools_are_offered_by_items_too(kind: str) -> None:
    request = {"model": "m", "tools": [OTHER], "input": [{"type": kind, "tools": [TOOL]}]}
    body = {**response(""), "output": [called(status="completed", arguments="{}")]}
    events = [{"type": "response.completed", "response": body}]
    wanted = Verdict.FAIL if kind == "message" else Verdict.PASS
    events = [*item_events(0, called(status="completed")), *events]
    assert streamed("wire/calls/tool-offered", "openai.responses", events, request) is wanted


def test_a_cited_text_is_said() -> None:
    cited = {"citationsContent": {"content": [{"text": "Yes."}], "citations": []}}
    rule = "thinking/answer/said"
    assert verdict(rule, "bedrock.converse", converse(cited)) is Verdict.PASS
    empty: dict[str, Any] = {"citationsContent": {"content": [], "citations": []}}
    assert verdict(rule, "bedrock.converse", converse(empty)) is Verdict.FAIL


def test_one_of_several_message_deltas_states_the_reason() -> None:
    counts = {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 3}}
    ending = {**counts, "delta": {"stop_reason": "end_turn", "stop_sequence": None}}
    stop = {"type": "message_stop"}
    rule = "wire/messages/stop-reason"
    for deltas, wanted in (
        ([counts, ending], Verdict.PASS),
        ([ending, counts], Verdict.PASS),
        ([counts], Verdict.FAIL),
    ):
        assert streamed(rule, "anthropic.messages", [*deltas, stop]) is wanted


def chunk(delta: Any, reason: str | None = None, **choice: Any) -> dict[str, Any]:
    said = {} if delta is None else {"delta": delta}
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1795176000,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": reason, **said, **choice}],
    }


CUSTOM: Final = {"index": 0, "id": "c1", "type": "custom", "custom": {"name": "sql", "input": ""}}


@pytest.mark.parametrize("rule", ["delta-types", "tool-complete", "tool-arguments-json"])
def test_a_custom_tool_is_given_a_text(rule: str) -> None:
    more = {"index": 0, "custom": {"input": "SELECT 1"}}
    deltas = [chunk({"tool_calls": [CUSTOM]}), chunk({"tool_calls": [more]})]
    found = streamed(f"wire/chat/{rule}", "openai.chat", [*deltas, chunk({}, "tool_calls")])
    assert found in (Verdict.PASS, Verdict.VACUOUS)


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ({"custom": {"name": "sql", "input": "SELECT 1"}}, Verdict.PASS),
        ({"custom": {"name": "sql"}}, Verdict.FAIL),
        ({}, Verdict.FAIL),
    ],
)
def test_a_whole_call_is_of_a_function_or_custom(call: Any, wanted: Verdict) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", **call}]}
    body = {**CHAT, "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    assert verdict("wire/chat/message-fields", "openai.chat", body) is wanted


@pytest.mark.parametrize(
    ("more", "wanted"),
    [({"content_filter_offsets": {"check_offset": 3}}, Verdict.PASS), ({}, Verdict.FAIL)],
)
def test_an_asynchronous_filter_has_no_delta(more: Any, wanted: Verdict) -> None:
    checked = chunk(None, content_filter_results={}, **more)
    events = [chunk({"role": "assistant", "content": "Yes."}), checked, chunk({}, "stop")]
    assert streamed("wire/chat/choice-fields", "openai.chat", events) is wanted


def test_a_transcript_of_audio_is_a_part() -> None:
    heard = {"audioTranscription": {"text": "Yes."}}
    other: dict[str, Any] = {"other": {}}
    for part, wanted in ((heard, Verdict.PASS), (other, Verdict.FAIL)):
        content = {"role": "model", "parts": [part]}
        events = [{"candidates": [{"content": content, "finishReason": "STOP"}]}]
        assert streamed("wire/gemini/one-kind", "gemini.generate", events) is wanted


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("compaction_summary_chunk", Verdict.VACUOUS),
        ("_own", Verdict.VACUOUS),
        ("agent_message_chunks", Verdict.FAIL),
    ],
)
def test_new_updates_are_no_misspelt_chunks(kind: str, wanted: Verdict) -> None:
    said = {"sessionUpdate": kind, "content": {"type": "text", "text": "Yes."}}
    params = {"sessionId": "s", "update": said}
    line = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    found = Checker("acp", "strict", rules=["wire/acp/carries"]).check([json.dumps(line).encode()])
    assert found.verdicts["wire/acp/carries"] is wanted


def test_a_thought_may_have_an_id_and_the_answer_none() -> None:
    content = {"type": "text", "text": "Yes."}
    updates = [
        {"sessionUpdate": "agent_thought_chunk", "messageId": "t1", "content": content},
        {"sessionUpdate": "agent_message_chunk", "content": content},
    ]
    lines = [
        {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": each}}
        for each in updates
    ]
    rule = "wire/acp/id-of-one-message"
    chunks = [json.dumps(line).encode() + b"\n" for line in lines]
    assert Checker("acp", "strict", rules=[rule]).check(chunks).verdicts[rule] is Verdict.PASS


@pytest.mark.parametrize(
    ("whole", "wanted"), [("SELECT 1", Verdict.VACUOUS), ({"query": "SELECT 1"}, Verdict.FAIL)]
)
def test_an_input_that_is_a_text_is_no_json(whole: Any, wanted: Verdict) -> None:
    call = {"toolCallId": "c1", "toolName": "sql"}
    events = [
        {"type": "tool-input-start", **call, "inputEncoding": "text"},
        {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": "SELECT 1"},
        {"type": "tool-input-available", **call, "input": whole},
    ]
    assert streamed("wire/ui-message/input-json", "vercel.ui", events) is wanted


@pytest.mark.parametrize(
    ("later", "wanted"),
    [
        (["tool-output-available", "start-step", "text-start"], Verdict.PASS),
        (["start-step", "tool-output-available", "start-step", "text-start"], Verdict.PASS),
        (["start-step", "text-start", "tool-output-available"], Verdict.FAIL),
        (["start-step", "reasoning-start"], Verdict.FAIL),
        ([], Verdict.PASS),  # the user's side carries it out
    ],
)
def test_the_output_of_a_call_may_have_a_step_of_its_own(later: list[str], wanted: Verdict) -> None:
    called = {"type": "tool-input-available", "toolCallId": "c1", "toolName": "f", "input": {}}
    fields = {"tool-output-available": {"toolCallId": "c1", "output": "5"}}
    events = [{"type": each, **fields.get(each, {"id": "t"})} for each in later]
    assert streamed("wire/ui-message/call-answered", "vercel.ui", [called, *events]) is wanted


SAID: Final = "thinking/answer/said"
IMAGE: Final = {"image": {"format": "png", "source": {"bytes": "AAAA"}}}


@pytest.mark.parametrize("kind", ["image", "audio", "video", "document", "other"])
def test_what_is_shown_is_an_answer(kind: str) -> None:
    wanted = Verdict.FAIL if kind == "other" else Verdict.VACUOUS
    events: list[dict[str, Any]] = [
        {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
        {"event_type": "step.delta", "index": 0, "delta": {"type": kind, "data": "AAAA"}},
        {"event_type": "interaction.completed", "interaction": {"status": "completed"}},
    ]
    assert streamed(SAID, "gemini.interactions", events) is wanted


def test_an_image_is_an_answer_of_converse_and_ollama() -> None:
    assert verdict(SAID, "bedrock.converse", converse(IMAGE)) is Verdict.VACUOUS
    message = {"role": "assistant", "content": "", "images": ["AAAA"]}
    line = {"model": "m", "message": message, "done": True, "done_reason": "stop"}
    assert verdict(SAID, "ollama.chat", line) is Verdict.VACUOUS


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Write <thinking>why</thinking> first.", Verdict.PASS),
        ("End it with `</thinking>` then.", Verdict.PASS),
        ('The tag "</reasoning>" ends it.', Verdict.PASS),
        ("The sum is 4.</thinking>4", Verdict.FAIL),
        ("The sum is 4.\n</thought>\n\n4", Verdict.FAIL),
    ],
)
def test_a_text_may_speak_of_a_tag_that_closes(text: str, wanted: Verdict) -> None:
    events = [chunk({"role": "assistant", "content": text}), chunk({}, "stop")]
    assert streamed("stripping/visible-text/no-closing-word", "openai.chat", events) is wanted


def test_a_tag_that_the_prompt_opened_may_be_closed() -> None:
    begun = {"role": "assistant", "content": "<thinking>"}
    asked = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "2+2"}, begun]}
    request = {"method": "POST", "path": "/v1/chat/completions", "json": asked}
    events = [chunk({"role": "assistant", "content": "A sum.</thinking>4"}), chunk({}, "stop")]
    rule = "stripping/visible-text/no-closing-word"
    assert streamed(rule, "openai.chat", events, request) is Verdict.PASS
