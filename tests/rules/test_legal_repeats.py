"""What official clients take without a loss, and what the same clients lose: only that is a MUST.

Run in 2026-11 with strands-agents 1.62.0, langchain-aws 1.9.1, google-adk 2.13.0, @ai-sdk/google
3.0.141, mistralai 3.7.0, openai-codex 0.163.0, anthropic 2.14.0 and sglang 0.5.23.
"""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from conformance import Checker, Request
from conformance.rules.verdicts import Verdict
from tests.authoring import converse
from tests.rules.test_legal_answers import streamed

START: Final = converse.Framed({"role": "assistant"}, "messageStart")
STOP: Final = converse.Framed({"stopReason": "end_turn"}, "messageStop")


def text_delta(text: str) -> converse.Framed:
    return converse.Framed({"contentBlockIndex": 0, "delta": {"text": text}}, "contentBlockDelta")


CLOSED: Final = converse.Framed({"contentBlockIndex": 0}, "contentBlockStop")


@pytest.mark.parametrize(
    ("framed", "wanted"),
    [
        ([START, START, text_delta("At nine."), CLOSED, STOP], Verdict.PASS),
        ([text_delta("At"), START, text_delta(" nine."), CLOSED, STOP], Verdict.PASS),
        ([START, text_delta("At n"), START, text_delta("At nine."), CLOSED, STOP], Verdict.FAIL),
    ],
    ids=["twice before the text", "late", "in the text"],
)
def test_a_second_start_costs_words_in_the_middle_alone(framed: Any, wanted: Verdict) -> None:
    rule = "wire/converse/start-once"
    head = {"status": 200, "headers": [["content-type", "application/vnd.amazon.eventstream"]]}
    checker = Checker("bedrock.converse", "strict", rules=[rule])
    asked = Request(json={"messages": []})
    found = checker.check([each.encode() for each in framed], request=asked, response=head)
    assert found.verdicts[rule] is wanted


CREATED: Final = {"event_type": "interaction.created", "interaction": {"id": "v1_1"}}
COMPLETED: Final = {
    "event_type": "interaction.completed",
    "interaction": {"id": "v1_1", "status": "completed"},
}
UPDATED: Final = {"event_type": "interaction.status_update", "status": "completed"}
STEP: Final = [
    {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
    {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "At nine."}},
    {"event_type": "step.stop", "index": 0},
]


@pytest.mark.parametrize(
    ("rule", "events", "wanted"),
    [
        ("created-once", [CREATED, CREATED, *STEP], Verdict.PASS),
        ("created-once", [*STEP[:2], CREATED, STEP[2]], Verdict.PASS),
        ("created-once", [CREATED, *STEP[:2], CREATED, *STEP], Verdict.FAIL),
        ("end-last", [CREATED, *STEP, COMPLETED, UPDATED], Verdict.PASS),
        ("end-last", [CREATED, COMPLETED, *STEP], Verdict.FAIL),
    ],
    ids=["created twice", "created late", "created within", "status behind", "step behind"],
)
def test_an_interaction_loses_steps_alone(rule: str, events: Any, wanted: Verdict) -> None:
    assert streamed(f"wire/interactions/{rule}", "gemini.interactions", events) is wanted


BEGUN: Final = {"type": "conversation.response.started", "conversation_id": "c"}
PIECE: Final = {"type": "message.output.delta", "id": "m", "output_index": 0, "content": "At"}


@pytest.mark.parametrize(
    ("events", "wanted"),
    [
        ([BEGUN, BEGUN, PIECE], Verdict.PASS),
        ([BEGUN, PIECE, BEGUN, PIECE], Verdict.FAIL),
    ],
)
def test_entries_of_two_answers_are_joined(events: Any, wanted: Verdict) -> None:
    rule = "wire/mistral-conversations/start-once"
    asked = Request(json={"inputs": "When?", "stream": True})
    assert streamed(rule, "mistral.conversations", events, asked) is wanted


