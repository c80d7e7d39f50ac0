"""Events and bodies of LM Studio's chat: what they give, and what they end with."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from conformance import dialects
from conformance.core.events import Event, Request
from conformance.core.reading import Reading
from conformance.dialects.requested_effort import requested_effort
from conformance.dialects.requests import Continuation, Question
from tests.authoring.lmstudio import answer, call, result
from tests.dialects.payloads import read_payloads, types_of

SAID = [("reasoning", "a b c"), ("message", "d e f")]
BEGUN = {"type": "chat.start", "model_instance_id": "m"}
ENDED = {"type": "chat.end", "result": {}}
THOUGHT = [{"type": "reasoning.start"}, {"type": "reasoning.delta", "content": "a"}]
DIALECT = dialects.get("lmstudio.chat")


read = partial(read_payloads, "lmstudio.chat")


def one(events: list[Event], kind: str) -> Any:
    (found,) = [each.data for each in events if each.type == kind and each.layer == "semantic"]
    return found


def test_a_thought_then_text_and_the_end() -> None:
    events = read(*(each.payload for each in answer(SAID, (7, 9, 4))))
    assert types_of(events) == [
        *("message.start", "thinking.start", "thinking.delta", "thinking.delta", "thinking.end"),
        *("text.start", "text.delta", "text.delta", "text.end", "usage", "done"),
    ]
    assert one(events, "usage") == {"choice": 0, "input": 7, "output": 9, "reasoning": 4}
    assert one(events, "done") == {"choice": 0, "explicit": True}
    (end,) = [each.data for each in events if each.type == "lm.chat.end"]
    texts = {"reasoning": "a b c", "message": "d e f"}
    called: dict[str, list[object]] = {"tools": [], "arguments": [], "outputs": []}
    assert end["stated"] == {**texts, **called, "order": "reasoning message"}


@pytest.mark.parametrize("is_apart", [False, True])
def test_calls_of_the_server_are_hosted(is_apart: bool) -> None:
    texts = [call("look", {"a": 1}, "found"), ("message", "b")]
    events = read(*(each.payload for each in answer(texts, (7, 9, 0), apart=is_apart)))
    ended = one(events, "tool.end")
    assert (ended["name"], ended["arguments"], ended["hosted"]) == ("look", '{"a":1}', True)
    assert types_of(events).index("tool.end") < types_of(events).index("text.start")


@pytest.mark.parametrize(
    ("payloads", "wanted"),
    [
        # The next block of a kind ends the one that is open.
        ([BEGUN, *THOUGHT, *THOUGHT, ENDED], ["thinking.end", "thinking.end", "done"]),
        # An error leaves the answer open, and a stream without an end was cut.
        (
            [BEGUN, *THOUGHT, {"type": "error", "error": {}}, ENDED],
            ["thinking.end", "error", "done"],
        ),
        ([BEGUN, *THOUGHT], ["thinking.end", "cut"]),
        # Pieces without a start, an end or a word.
        ([{"type": "message.delta", "content": "a"}, ENDED], ["text.end", "done"]),
        ([BEGUN, {"type": "message.delta", "content": ""}, ENDED], ["done"]),
        ([BEGUN, {"type": "reasoning.end"}, ENDED], ["done"]),
        # A call that fails before it was announced.
        (
            [BEGUN, {"type": "tool_call.failure", "metadata": {"tool_name": "x"}}],
            ["tool.end", "cut"],
        ),
        # Whatever an error looks like.
        ([{"error": "gone"}], ["error", "cut"]),
        ([{"model_load": 1}], ["cut"]),
    ],
)
def test_what_comes_to_an_end(payloads: list[Any], wanted: list[str]) -> None:
    ends = {"thinking.end", "text.end", "tool.end", "error", "done", "cut"}
    assert [each for each in types_of(read(*payloads)) if each in ends] == wanted


def test_a_second_start_begins_the_next_answer() -> None:
    events = read(BEGUN, *THOUGHT, BEGUN, *THOUGHT, ENDED)
    assert [each.answer for each in events if each.type == "thinking.delta"] == [1, 2]


def test_a_body_gives_what_a_stream_gives() -> None:
    texts = [("reasoning", "a"), call("look", {}, ""), ("message", "b")]
    events = read(result(texts, (7, 9, 4)), kind="body")
    assert types_of(events) == [
        *("message.start", "thinking.start", "thinking.delta", "thinking.end", "tool.start"),
        *("tool.delta", "tool.end", "text.start", "text.delta", "text.end", "usage", "done"),
    ]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [({"error": {"message": "x"}}, ["error", "done"]), ({"id": "x"}, ["done"]), ([], ["done"])],
)
def test_a_body_that_is_no_answer(body: Any, wanted: list[str]) -> None:
    assert types_of(read(body, kind="body")) == wanted


def test_a_request_says_what_is_new_and_names_what_it_carries_on() -> None:
    form = DIALECT.request
    assert form is not None
    asked = form.ask(Question("Hello", 9, streams=True, thinks=False, summarises=False))
    assert asked == {"input": "Hello", "reasoning": "off", "max_output_tokens": 9}
    wish = requested_effort(asked)
    assert wish is not None
    assert (wish.path, wish.stance) == ("reasoning", "off")
    after = Continuation(asked, (), "a", "b", (), keeps_thinking=True, results=(), question="And?")
    assert form.next_turns(after) == [{"type": "text", "content": "And?"}]
    events = read(*(each.payload for each in answer(SAID, (7, 9, 4), named="resp_1")))
    assert next(filter(None, map(form.answer_id, events))) == "resp_1"


@pytest.mark.parametrize("expected", ["Hello", [{"type": "text", "content": "Hello"}]])
def test_input_of_a_request_is_of_the_user(expected: Any) -> None:
    turns = DIALECT.turns
    assert turns is not None
    (entry,) = turns.entries({"input": expected})
    assert (turns.read(entry).by, turns.read(entry).text) == ("user", "Hello")
    events = DIALECT.reader(Reading()).request(Request(json={"input": expected}))
    assert events[0].type == "request"
