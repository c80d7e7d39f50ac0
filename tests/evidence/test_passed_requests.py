"""Two requests that mean the same are alike, between any two APIs; what is lost is found."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.core.events import Exchange, Request
from conformance.evidence.comparable_requests import Lost, comparable_request
from conformance.judging.passed_request_rules import ASKED_RULES
from conformance.scenarios import load_scenarios
from tests.evidence.asked_requests import ASK, chat, found, function, got, messages, sent

(TOOLS,) = load_scenarios(["gateway-tools"])[:1]
(TURN,) = (step for step in TOOLS.steps if step.role == "tool-turn")
VALUES = {**TOOLS.values, "model": "m", "limit": 2048}
APIS = tuple(TURN.bodies)


@pytest.mark.parametrize("here", APIS)
@pytest.mark.parametrize("upstream", APIS)
def test_every_api_says_the_same_in_its_own_words(here: str, upstream: str) -> None:
    one, other = (sent(api, TURN.body(api, VALUES)) for api in (here, upstream))
    differences = found(one, other)
    # A first turn repeats none, asks for none, has no instructions and wants no JSON.
    for name in ("answers", "choice", "settings", "sealed", "system-prompt", "format"):
        assert differences.pop(name) is False
    assert set(differences.values()) == {True}


SETTINGS, FORCED = load_scenarios(["gateway-asked"])[0].steps
ASKING = {**load_scenarios(["gateway-asked"])[0].values, "model": "m", "limit": 2048}
FORCING = [api for api in APIS if api in FORCED.bodies]


@pytest.mark.parametrize("here", APIS)
@pytest.mark.parametrize("upstream", APIS)
def test_every_api_says_stops_and_temperature_in_its_own_words(here: str, upstream: str) -> None:
    one, other = (sent(api, SETTINGS.body(api, ASKING)) for api in (here, upstream))
    differences = found(one, other)["settings"]
    # Responses has no place for stop sequences.
    has_no_place = {here, upstream} - {"openai.responses"} == {here, upstream}
    assert (
        differences is True
        if has_no_place or here == "openai.responses"
        else not isinstance(differences, Lost)
    )


@pytest.mark.parametrize("here", FORCING)
@pytest.mark.parametrize("upstream", APIS)
def test_every_api_demands_a_call_in_its_own_words(here: str, upstream: str) -> None:
    step = FORCED if upstream in FORCING else TURN
    one = sent(here, FORCED.body(here, ASKING))
    other = sent(upstream, step.body(upstream, ASKING if step is FORCED else VALUES))
    assert found(one, other)["choice"] is (upstream in FORCING)
    if upstream in FORCING:
        assert isinstance(found(one, sent(upstream, TURN.body(upstream, VALUES)))["choice"], Lost)


OFFERED: dict[str, Any] = {
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]
}
NAMED = {"type": "function", "function": {"name": "f"}}
CHOICES: list[tuple[dict[str, Any], dict[str, Any], Any]] = [
    ({**OFFERED, "tool_choice": "auto"}, OFFERED, False),
    ({"tool_choice": "required"}, {}, False),
    ({**OFFERED, "tool_choice": NAMED}, {**OFFERED, "tool_choice": NAMED}, True),
    ({**OFFERED, "tool_choice": NAMED}, {**OFFERED, "tool_choice": "required"}, True),
    ({**OFFERED, "tool_choice": NAMED}, OFFERED, "calls are free"),
    ({**OFFERED, "tool_choice": "required"}, {**OFFERED, "tool_choice": "none"}, "no call"),
    ({**OFFERED, "tool_choice": "none"}, {**OFFERED, "tool_choice": "none"}, True),
    ({**OFFERED, "tool_choice": "none"}, {}, True),
    ({**OFFERED, "tool_choice": "none"}, OFFERED, "calls are free"),
]


@pytest.mark.parametrize(("one", "other", "wanted"), CHOICES)
def test_choices(one: dict[str, Any], other: dict[str, Any], wanted: Any) -> None:
    assert got(found(chat(**one), chat(**other))["choice"]) == wanted


OFF: dict[str, Any] = {"reasoning_effort": "none"}
KEPT: list[tuple[dict[str, Any], dict[str, Any], Any]] = [
    (OFF, {"temperature": 1}, False),
    ({**OFF, "temperature": 1.5}, {"temperature": 1}, True),
    ({**OFF, "temperature": 0.5}, {"temperature": 1}, "1.0"),
    ({**OFF, "temperature": 0.5}, {}, "nothing"),
    ({**OFF, "temperature": 0.5}, {"reasoning_effort": "high"}, False),
    ({"temperature": 0.5}, {}, False),
    ({"stop": "a"}, {"stop": ["a", "b"]}, True),
    ({"stop": ["a", "b"]}, {"stop": ["a"]}, "nothing"),
]


@pytest.mark.parametrize(("one", "other", "wanted"), KEPT)
def test_settings(one: dict[str, Any], other: dict[str, Any], wanted: Any) -> None:
    assert got(found(chat(**one), chat(**other))["settings"]) == wanted


def test_stops_that_the_other_api_has_no_place_for_are_not_judged() -> None:
    upstream = sent("openai.responses", {"model": "m", "input": [ASK]})
    assert found(chat(stop="a"), upstream)["settings"] is False


EFFORTS: list[tuple[Exchange, Exchange, Any]] = [
    (chat(), chat(), False),
    (chat(reasoning_effort="high"), chat(), "nothing"),
    (chat(reasoning_effort="high"), chat(reasoning_effort="none"), 'reasoning_effort: "none"'),
    (chat(reasoning_effort="high"), chat(think=False), "think: false"),
    (chat(reasoning_effort="high"), chat(reasoning_effort="low"), True),
    (chat(reasoning_effort="high"), chat(model="m-high"), True),
    (chat(reasoning_effort="high", model="m-high"), chat(model="m-high"), "nothing"),
    (chat(reasoning_effort="minimal"), messages(thinking={"type": "disabled"}), True),
    (chat(reasoning_effort="none"), messages(), True),
    (chat(reasoning_effort="none"), chat(), "nothing"),
    (chat(reasoning_effort="none"), chat(reasoning={"effort": "low"}), 'reasoning.effort: "low"'),
    (messages(output_config={"effort": "max"}), chat(reasoning_effort="high"), True),
    (messages(thinking={"type": "adaptive"}), chat(), "nothing"),
    (messages(thinking={"type": "adaptive"}), messages(), "nothing"),
    (messages(thinking={"type": "disabled"}), messages(), True),
    (messages(thinking={"type": []}), chat(), False),
]


@pytest.mark.parametrize(("one", "other", "wanted"), EFFORTS)
def test_efforts(one: Exchange, other: Exchange, wanted: Any) -> None:
    assert got(found(one, other)["effort"]) == wanted


BUDGET = {"type": "enabled", "budget_tokens": 1024}
LIMITS: list[tuple[Exchange, Exchange, Any]] = [
    (chat(), messages(max_tokens=4096), False),
    (chat(max_tokens=100), chat(), "none"),
    (chat(max_tokens=100), chat(max_completion_tokens=100), True),
    (chat(max_tokens=100), chat(max_tokens=4096, max_completion_tokens=100), True),
    (chat(max_tokens=100), chat(max_tokens=99), True),
    (chat(max_tokens=100), chat(max_tokens=101), "101"),
    (chat(max_tokens=1), chat(max_tokens=16), True),
    (chat(max_tokens=100), chat(max_tokens=-1), "none"),
    (chat(max_tokens=100), messages(max_tokens=1124, thinking=BUDGET), True),
    (chat(max_tokens=100), messages(max_tokens=1125, thinking=BUDGET), "1125"),
    (chat(max_tokens="100"), chat(), False),
]


@pytest.mark.parametrize(("one", "other", "wanted"), LIMITS)
def test_limits(one: Exchange, other: Exchange, wanted: Any) -> None:
    assert got(found(one, other)["limit"]) == wanted


HOSTED = {"type": "web_search"}
TOOLS_OFFERED: list[tuple[list[Any], list[Any] | None, Any]] = [
    ([function("f", "a")], [function("f", "a")], True),
    ([function("f", "a"), function("g")], [function("g"), function("f", "a")], True),
    ([function("f", "a"), function("g")], [function("f", "a")], "nothing"),
    ([function("f", "a")], [], "nothing"),
    ([function("f", "a")], None, "nothing"),
    ([function("f", "a")], [function("f")], "f()"),
    ([function("f", "a")], [function("f", "b")], "f(b)"),
    ([function("f", "a")], [function("f", "a", "b")], "f(a, b)"),
    ([function("f", "a")], [function("f", "a", "b", additionalProperties=False)], True),
    ([function("f")], [function("f"), function("own")], True),
    ([function("f.g")], [function("f_g")], False),  # respelled: nothing could be compared
    ([function("f.g"), function("f")], [function("f_g"), function("f")], True),
    ([HOSTED], [], False),
    ([HOSTED, function("f")], [function("f")], True),
]


@pytest.mark.parametrize(("one", "other", "wanted"), TOOLS_OFFERED)
def test_tools(one: list[Any], other: list[Any] | None, wanted: Any) -> None:
    more = {} if other is None else {"tools": other}
    assert got(found(chat(tools=one), chat(**more))["tools"]) == wanted


def test_a_request_without_calls_needs_no_tools() -> None:
    assert found(chat(tools=[function()], tool_choice="none"), chat())["tools"] is False


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLED = {"role": "assistant", "content": "", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "5"}
USE = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
GIVEN = {"type": "tool_result", "tool_use_id": "c", "content": "5"}
MORE = {"role": "user", "content": "And then?"}
SAID = {"role": "assistant", "content": "Hello."}
THOUGHT = {"role": "assistant", "content": "", "reasoning_content": "Hm."}
LOOP = [ASK, {"role": "assistant", "content": [USE]}]
TWICE = {**CALLED, "tool_calls": [CALL, CALL]}
ITEMS = [
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "5"},
]
HISTORIES: list[tuple[list[Any], Exchange, Any]] = [
    ([ASK], chat(), True),
    ([ASK], chat(messages=[{"role": "system", "content": "S"}, ASK]), True),
    ([ASK], chat(messages=[{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]), True),
    ([ASK], chat(messages=[{"role": "user", "content": ""}]), "''"),
    ([ASK], chat(messages=[]), "0"),
    ([ASK, SAID, MORE], chat(messages=[ASK, SAID, MORE]), True),
    ([ASK, SAID, MORE], chat(messages=[MORE]), "1"),
    ([ASK, SAID, MORE], chat(messages=[ASK, MORE]), "1"),
    ([ASK, MORE], messages(messages=[{"role": "user", "content": "Hi\n\nAnd then?"}]), True),
    ([ASK, SAID, MORE], chat(messages=[ASK, SAID, {**MORE, "content": "And now?"}]), "'And now?'"),
    ([ASK, THOUGHT, MORE], chat(messages=[ASK, MORE]), True),
    ([ASK, CALLED, RESULT], messages(messages=[*LOOP, {"role": "user", "content": [GIVEN]}]), True),
    ([ASK, CALLED, RESULT], messages(messages=LOOP), "0"),
    ([ASK, TWICE, RESULT, RESULT], sent("openai.responses", {"input": [ASK, *ITEMS * 2]}), True),
    ([ASK, TWICE, RESULT, RESULT], sent("openai.responses", {"input": [ASK, *ITEMS]}), "1"),
    (
        [ASK, CALLED, RESULT, MORE],
        messages(messages=[*LOOP, {"role": "user", "content": [GIVEN]}]),
        "'Hi'",
    ),
    (
        [ASK, CALLED, RESULT, MORE],
        messages(
            messages=[
                *LOOP,
                {"role": "user", "content": [GIVEN, {"type": "text", "text": "And then?"}]},
            ]
        ),
        True,
    ),
]


@pytest.mark.parametrize(("one", "other", "wanted"), HISTORIES)
def test_histories(one: list[Any], other: Exchange, wanted: Any) -> None:
    assert got(found(chat(messages=one), other)["history"]) == wanted


def test_a_history_that_the_server_keeps_is_not_compared() -> None:
    one = sent("openai.responses", {"input": "And then?", "previous_response_id": "resp_1"})
    assert found(one, chat(messages=[ASK, SAID, MORE]))["history"] is False


def test_a_level_may_be_lowered_and_not_raised() -> None:
    low, high = chat(reasoning_effort="low"), chat(reasoning_effort="high")
    assert isinstance(found(low, high)["effort"], Lost)
    assert found(high, low)["effort"] is True
    assert found(low, sent("openai.responses", {"reasoning": {"effort": "high"}}))["effort"] is True


def test_what_is_no_json_is_not_compared() -> None:
    assert comparable_request(Exchange(request=Request(json=None), dialect="openai.chat")) is None
    assert comparable_request(Exchange(request=Request(json=[]), dialect="openai.chat")) is None
    assert comparable_request(Exchange(request=None, dialect="openai.chat")) is None
    assert comparable_request(Exchange(request=Request(json={}))) is None


JUNK: tuple[Any, ...] = (None, 0, -1, True, "x", [], [None], [[]], {}, {"type": {}}, [{"role": []}])
FIELDS = ("messages", "tools", "max_tokens", "reasoning_effort", "reasoning", "thinking", "model")


@pytest.mark.parametrize("name", FIELDS)
def test_what_is_no_request_raises_nothing(name: str) -> None:
    whole = chat(reasoning_effort="low", max_tokens=9, tools=[function("f", "a")])
    for junk in JUNK:
        for one, other in ((whole, chat(**{name: junk})), (chat(**{name: junk}), whole)):
            assert len(found(one, other)) == len(ASKED_RULES)
            assert len(found(one, messages(**{name: junk}))) == len(ASKED_RULES)


ADDS = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
ROUND: list[dict[str, Any]] = [
    ASK,
    {"role": "assistant", "content": "I will  add.", "tool_calls": [ADDS]},
    {"role": "tool", "tool_call_id": "call_1", "content": "5"},
    {"role": "user", "content": "And now?"},
]
TRANSLATED = [
    ASK,
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "So.", "signature": "s"},
            {"type": "text", "text": "I will add."},
            {"type": "tool_use", "id": "other", "name": "add", "input": {"a": 1}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "other",
                "content": [{"type": "text", "text": "5"}],
            },
            {"type": "text", "text": "And now?"},
        ],
    },
]


def changed(number: int, **fields: Any) -> Exchange:
    """The round with an entry of it changed."""
    entries = [{**each, **fields} if at == number else each for at, each in enumerate(ROUND)]
    return chat(messages=entries)


def other_call(name: str, arguments: str) -> list[Any]:
    return [{**ADDS, "function": {"name": name, "arguments": arguments}}]


REPEATED: list[tuple[Exchange, Any]] = [
    (chat(messages=ROUND), True),
    (messages(messages=TRANSLATED), True),
    (changed(1, content="<think>So.</think>I will add."), True),
    (changed(1, content="I will not."), "'I will not.'"),
    (changed(1, content=None), "''"),
    (changed(1, tool_calls=other_call("add", '{ "a":1 }')), True),
    (changed(1, tool_calls=other_call("add", '{"a": 2}')), 'add({"a":2})'),
    (changed(1, tool_calls=other_call("sub", '{"a": 1}')), 'sub({"a":1})'),
    (changed(2, content="6"), "'6'"),
    (changed(2, tool_call_id="call_9"), True),
    (changed(3, content="And later?"), False),  # the rule of the user's turns says so
]


@pytest.mark.parametrize(("passed", "got"), REPEATED)
def test_what_the_model_said_goes_upstream_as_it_was(passed: Exchange, got: Any) -> None:
    difference = found(chat(messages=ROUND), passed)["answers"]
    assert difference.got == got if isinstance(difference, Lost) else difference is got


def test_of_calls_that_came_otherwise_those_are_shown_that_nobody_made() -> None:
    both = [ADDS, *other_call("sub", '{"a": 1}')]
    otherwise = [*other_call("add", '{"a": 2}'), *both[1:]]
    difference = found(changed(1, tool_calls=both), changed(1, tool_calls=otherwise))["answers"]
    assert isinstance(difference, Lost)
    assert (difference.expected, difference.got) == ('the call add({"a":1})', 'add({"a":2})')
