"""Responses: the life of a response, its summary, and what a later request carries on."""

from __future__ import annotations

from typing import Any

import pytest

from reference_impl.server.app import application
from reference_impl.server.engine import (
    EngineError,
    EngineEvent,
    Finish,
    Limits,
    PromptTooLong,
    ReasoningDelta,
    Start,
    TextDelta,
    Usage,
)
from reference_impl.server.service import Service
from reference_impl.server.settings import Settings
from tests.reference.driving import Answer, ask_blocking
from tests.reference.scripted_engine import CALL, CALLED, DONE, THINK, USAGE, ScriptedEngine
from tests.reference.turns import events, responses_turns

PATH = "/v1/responses"
KEY = b"k" * 32
SUMMARY = (
    Start(9),
    ReasoningDelta("hm", 2),
    TextDelta("It adds"),
    TextDelta(" two.\n"),
    TextDelta("\nIt is "),
    TextDelta("4."),
    Finish("stop", Usage(9, 8, 2)),
)
Script = tuple[EngineEvent | EngineError, ...]


def asked(
    *scripts: Script,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    service: Service | None = None,
    **fields: Any,
) -> tuple[Answer, ScriptedEngine]:
    engine = ScriptedEngine(scripts or [(*THINK, DONE)])
    if service is not None:
        service = Service(engine, settings, key=KEY, memory=service.memory)
    body = {"model": "scripted", "input": "2 + 2?", **fields}
    return ask_blocking(
        application(service or Service(engine, settings, key=KEY)), PATH, body
    ), engine


def story(answer: Answer) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events(answer.data)]


REASONING = [
    "output_item.added",
    "content_part.added",
    "reasoning_text.delta",
    "reasoning_text.delta",
    "reasoning_text.done",
    "content_part.done",
]
PART = [
    "reasoning_summary_part.added",
    "reasoning_summary_text.delta",
    "reasoning_summary_text.delta",
    "reasoning_summary_text.done",
    "reasoning_summary_part.done",
]
MESSAGE = [
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
]
CALL_LIFE = [
    "output_item.added",
    "function_call_arguments.delta",
    "function_call_arguments.done",
    "output_item.done",
]
BEGUN = ["created", "in_progress"]


def test_life_of_a_response() -> None:
    answer, _ = asked(stream=True)
    assert story(answer) == [*BEGUN, *REASONING, "output_item.done", *MESSAGE, "completed"]
    numbers = [event["sequence_number"] for event in events(answer.data)]
    assert numbers == list(range(len(numbers)))


def test_call_follows_the_reasoning() -> None:
    answer, _ = asked(CALLED, stream=True)
    assert story(answer) == [*BEGUN, *REASONING, "output_item.done", *CALL_LIFE, "completed"]


def test_reasoning_and_calls_may_alternate() -> None:
    made = (Start(7), ReasoningDelta("a", 1), CALL, ReasoningDelta("b", 1), CALL)
    answer, _ = asked((*made, Finish("tool_calls", USAGE)), stream=True)
    output = list(events(answer.data))[-1]["response"]["output"]
    kinds = ["reasoning", "function_call", "reasoning", "function_call"]
    assert [item["type"] for item in output] == kinds
    assert len({item["id"] for item in output}) == 4
    added = [e["output_index"] for e in events(answer.data) if e["type"].endswith("item.added")]
    assert added == [0, 1, 2, 3]


def test_every_paragraph_of_a_summary_is_a_part() -> None:
    answer, _ = asked((*THINK, DONE), SUMMARY, stream=True, reasoning={"summary": "detailed"})
    assert story(answer) == [
        *BEGUN,
        *REASONING,
        *PART,
        *PART,
        "output_item.done",
        *MESSAGE,
        "completed",
    ]
    output = list(events(answer.data))[-1]["response"]["output"]
    assert [part["text"] for part in output[0]["summary"]] == ["It adds two.", "It is 4."]


def test_summary_is_one_more_call_and_its_usage_is_added() -> None:
    answer, engine = asked((*THINK, DONE), SUMMARY, reasoning={"summary": "concise"})
    assert answer.json["usage"] == {
        "input_tokens": 7 + 9,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20 + 8,
        "output_tokens_details": {"reasoning_tokens": 6},
        "total_tokens": 44,
    }
    assert len(engine.calls) == 2
    assert engine.calls[1].parent is not None
    assert not engine.asked[1].thinking
    assert "2 plus 2." in engine.asked[1].messages[0]["content"]


@pytest.mark.parametrize(
    ("script", "reasoning"),
    [
        ((*THINK, DONE), {}),
        ((*THINK, DONE), {"effort": "high"}),
        ((Start(7), TextDelta("4"), DONE), {"summary": "auto"}),  # nothing was thought
        ((*THINK[:3], Finish("length", USAGE)), {"summary": "auto"}),  # the thinking was cut
    ],
)
def test_no_summary_where_nothing_was_thought(script: Script, reasoning: dict[str, Any]) -> None:
    answer, engine = asked(script, SUMMARY, reasoning=reasoning)
    assert len(engine.calls) == 1
    assert answer.json["usage"]["total_tokens"] == 27