def sglang(*texts: str) -> bytes:
    lines = [
        json.dumps({"text": text, "meta_info": {"finish_reason": None}}) if text else "[DONE]"
        for text in texts
    ]
    return "".join(f"data: {line}\n\n" for line in lines).encode()


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [(("At", "", ""), Verdict.PASS), (("At", "", "At nine."), Verdict.FAIL)],
    ids=["twice", "before a text"],
)
def test_a_second_sentinel_of_sglang_costs_nothing(texts: Any, wanted: Verdict) -> None:
    rule = "wire/sglang/done-last"
    head = {"status": 200, "headers": [["content-type", "text/event-stream"]]}
    checker = Checker("sglang.generate", "strict", rules=[rule])
    assert checker.check([sglang(*texts)], response=head).verdicts[rule] is wanted


def notified(method: str, kind: str = "") -> dict[str, Any]:
    named = {"threadId": "t", "turnId": "u"}
    about = {"item": {"id": "i", "type": kind}} if kind else {"turn": {"id": "u", "items": []}}
    return {"jsonrpc": "2.0", "method": method, "params": {**named, **about}}


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [("subAgentActivity", Verdict.PASS), ("agentMessage", Verdict.FAIL)],
)
def test_a_child_agent_may_end_after_the_turn_that_spawned_it(kind: str, wanted: Verdict) -> None:
    rule = "wire/codex-app-server/turn-last"
    lines = [
        notified("turn/started"),
        notified("item/started", "agentMessage"),
        notified("turn/completed"),
        notified("item/completed", kind),
    ]
    chunks = [json.dumps(line).encode() + b"\n" for line in lines]
    checker = Checker("codex.app-server", "strict", rules=[rule])
    assert checker.check(chunks).verdicts[rule] is wanted


CALL: Final = {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {}}
CUT: Final = {"type": "input_json_delta", "partial_json": '{"line": "noo'}
INPUT: Final[list[dict[str, Any]]] = [
    {"type": "content_block_start", "index": 0, "content_block": CALL},
    {"type": "content_block_delta", "index": 0, "delta": CUT},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
]
FINE: Final = "fine-grained-tool-streaming-2025-05-14"


@pytest.mark.parametrize(
    ("fields", "headers", "wanted"),
    [
        ({"tools": [{"name": "tide", "eager_input_streaming": True}]}, [], Verdict.NOT_APPLICABLE),
        ({"anthropic_beta": [FINE]}, [], Verdict.NOT_APPLICABLE),
        ({}, [("anthropic-beta", FINE)], Verdict.NOT_APPLICABLE),
        ({"tools": [{"name": "tide"}]}, [], Verdict.FAIL),
    ],
    ids=["eager", "beta in the body", "beta in the header", "buffered"],
)
def test_fine_grained_input_need_not_be_json(fields: Any, headers: Any, wanted: Verdict) -> None:
    asked = Request(json={"model": "m", "messages": [], **fields}, headers=headers)
    rule = "wire/messages-blocks/input-json"
    assert streamed(rule, "anthropic.messages", INPUT, asked) is wanted


@pytest.mark.parametrize(
    ("model", "wanted"),
    [("qwen3-4b-thinking-2507", Verdict.NOT_APPLICABLE), ("think-1", Verdict.FAIL)],
)
def test_some_models_cannot_but_think(model: str, wanted: Verdict) -> None:
    delta = {"role": "assistant", "reasoning_content": "A sum."}
    events = [{"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]}]
    asked = Request(json={"model": model, "messages": [], "reasoning_effort": "none"})
    assert streamed("effort/chat/none-means-none", "openai.chat", events, asked) is wanted


PROMPT: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "session/prompt",
    "params": {"sessionId": "s"},
}
LATE: Final = {
    "jsonrpc": "2.0",
    "method": "session/update",
    "params": {
        "sessionId": "s",
        "update": {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": "A"},
        },
    },
}


@pytest.mark.parametrize(
    ("reason", "broken"),
    [("cancelled", "silent-after-cancelled"), ("end_turn", "silent-after-response")],
)
def test_only_of_cancelled_turns_the_protocol_demands_silence(reason: str, broken: str) -> None:
    rules = [f"wire/acp/{name}" for name in ("silent-after-cancelled", "silent-after-response")]
    over = {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": reason}}
    chunks = [json.dumps(line).encode() + b"\n" for line in (PROMPT, over, LATE)]
    found = Checker("acp", "strict", rules=rules).check(chunks)
    assert [rule for rule in rules if found.verdicts[rule] is Verdict.FAIL] == [
        f"wire/acp/{broken}"
    ]
