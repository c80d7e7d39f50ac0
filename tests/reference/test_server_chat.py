"""Chat Completions: engine events to chunks, and who sees the thinking."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reference_impl.server.app import application
from reference_impl.server.chat_stream import ChatBody, ChatShape, ChatStream, Showing
from reference_impl.server.engine import (
    EngineError,
    EngineEvent,
    Finish,
    Limits,
    Markers,
    ReasoningDelta,
    Start,
    ToolCall,
)
from reference_impl.server.projection import Stamp
from reference_impl.server.service import Service
from reference_impl.server.settings import Settings
from reference_impl.server.wire import DONE, Wire
from tests.reference.driving import Answer, ask_blocking
from tests.reference.scripted_engine import THINK, USAGE, ScriptedEngine

PATH = "/v1/chat/completions"
CALL = (Start(7), ReasoningDelta("hm", 1), ToolCall("add", '{"a":2}', 0), ToolCall("add", "{}", 1))
STAMP = Stamp(token=lambda: "1", clock=lambda: 0.0)


def chunks(events: tuple[EngineEvent, ...], shape: ChatShape) -> list[Wire]:
    stream = ChatStream(shape, STAMP)
    return [*stream.opening(), *(wire for event in events for wire in stream.feed(event))]


def deltas(wires: list[Wire]) -> list[Any]:
    choices = [wire.data["choices"] for wire in wires if not isinstance(wire.data, str)]
    return [choice["delta"] for each in choices for choice in each]


@pytest.mark.parametrize(
    ("showing", "thought"),
    [
        ("hidden", []),
        (
            "wrapped",
            [{"content": "<t>"}, {"content": "2 plus "}, {"content": "2."}, {"content": "</t>"}],
        ),
        ("reasoning_content", [{"reasoning_content": "2 plus "}, {"reasoning_content": "2."}]),
        ("reasoning", [{"reasoning": "2 plus "}, {"reasoning": "2."}]),
    ],
)
def test_thinking_is_shown_as_chosen(showing: Showing, thought: list[Any]) -> None:
    shape = ChatShape("m", showing, ("<t>", "</t>"))
    sent = chunks((*THINK, Finish("stop", USAGE)), shape)
    role = {"role": "assistant", "content": ""}
    assert deltas(sent) == [role, *thought, {"content": "4"}, {}]
    assert sent[-1].data == DONE


def test_wrapped_thinking_is_closed_at_length() -> None:
    events = (Start(7), ReasoningDelta("2 plus", 3), Finish("length", USAGE))
    sent = deltas(chunks(events, ChatShape("m", "wrapped", ("<t>", "</t>"))))
    assert sent[1:] == [{"content": "<t>"}, {"content": "2 plus"}, {"content": "</t>"}, {}]


def test_wrapped_thinking_is_closed_before_a_call() -> None:
    sent = deltas(chunks(CALL, ChatShape("m", "wrapped", ("<t>", "</t>"))))
    assert sent[3] == {"content": "</t>"}
    assert [delta["tool_calls"][0]["index"] for delta in sent[4:]] == [0, 0, 1, 1]


def test_id_and_name_of_a_call_come_once() -> None:
    first, second, *_ = deltas(chunks(CALL, ChatShape("m")))[1:]
    begun = {"name": "add", "arguments": ""}
    assert first["tool_calls"] == [
        {"index": 0, "id": "call_1", "type": "function", "function": begun}
    ]
    assert second["tool_calls"] == [{"index": 0, "function": {"arguments": '{"a":2}'}}]


def test_usage_has_a_chunk_of_its_own_before_the_end() -> None:
    sent = chunks((*THINK, Finish("stop", USAGE)), ChatShape("m", with_usage=True))
    *pieces, usage, done = sent
    assert isinstance(usage.data, dict)
    assert usage.data["choices"] == []
    assert usage.data["usage"]["completion_tokens_details"] == {"reasoning_tokens": 6}
    assert all(not isinstance(w.data, str) and w.data["usage"] is None for w in pieces)
    assert done.data == DONE


def test_stream_that_fails_ends_with_an_error_and_no_done() -> None:
    stream = ChatStream(ChatShape("m", "wrapped", ("<t>", "</t>")), STAMP)
    for event in THINK[:2]:
        list(stream.feed(event))
    close, error = stream.fail("the engine broke")
    assert deltas([close]) == [{"content": "</t>"}]
    assert isinstance(error.data, dict)
    assert error.data["error"]["message"] == "the engine broke"
    assert stream.is_over


def test_body_is_the_stream_put_together() -> None:
    shape = ChatShape("m", "reasoning_content", with_usage=True)
    body = ChatBody()
    for wire in chunks((*CALL, Finish("tool_calls", USAGE)), shape):
        body.add(wire)
    status, payload = body.body()
    (choice,) = payload["choices"]
    assert (status, payload["object"], payload["usage"]["total_tokens"]) == (
        200,
        "chat.completion",
        27,
    )
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["reasoning_content"] == "hm"
    assert choice["message"]["content"] is None
    functions = [call["function"] for call in choice["message"]["tool_calls"]]
    assert functions == [
        {"name": "add", "arguments": '{"a":2}'},
        {"name": "add", "arguments": "{}"},
    ]


def asked(
    *scripts: tuple[EngineEvent | EngineError, ...],
    settings: Settings = Settings(),  # noqa: B008 - frozen
    headers: tuple[tuple[str, str], ...] = (),
    markers: Markers | None = Markers("<think>", "</think>", 1, 2),  # noqa: B008 - frozen
    **fields: Any,
) -> tuple[Answer, ScriptedEngine]:
    engine = ScriptedEngine(scripts or [(*THINK, Finish("stop", USAGE))], markers=markers)
    app = application(Service(engine, settings))
    body = {"model": "scripted", "messages": [{"role": "user", "content": "2 + 2?"}], **fields}
    return ask_blocking(app, PATH, body, headers), engine


def content(answer: Answer) -> str:
    text = answer.json["choices"][0]["message"]["content"]
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("value", ["1", "true", "yes", "TRUE", " Yes ", "tRuE"])
@pytest.mark.parametrize("name", ["x-include-thinking", "X-Include-Thinking"])
def test_header_opts_in_however_it_is_spelt(name: str, value: str) -> None:
    answer, _ = asked(headers=((name, value),))
    assert content(answer) == "<think>2 plus 2.</think>4"


@pytest.mark.parametrize("value", ["", "0", "false", "no", "on", "truely", "y"])
def test_other_values_are_no_opt_in(value: str) -> None:
    assert content(asked(headers=(("x-include-thinking", value),))[0]) == "4"


def test_without_the_header_thinking_is_hidden_and_counted() -> None:
    answer, _ = asked()
    assert content(answer) == "4"
    assert answer.json["usage"]["completion_tokens_details"]["reasoning_tokens"] == 6


def test_another_header_can_carry_the_opt_in() -> None:
    settings = Settings(include_header="x-thoughts")
    assert content(asked(settings=settings, headers=(("x-thoughts", "1"),))[0]) == (
        "<think>2 plus 2.</think>4"
    )
    assert content(asked(settings=settings, headers=(("x-include-thinking", "1"),))[0]) == "4"


@pytest.mark.parametrize(
    ("value", "seen"), [(True, True), ("yes", True), (1, True), (False, False)]
)
def test_a_field_can_carry_the_opt_in(value: object, seen: bool) -> None:
    answer, _ = asked(settings=Settings(include_field="show"), show=value)
    assert content(answer).startswith("<think>") is seen


def test_markers_are_those_of_the_tokenizer() -> None:
    markers = Markers("[THINK]", "[/THINK]", 1, 2)
    answer, _ = asked(markers=markers, headers=(("x-include-thinking", "1"),))
    assert content(answer) == "[THINK]2 plus 2.[/THINK]4"


def test_excluded_reasoning_is_hidden_although_opted_in() -> None:
    answer, _ = asked(headers=(("x-include-thinking", "1"),), reasoning={"exclude": True})
    assert content(answer) == "4"


@pytest.mark.parametrize(
    ("fields", "limits"),
    [
        ({"max_tokens": 20}, Limits(max_tokens=20, thinking_budget=9)),
        ({"max_tokens": 20, "reasoning_effort": "minimal"}, Limits(20, 9)),
        ({"max_completion_tokens": 200, "reasoning_effort": "low"}, Limits(200, 64)),
        ({"reasoning_effort": "max"}, Limits()),
        (
            {"stop": "x", "seed": 3, "temperature": 1, "top_p": 0.5},
            Limits(None, None, 1, 0.5, 3, ("x",)),
        ),
        ({"stop": ["x", "y"]}, Limits(stop=("x", "y"))),
    ],
)
def test_limits_reach_the_engine(fields: dict[str, Any], limits: Limits) -> None:
    _, engine = asked(**fields)
    assert engine.calls[0].limits == limits
    assert engine.asked[0].thinking


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning_effort": "none"},
        {"chat_template_kwargs": {"enable_thinking": False}},
        {"max_tokens": 3},  # too few to think and answer
    ],
)
def test_thinking_can_be_off(fields: dict[str, Any]) -> None:
    _, engine = asked(**fields)
    assert not engine.asked[0].thinking


def test_shown_thinking_may_use_up_the_limit() -> None:
    _, engine = asked(settings=Settings(chat_reasoning="reasoning"), max_tokens=20)
    assert engine.calls[0].limits == Limits(max_tokens=20)


def test_history_reaches_the_chat_template() -> None:
    function = {"name": "add", "arguments": '{"a": 2}'}
    call = {"id": "c1", "type": "function", "function": function}
    turns = [
        {
            "role": "developer",
            "content": [{"type": "text", "text": "Be "}, {"type": "text", "text": "short."}],
        },
        {"role": "assistant", "content": None, "reasoning": "hm", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "4"},
        {"role": "user", "content": "And?"},
    ]
    tool = {"type": "function", "function": {"name": "add"}}
    _, engine = asked(messages=turns, tools=[tool])
    made = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": {"a": 2}}}
    assert engine.asked[0].messages == (
        {"role": "system", "content": "Be short."},
        {"role": "assistant", "content": "", "reasoning_content": "hm", "tool_calls": [made]},
        {"role": "tool", "tool_call_id": "c1", "content": "4"},
        {"role": "user", "content": "And?"},
    )
    assert [each["function"]["name"] for each in engine.asked[0].tools] == ["add"]


def test_tools_are_not_offered_where_the_choice_is_none() -> None:
    tool = {"type": "function", "function": {"name": "add"}}
    _, engine = asked(tools=[tool], tool_choice="none")
    assert engine.asked[0].tools == ()


def test_failing_engine_is_an_error_in_the_stream() -> None:
    answer, engine = asked((*THINK[:2], EngineError("out of memory")), stream=True)
    last = json.loads(answer.data.decode().strip().splitlines()[-1].removeprefix("data: "))
    assert last["error"]["message"] == "out of memory"
    assert b"[DONE]" not in answer.data
    assert engine.idle


def test_failing_engine_is_an_error_of_the_body() -> None:
    answer, _ = asked((*THINK[:2], EngineError("out of memory")))
    assert (answer.status, answer.json["error"]["type"]) == (500, "server_error")


def test_generation_that_ends_early_is_no_answer() -> None:
    answer, _ = asked(THINK)
    assert answer.status == 500