@pytest.mark.parametrize("style", ["auto", "concise", "detailed"])
def test_style_of_the_summary_reaches_the_model(style: str) -> None:
    _, engine = asked((*THINK, DONE), SUMMARY, reasoning={"summary": style})
    assert ("in detail" in engine.asked[1].messages[0]["content"]) is (style == "detailed")


def test_failing_summary_fails_the_response_and_keeps_what_was_seen() -> None:
    broken = (Start(9), TextDelta("It adds"), EngineError("out of memory"))
    answer, engine = asked((*THINK, DONE), broken, stream=True, reasoning={"summary": "auto"})
    *_, closed, last = events(answer.data)
    assert last["type"] == "response.failed"
    assert "out of memory" in last["response"]["error"]["message"]
    assert last["response"]["output"] == [closed["item"]]
    (item,) = last["response"]["output"]
    assert item["status"] == "incomplete"
    assert item["content"][0]["text"] == "2 plus 2."
    assert item["summary"][0]["text"] == "It adds"
    assert last["response"]["usage"]["input_tokens"] > 7
    assert engine.idle


def test_failing_summary_may_be_left_empty() -> None:
    settings = Settings(summary_failure="empty")
    broken = (Start(9), EngineError("out of memory"))
    answer, _ = asked((*THINK, DONE), broken, settings=settings, reasoning={"summary": "auto"})
    assert answer.json["status"] == "completed"
    assert answer.json["output"][0]["summary"] == []
    assert answer.json["output"][1]["content"][0]["text"] == "4"


def test_summary_can_stand_in_the_closed_item_only() -> None:
    settings = Settings(summary_carrier="item_done")
    scripts = ((*THINK, DONE), SUMMARY)
    answer, _ = asked(*scripts, settings=settings, stream=True, reasoning={"summary": "auto"})
    assert not any("summary" in each for each in story(answer))
    assert len(list(events(answer.data))[-1]["response"]["output"][0]["summary"]) == 2


