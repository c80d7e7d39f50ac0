"""What vendors' newest software sends, and their clients take: no MUST speaks of it."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from conformance import Checker, Request
from conformance.rules.verdicts import Level, Verdict
from tests.rules.test_legal_answers import converse, streamed, verdict

UI: Final = "wire/ui-message/"
START: Final = {"type": "start", "messageId": "m"}
STEP: Final = {"type": "start-step"}
THOUGHT: Final = [
    {"type": "reasoning-start", "id": "r"},
    {"type": "reasoning-delta", "id": "r", "delta": "Low tide."},
]
SAID: Final = [
    {"type": "text-start", "id": "t"},
    {"type": "text-delta", "id": "t", "delta": "At"},
]
CALL: Final = {"type": "tool-input-start", "toolCallId": "c", "toolName": "tide"}
FINISH: Final = {"type": "finish", "finishReason": "stop"}


@pytest.mark.parametrize(
    ("again", "wanted"),
    [
        ({"messageId": "m"}, Verdict.PASS),
        ({}, Verdict.PASS),
        ({"messageId": "another"}, Verdict.FAIL),
    ],
    ids=["same", "unnamed", "another"],
)
def test_joined_streams_may_start_one_message_again(again: Any, wanted: Verdict) -> None:
    """Run with ai 6.0.326 and 7.0.173: only another id makes them forget what was shown."""
    events = [START, STEP, *THOUGHT, {"type": "start", **again}, *SAID]
    asked = Request(json={"messages": []})
    assert streamed(f"{UI}start-names-it", "vercel.ui", events, asked) is wanted


@pytest.mark.parametrize(
    ("rule", "left_open"),
    [("reasoning-ended", THOUGHT), ("text-ended", SAID), ("input-complete", [CALL])],
)
def test_streamtext_ends_nothing_where_its_caller_aborts(rule: str, left_open: Any) -> None:
    """As ai 6.0.326 and 7.0.173 send it. The end of a step is no abort."""
    aborted = [START, STEP, *left_open, {"type": "abort"}]
    assert streamed(f"{UI}{rule}", "vercel.ui", aborted) is not Verdict.FAIL
    over = [START, STEP, *left_open, {"type": "finish-step"}, FINISH]
    assert streamed(f"{UI}{rule}", "vercel.ui", over) is Verdict.FAIL


def test_what_comes_after_the_finish_of_a_ui_message_is_shown() -> None:
    """Run with ai 6.0.326 and 7.0.173."""
    events = [START, STEP, {"type": "finish-step"}, FINISH, *SAID]
    assert streamed(f"{UI}finish-last", "vercel.ui", events) is Verdict.FAIL
    late = streamed("thinking/stream/before-finish", "vercel.ui", events)
    assert late is Verdict.NOT_APPLICABLE


def reasoned(*content: dict[str, Any], profile: str) -> Verdict:
    rule = "thinking/stream/before-text"
    body = json.dumps(converse(*content)).encode()
    head = {"status": 200, "headers": [["content-type", "application/json"]]}
    checker = Checker("bedrock.converse", profile, rules=[rule])
    return checker.check([body], response=head).verdicts[rule]


def test_claude_may_think_after_text_on_every_host() -> None:
    """Adaptive thinking; of other models on Bedrock nobody saw it."""
    thought = {"reasoningContent": {"reasoningText": {"text": "Low tide.", "signature": "E"}}}
    content: list[dict[str, Any]] = [{"text": "I look."}, thought, {"text": "At nine."}]
    assert reasoned(*content, profile="claude") is Verdict.NOT_APPLICABLE
    assert reasoned(*content, profile="nova-2") is not Verdict.NOT_APPLICABLE


def item(kind: str, number: int, **fields: Any) -> list[dict[str, Any]]:
    named = {"id": f"i{number}", "type": kind, **fields}
    about = {"item_id": named["id"], "output_index": number}
    said = {
        "message": {"type": "response.output_text.delta", "content_index": 0, "delta": "I look."},
        "reasoning": {
            "type": "response.reasoning_summary_text.delta",
            "summary_index": 0,
            "delta": "So it is nine.",
        },
    }
    return [
        {"type": "response.output_item.added", "output_index": number, "item": named},
        *([{**said[kind], **about}] if kind in said else []),
        {"type": "response.output_item.done", "output_index": number, "item": named},
    ]


@pytest.mark.parametrize(
    ("between", "wanted"),
    [
        (["web_search_call"], Verdict.PASS),
        (["mcp_call", "reasoning", "code_interpreter_call"], Verdict.PASS),
        (["function_call"], Verdict.FAIL),
        ([], Verdict.FAIL),
        (["web_search_call", "message"], Verdict.FAIL),
    ],
    ids=["hosted", "two hosted", "function", "nothing", "answered"],
)
def test_behind_a_hosted_call_the_model_may_think_again(between: Any, wanted: Verdict) -> None:
    kinds = ["reasoning", "message", *between, "reasoning", "message"]
    events = [each for number, kind in enumerate(kinds) for each in item(kind, number)]
    assert streamed("thinking/stream/before-text", "openai.responses", events) is wanted


def asked(rule: str, dialect: str, profile: str = "strict", **body: Any) -> Verdict:
    message = {"role": "user", "content": "Hi."}
    request = Request(json={"model": "m", "messages": [message], **body})
    checker = Checker(dialect, profile, rules=[rule])
    return checker.check([], request=request).verdicts[rule]


BETA: Final = ["interleaved-thinking-2025-05-14"]
BUDGET: Final = {"type": "enabled", "budget_tokens": 4096}


@pytest.mark.parametrize(
    ("beta", "wanted"), [(BETA, Verdict.NOT_APPLICABLE), (["other-2025-01-01"], Verdict.FAIL)]
)
def test_a_budget_over_several_calls_may_be_more_than_one_answer(
    beta: Any, wanted: Verdict
) -> None:
    fields = {"thinking": BUDGET, "anthropic_beta": beta}
    messages = asked(
        "effort/messages/budget-below-max", "anthropic.messages", max_tokens=2048, **fields
    )
    on_bedrock = asked(
        "effort/converse/budget-below-max",
        "bedrock.converse",
        inferenceConfig={"maxTokens": 2048},
        additionalModelRequestFields=fields,
    )
    assert (messages, on_bedrock) == (wanted, wanted)


@pytest.mark.parametrize(
    ("thinking", "wanted"),
    [({"type": "adaptive"}, Verdict.NOT_APPLICABLE), (BUDGET, Verdict.FAIL)],
)
def test_an_adaptive_turn_comes_back_as_it_came(thinking: Any, wanted: Verdict) -> None:
    """Claude Opus 4.6 begins a turn with two line ends, and then thinks."""
    thought = {"type": "thinking", "thinking": "Low tide.", "signature": "E"}
    call = {"type": "tool_use", "id": "t", "name": "tide", "input": {}}
    turn = {"role": "assistant", "content": [{"type": "text", "text": "\n\n"}, thought, call]}
    found = asked(
        "history/messages/first-in-content",
        "anthropic.messages",
        messages=[{"role": "user", "content": "Hi."}, turn],
        thinking=thinking,
    )
    assert found is wanted


@pytest.mark.parametrize(
    ("rule", "status", "wanted"),
    [
        ("whole-items-closed", "incomplete", Verdict.FAIL),
        ("whole-items-closed", "in_progress", Verdict.PASS),
        ("whole-items-settled", "in_progress", Verdict.FAIL),
    ],
)
def test_the_sentence_on_incomplete_items_is_of_no_other_ones(
    rule: str, status: str, wanted: Verdict
) -> None:
    item = {"id": "m", "type": "message", "role": "assistant", "status": status, "content": []}
    body = {"id": "r", "object": "response", "status": "completed", "output": [item]}
    assert verdict(f"wire/responses-items/{rule}", "openai.responses", body) is wanted


def chunk(delta: dict[str, Any], **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    about = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**about, "choices": [choice], **more}


BEGUN: Final = chunk({"role": "assistant", "content": "Yes"})


@pytest.mark.parametrize(
    ("chunks", "wanted"),
    [
        (
            [chunk({"role": "assistant", "content": 5}), chunk({"content": "Yes"})],
            {"delta-types", "finish-present"},
        ),
        ([BEGUN, chunk({}, choices={"0": {}})], {"chunk-fields"}),
        ([BEGUN, chunk({}, id=None)], {"chunk-fields", "finish-present"}),
    ],
    ids=["wrong text early", "unread choices", "no id"],
)
def test_a_finish_is_lost_with_what_holds_it_alone(chunks: Any, wanted: set[str]) -> None:
    lines = [f"data: {json.dumps(each)}\n\n".encode() for each in chunks]
    found = Checker("openai.chat", "strict").check([*lines, b"data: [DONE]\n\n"]).findings
    musts = {each.rule.rpartition("/")[2] for each in found if each.level is Level.MUST}
    assert musts == wanted


ENABLED: Final = {"type": "enabled", "budget_tokens": 2048}
ON_BEDROCK: Final = {"additionalModelRequestFields": {"thinking": ENABLED}}


@pytest.mark.parametrize(
    ("rule", "body", "wanted"),
    [
        ("temperature-kept", {"temperature": 1}, Verdict.PASS),
        ("temperature-kept", {"temperature": 1.0, "top_p": 0.97}, Verdict.PASS),
        ("temperature-kept", {}, Verdict.PASS),
        ("temperature-kept", {"temperature": 0}, Verdict.FAIL),
        ("own-fields", {"metadata": {"user_id": "u"}}, Verdict.PASS),
        ("own-fields", {"effort": "high"}, Verdict.FAIL),
        ("thinking-formed", {}, Verdict.PASS),
        ("thinking-formed", {"thinking": {"type": "between_tools"}}, Verdict.PASS),
        ("thinking-formed", {"thinking": None}, Verdict.VACUOUS),
        ("thinking-formed", {"thinking": "high"}, Verdict.FAIL),
        ("budget-stated", {}, Verdict.PASS),
        ("budget-stated", {"thinking": {"type": "enabled"}}, Verdict.FAIL),
        ("budget-stated", {"thinking": {"type": "adaptive"}}, Verdict.PASS),
    ],
)
def test_a_request_for_thinking_may_state_its_defaults(
    rule: str, body: Any, wanted: Verdict
) -> None:
    fields = {"model": "claude-m", "thinking": ENABLED, "max_tokens": 4096, **body}
    assert asked(f"effort/messages/{rule}", "anthropic.messages", **fields) is wanted


@pytest.mark.parametrize(
    ("rule", "body"),
    [
        ("temperature-kept", {"temperature": 0.6}),
        ("budget-stated", {"thinking": {"type": "enabled"}}),
        ("thinking-formed", {"thinking": {"type": "auto"}}),
    ],
)
def test_servers_of_other_models_have_limits_of_their_own(rule: str, body: Any) -> None:
    rule, fields = f"effort/messages/{rule}", {"thinking": ENABLED, **body}
    for model in ("deepseek-v4-pro", "MiniMax-M3", "glm-5"):
        verdict = asked(rule, "anthropic.messages", model=model, **fields)
        assert verdict is Verdict.NOT_APPLICABLE
    named = {"model": "claude-m", **fields}
    assert asked(rule, "anthropic.messages", "ollama-messages", **named) is Verdict.NOT_APPLICABLE


def test_mistral_takes_arguments_as_an_object() -> None:
    call = {"id": "c", "function": {"name": "tide", "arguments": {"at": 1}}}
    turns = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    rule = "history/chat/arguments-are-text"
    assert asked(rule, "openai.chat", messages=turns) is Verdict.FAIL
    named = asked(rule, "openai.chat", model="mistral-large-latest", messages=turns)
    assert named is Verdict.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("choice", "wanted"), [({"auto": {}}, Verdict.PASS), ({"any": {}}, Verdict.FAIL)]
)
def test_on_bedrock_a_tool_may_be_offered_with_a_budget(choice: Any, wanted: Verdict) -> None:
    rule = "effort/converse/tool-not-forced"
    fields: dict[str, Any] = {"toolConfig": {"toolChoice": choice}, **ON_BEDROCK}
    assert asked(rule, "bedrock.converse", "claude", **fields) is wanted
    assert asked(rule, "bedrock.converse", **fields) is Verdict.NOT_APPLICABLE
