"""Counts, parts, events and lines that a rule nearly forbids, and vendors send."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from conformance import check_chunks
from conformance.judging.checker import Checker
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from tests.rules.test_legal_answers import CHAT, response, verdict

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
    ("model", "wanted"),
    [
        ("gemini-2.5-flash", Verdict.PASS),
        ("models/gemini-2.5-pro", Verdict.PASS),
        ("google/gemini-2.5-pro", Verdict.FAIL),
        ("think-1", Verdict.FAIL),
    ],
)
def test_gemini_counts_its_thinking_in_the_total_alone(model: str, wanted: Verdict) -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 12, "total_tokens": 402}
    body = {**CHAT, "model": model, "usage": usage}
    assert verdict("wire/chat/total-is-sum", "openai.chat", body) is wanted


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


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ({"finish_reason": "content_filter", "content_filter_results": {}}, Verdict.VACUOUS),
        ({"finish_reason": "content_filter"}, Verdict.FAIL),
        ({"finish_reason": "stop", "content_filter_results": {}}, Verdict.FAIL),
        ({"finish_reason": "stop", "message": {"content": "Yes."}}, Verdict.FAIL),
    ],
    ids=["Azure's filter", "another filter", "not filtered", "no role"],
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


@pytest.mark.parametrize(("result", "found"), [(True, False), (False, True)])
def test_an_answer_goes_on_after_a_call_that_google_carried_out(result: bool, found: bool) -> None:
    """A kept stream lacks the request, which alone names the server (`mcpServers`)."""
    call = {"functionCall": {"name": "look", "args": {}}}
    carried = {"functionResponse": {"name": "look", "response": {}}}
    parts = [(call, "STOP"), *([(carried, None)] if result else []), ({"text": "Low."}, "STOP")]
    body = b""
    for part, reason in parts:
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": reason}
        chunk = {"candidates": [candidate], "modelVersion": "gemini-3", "responseId": "r"}
        body += b"data: " + json.dumps(chunk).encode() + b"\r\n\r\n"
    findings = check_chunks([body], dialect="gemini.generate").findings
    assert ("thinking/stream/before-finish" in {each.rule for each in findings}) is found


@pytest.mark.parametrize(
    ("asked", "stated", "wanted"),
    [
        ({"previous_response_id": "resp_0"}, "resp_0", Verdict.PASS),
        ({"previous_response_id": "resp_0"}, None, Verdict.VACUOUS),  # left out by many servers
        ({"conversation": "conv_0"}, "resp_0", Verdict.NOT_APPLICABLE),
        (None, "resp_0", Verdict.UNTESTABLE),
        ({}, None, Verdict.VACUOUS),
        ({}, "resp_0", Verdict.FAIL),
        ({"previous_response_id": "resp_0"}, "resp_9", Verdict.FAIL),
    ],
)
def test_a_response_need_not_state_the_one_before(asked: Any, stated: Any, wanted: Verdict) -> None:
    rule = "wire/responses/previous-as-asked"
    body = {**response("Yes."), "previous_response_id": stated}
    head = {"status": 200, "headers": [["content-type", "application/json"]]}
    checker = Checker("openai.responses", "strict", rules=[rule])
    checked = checker.check([json.dumps(body).encode()], request=asked, response=head)
    assert checked.verdicts[rule] is wanted


STEPS: Final = "wire/interactions-steps/delta-typed"
THOUGHT_STEP: Final = {"type": "thought", "signature": "c2ln"}
SAID: Final = {"type": "model_output", "content": [{"type": "text", "text": "Yes."}]}


@pytest.mark.parametrize(
    ("step", "wanted"),
    [
        (SAID, Verdict.PASS),
        ({**SAID, "content": []}, Verdict.PASS),
        (
            {**SAID, "content": [{"type": "image", "data": "aGk=", "mime_type": "image/png"}]},
            Verdict.PASS,
        ),
        ({**SAID, "content": [{"type": "text", "texts": "Yes."}]}, Verdict.FAIL),
        ({**SAID, "content": [{"type": "text", "text": 7}]}, Verdict.FAIL),
        (THOUGHT_STEP, Verdict.PASS),  # one whose summary is not shown
        ({**THOUGHT_STEP, "summary": [{"type": "text", "text": ""}]}, Verdict.PASS),
        ({**THOUGHT_STEP, "summary": [{"type": "text", "txt": "Hm."}]}, Verdict.FAIL),
        ({**THOUGHT_STEP, "summary": [{"type": "text", "text": ["Hm."]}]}, Verdict.FAIL),
        ({**THOUGHT_STEP, "summary": {"type": "text", "text": "Hm."}}, Verdict.FAIL),
    ],
)
def test_a_whole_step_holds_its_texts(step: Any, wanted: Verdict) -> None:
    body = {"id": "v1_1", "object": "interaction", "status": "completed", "steps": [step]}
    assert verdict(STEPS, "gemini.interactions", body) is wanted


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"arguments": '{"query":"tides"}'}, Verdict.PASS),
        ({"arguments": ""}, Verdict.PASS),
        ({"arguments": {"query": "tides"}}, Verdict.FAIL),
        ({"argument": '{"query":"tides"}'}, Verdict.FAIL),
        ({}, Verdict.FAIL),
    ],
)
def test_a_tool_that_was_run_states_its_arguments(arguments: Any, wanted: Verdict) -> None:
    entry = {"type": "tool.execution", "id": "t1", "name": "web_search", **arguments}
    body = {"object": "conversation.response", "conversation_id": "c1", "outputs": [entry]}
    assert verdict("wire/mistral-conversations/carries", "mistral.conversations", body) is wanted


@pytest.mark.parametrize(
    "said", [{"response": 7}, {"responses": "Yes."}, {"response": ["Yes."]}, {}], ids=repr
)
def test_a_completion_whose_text_is_lost_is_no_request(said: Any, tmp_path: Path) -> None:
    line = {"model": "think-1", "created_at": "2026-11-20T10:00:00Z", "context": [1, 2]}
    path = tmp_path / "body.json"
    path.write_text(json.dumps({**line, **said, "done": True, "done_reason": "stop"}))
    for dialect in ("ollama.generate", None):
        report = check_paths([path], dialect=dialect)
        assert "wire/ollama-generate/response-is-text" in {f.rule for f in report.findings}


@pytest.mark.parametrize(
    ("asked", "stated", "wanted"),
    [
        ({"previous_interaction_id": "v1_0"}, "v1_0", Verdict.PASS),
        ({"previous_interaction_id": "v1_0"}, None, Verdict.VACUOUS),  # it need not be stated
        ({"previous_interaction_id": "v1_0"}, "v1_9", Verdict.FAIL),
        ({}, "v1_0", Verdict.NOT_APPLICABLE),  # read again, or continued by a token
        (None, "v1_0", Verdict.UNTESTABLE),
    ],
)
def test_an_interaction_states_the_one_before_if_at_all(
    asked: Any, stated: Any, wanted: Verdict
) -> None:
    rule = "wire/interactions/previous-as-asked"
    body = {
        "id": "v1_1",
        "object": "interaction",
        "status": "completed",
        "steps": [],
        "previous_interaction_id": stated,
    }
    head = {"status": 200, "headers": [["content-type", "application/json"]]}
    checker = Checker("gemini.interactions", "strict", rules=[rule])
    checked = checker.check([json.dumps(body).encode()], request=asked, response=head)
    assert checked.verdicts[rule] is wanted