@pytest.mark.parametrize(
    ("script", "items"),
    [
        ((*THINK[:2], Finish("length", USAGE)), ["reasoning"]),
        ((*THINK, Finish("length", USAGE)), ["reasoning", "message"]),
    ],
)
def test_cut_response_is_incomplete(script: Script, items: list[str]) -> None:
    answer, _ = asked(script, stream=True)
    last = list(events(answer.data))[-1]
    assert last["type"] == "response.incomplete"
    assert last["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    output = last["response"]["output"]
    assert [item["type"] for item in output] == items
    assert [item["status"] for item in output] == [*["completed"] * (len(items) - 1), "incomplete"]


def test_failing_engine_keeps_what_was_seen() -> None:
    answer, _ = asked((*THINK, EngineError("broken")), stream=True)
    last = list(events(answer.data))[-1]
    assert last["type"] == "response.failed"
    assert last["response"]["error"] == {"code": "server_error", "message": "broken"}
    assert [item["status"] for item in last["response"]["output"]] == ["completed", "incomplete"]


def test_body_is_the_closing_response_of_the_stream() -> None:
    fields: Any = {"reasoning": {"effort": "low", "summary": "auto"}, "metadata": {"a": "b"}}
    body, _ = asked((*THINK, DONE), SUMMARY, **fields)
    streamed, _ = asked((*THINK, DONE), SUMMARY, **fields, stream=True)
    last = list(events(streamed.data))[-1]["response"]
    volatile = {"id", "created_at", "output"}
    assert {k: v for k, v in body.json.items() if k not in volatile} == {
        k: v for k, v in last.items() if k not in volatile
    }
    texts = [[{**item, "id": ""} for item in each["output"]] for each in (body.json, last)]
    assert texts[0] == texts[1]


def test_response_echoes_what_was_asked() -> None:
    tool = {"type": "function", "name": "add", "parameters": {"type": "object"}}
    answer, _ = asked(
        reasoning={"effort": "low"}, tools=[tool], metadata={"a": "b"}, max_output_tokens=99
    )
    assert answer.json["reasoning"] == {"effort": "low", "summary": None}
    assert answer.json["tools"][0]["name"] == "add"
    assert (answer.json["metadata"], answer.json["max_output_tokens"]) == ({"a": "b"}, 99)


def test_limits_reach_the_engine() -> None:
    _, engine = asked(max_output_tokens=99, reasoning={"effort": "minimal"}, temperature=0.5)
    assert engine.calls[0].limits == Limits(99, 16, 0.5)


def carried(first: Answer, alter: Any = None, **fields: Any) -> tuple[Answer, ScriptedEngine]:
    """A second turn with the first one's items, altered or not."""
    turns: Any = responses_turns(
        {"input": [{"role": "user", "content": "2 + 2?"}]}, first.data, "4"
    )
    if alter is not None:
        alter(turns["input"][1])
    return asked(input=turns["input"], **fields)


def first_turn() -> Answer:
    include = ["reasoning.encrypted_content"]
    return asked(CALLED, stream=True, store=False, include=include)[0]


def sealed_only(item: dict[str, Any]) -> None:
    del item["content"]


def opened_only(item: dict[str, Any]) -> None:
    del item["encrypted_content"]


@pytest.mark.parametrize("alter", [None, sealed_only, opened_only])
def test_reasoning_can_be_sent_back(alter: Any) -> None:
    answer, engine = carried(first_turn(), alter)
    assert answer.status == 200
    _, turn, result = engine.asked[0].messages
    assert turn["reasoning_content"] == "2 plus 2."
    assert turn["tool_calls"][0]["function"] == {"name": "add", "arguments": {"a": 2}}
    assert result["role"] == "tool"


@pytest.mark.parametrize("tail", ["A", "", "====", "\u00e9"])
def test_altered_encrypted_reasoning_is_refused(tail: str) -> None:
    def alter(item: dict[str, Any]) -> None:
        item["encrypted_content"] = item["encrypted_content"][:-3] + tail

    answer, engine = carried(first_turn(), alter)
    assert answer.status == 400
    assert answer.json["error"]["code"] == "invalid_encrypted_content"
    assert answer.json["error"]["param"] == "input[1].encrypted_content"
    assert engine.calls == []


def test_encrypted_reasoning_is_sent_only_where_asked_for() -> None:
    answer, _ = asked()
    assert "encrypted_content" not in answer.json["output"][0]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([{"type": "reasoning", "summary": []}], "without its required following item"),
        (
            [
                {"type": "reasoning", "summary": [], "id": "rs_1"},
                {"role": "assistant", "content": "a"},
                {"type": "reasoning", "summary": [], "id": "rs_1"},
                {"role": "assistant", "content": "b"},
            ],
            "duplicate item",
        ),
        ([{"type": "function_call_output", "call_id": "c", "output": "4"}], "no tool call found"),
        ([{"type": "reasoning"}], "missing required field `summary`"),
        ([{"type": "item_reference", "id": "rs_1"}], "not supported"),
        ([{"type": ["message"]}], "not supported"),
        ([{"role": "nobody", "content": "a"}], "nobody"),
        ([{"role": "user", "content": [{"type": "input_image"}]}], "input_image"),
    ],
)
def test_wrong_items_are_refused(items: list[Any], message: str) -> None:
    answer, engine = asked(input=items)
    assert (answer.status, engine.calls) == (400, [])
    assert message in answer.json["error"]["message"]


def test_conversation_goes_on_from_an_earlier_response() -> None:
    service = Service(ScriptedEngine([]))
    first, _ = asked(CALLED, service=service, instructions="Be short.")
    result = {"type": "function_call_output", "call_id": "", "output": "4"}
    result["call_id"] = first.json["output"][1]["call_id"]
    fields = {"previous_response_id": first.json["id"], "input": [result]}
    second, engine = asked(service=service, **fields)
    assert second.json["previous_response_id"] == first.json["id"]
    assert [turn["role"] for turn in engine.asked[0].messages] == ["user", "assistant", "tool"]
    assert engine.asked[0].messages[1]["reasoning_content"] == "2 plus 2."
    third, engine = asked(
        service=service, previous_response_id=second.json["id"], instructions="Be kind."
    )
    assert third.status == 200
    roles = [turn["role"] for turn in engine.asked[0].messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]


def test_response_that_is_not_stored_is_unknown_later() -> None:
    service = Service(ScriptedEngine([]))
    first, _ = asked(service=service, store=False)
    second, _ = asked(service=service, previous_response_id=first.json["id"])
    assert second.status == 400
    assert second.json["error"]["code"] == "previous_response_not_found"


def test_summary_of_thinking_that_is_too_long_fails_the_response() -> None:
    class Narrow(ScriptedEngine):
        def prompt(self, messages: Any, *, tools: Any = (), thinking: bool = True) -> Any:
            if self.asked:
                raise PromptTooLong(5000, 4096)
            return super().prompt(messages, tools=tools, thinking=thinking)

    engine = Narrow([(*THINK, DONE)])
    body = {"model": "scripted", "input": "2 + 2?", "reasoning": {"summary": "auto"}}
    answer = ask_blocking(application(Service(engine)), PATH, body)
    assert answer.json["status"] == "failed"
    assert "5000 tokens" in answer.json["error"]["message"]
