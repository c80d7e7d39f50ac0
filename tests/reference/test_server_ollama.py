"""Ollama's native API: engine events to lines, switches of thinking, and thinking sent back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reference_impl.server.app import application
from reference_impl.server.engine import EngineError, EngineEvent, Finish, Limits
from reference_impl.server.service import Service
from tests.reference.driving import Answer, ask_blocking
from tests.reference.scripted_engine import CALL, DONE, THINK, USAGE, ScriptedEngine

PATH = "/api/chat"


def asked(
    *scripts: tuple[EngineEvent | EngineError, ...], **fields: Any
) -> tuple[Answer, ScriptedEngine]:
    engine = ScriptedEngine(scripts or [(*THINK, DONE)])
    body = {"model": "scripted", "messages": [{"role": "user", "content": "2 + 2?"}], **fields}
    return ask_blocking(application(Service(engine)), PATH, body), engine


def lines(answer: Answer) -> list[dict[str, Any]]:
    assert answer.data.endswith(b"\n")
    return [json.loads(line) for line in answer.data.splitlines()]


def test_stream_is_lines_of_json_unless_switched_off() -> None:
    answer, _ = asked()
    assert dict(answer.headers)["content-type"] == "application/x-ndjson"
    *deltas, last = lines(answer)
    assert [each["message"] for each in deltas] == [
        {"role": "assistant", "content": "", "thinking": "2 plus "},
        {"role": "assistant", "content": "", "thinking": "2."},
        {"role": "assistant", "content": "4"},
    ]
    assert [each["done"] for each in deltas] == [False] * 3
    assert (last["done"], last["done_reason"]) == (True, "stop")
    assert (last["prompt_eval_count"], last["eval_count"]) == (7, 20)


def test_body_is_the_stream_put_together() -> None:
    answer, _ = asked((*THINK, CALL, Finish("tool_calls", USAGE)), stream=False)
    message = answer.json["message"]
    assert (message["thinking"], message["content"]) == ("2 plus 2.", "4")
    assert message["tool_calls"][0]["function"] == {
        "index": 0,
        "name": "add",
        "arguments": {"a": 2},
    }
    assert (answer.json["done"], answer.json["done_reason"]) == (True, "stop")


@pytest.mark.parametrize(
    ("think", "thinks", "budget"),
    [(None, True, None), (True, True, None), (False, False, None), ("low", True, 64)],
)
def test_thinking_is_on_unless_switched_off(think: Any, thinks: bool, budget: int | None) -> None:
    _, engine = asked(**({} if think is None else {"think": think}))
    assert engine.asked[0].thinking is thinks
    assert engine.calls[0].limits == Limits(thinking_budget=budget)


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({"think": "loud"}, 400, "invalid think value"),
        ({"model": "other"}, 404, "model 'other' not found"),
        ({"format": "json"}, 400, "not supported"),
        ({"messages": [{"role": "actor"}]}, 400, "unknown role"),
    ],
)
def test_refusal_is_one_word_of_json(fields: dict[str, Any], status: int, message: str) -> None:
    answer, _ = asked(**fields)
    assert answer.status == status
    assert list(answer.json) == ["error"]
    assert message in answer.json["error"]


def test_failure_is_the_last_line() -> None:
    answer, _ = asked((*THINK, EngineError("out of memory")))
    assert answer.status == 200
    assert lines(answer)[-1] == {"error": "out of memory"}
    body, _ = asked((*THINK, EngineError("out of memory")), stream=False)
    assert (body.status, body.json) == (500, {"error": "out of memory"})


def test_thinking_and_calls_that_come_back_reach_the_model() -> None:
    function = {"name": "add", "arguments": {"a": 2}}
    turns = [
        {"role": "user", "content": "2 + 2?"},
        {"role": "assistant", "thinking": "plus", "tool_calls": [{"function": function}]},
        {"role": "tool", "tool_name": "add", "content": "4"},
    ]
    _, engine = asked(messages=turns)
    _, model, result = engine.asked[0].messages
    assert model["reasoning_content"] == "plus"
    assert model["tool_calls"][0]["function"] == function
    assert result["content"] == "4"


def test_limit_is_reported() -> None:
    answer, engine = asked((*THINK, Finish("length", USAGE)), options={"num_predict": 9})
    assert lines(answer)[-1]["done_reason"] == "length"
    assert engine.calls[0].limits.max_tokens == 9


def completed(**fields: Any) -> tuple[Answer, ScriptedEngine]:
    engine = ScriptedEngine([(*THINK, DONE)])
    body = {"model": "scripted", "prompt": "2 + 2?", "stream": False, **fields}
    return ask_blocking(application(Service(engine)), "/api/generate", body), engine


def test_a_completion_continues_the_turns_of_its_context() -> None:
    first, _ = completed(system="Be brief.")
    context = first.json["context"]
    assert all(type(each) is int for each in context)
    second, engine = completed(prompt="And 3 + 3?", context=context, system="Be brief.")
    assert [tuple(each.values()) for each in engine.asked[0].messages] == [
        ("system", "Be brief."),
        ("user", "2 + 2?"),
        ("assistant", "4"),
        ("user", "And 3 + 3?"),
    ]
    assert len(second.json["context"]) > len(context)


@pytest.mark.parametrize("context", [[1, 2, 3], [300], [-1], list(b'[["robot", "hi"]]')])
def test_a_context_of_another_server_is_refused(context: list[int]) -> None:
    answer, _ = completed(context=context)
    assert answer.status == 400
    assert answer.json == {"error": "the context is not one of this server"}
