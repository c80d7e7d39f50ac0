"""Calls and results in the history of a request: which have their other half."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.events import Request
from conformance.dialects.history import request_events
from conformance.dialects.history_calls import OF_OLLAMA, PAIRINGS, goes_on_from_kept

Pairs = tuple[dict[str, bool], dict[str, bool | None]]
HISTORIES = {"openai.responses": "input", "gemini.generate": "contents"}


def pairs(dialect: str, entries: Any, **more: Any) -> Pairs:
    """Whether each call is answered, and each result asked, by its id; None: not known."""
    history = HISTORIES.get(dialect, "messages")
    request = Request(json={history: entries, **more})
    events = request_events(request, history, PAIRINGS[dialect])
    calls = {e.data["id"]: e.data["answered"] for e in events if e.type == "request.call"}
    results = {e.data["id"]: e.data.get("asked") for e in events if e.type == "request.result"}
    return calls, results


def called(*names: str) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"id": name} for name in names]}


def tool_result(name: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": name, "content": "9 and 5"}


GEMINI_CALL = {"functionCall": {"name": "f"}}
USER = {"role": "user", "content": "And tomorrow?"}
SPOKEN = {"role": "assistant", "content": "Let me see."}


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([called("a"), tool_result("a")], ({"a": True}, {"a": True})),
        (
            [called("a", "b"), tool_result("b"), tool_result("a")],
            ({"a": True, "b": True}, {"b": True, "a": True}),
        ),
        ([called("a", "b"), tool_result("b"), USER], ({"a": False, "b": True}, {"b": True})),
        ([called("a")], ({"a": False}, {})),
        ([tool_result("a"), USER], ({}, {"a": False})),
        # A result that comes again has no call of its own, unless the id was called again.
        ([called("a"), tool_result("a"), tool_result("a")], ({"a": True}, {"a": False})),
        (
            [called("a"), called("a"), tool_result("a"), tool_result("a")],
            ({"a": True}, {"a": True}),
        ),
        (
            [called("a"), tool_result("a"), called("a"), tool_result("a")],
            ({"a": True}, {"a": True}),
        ),
        # A turn of the model may be several entries.
        ([called("a"), SPOKEN, tool_result("a")], ({"a": True}, {"a": True})),
        # A result of the turn before is none of this one, and is there: one fault, not two.
        (
            [called("a"), USER, called("b"), tool_result("a"), tool_result("b")],
            ({"a": True, "b": True}, {"a": False, "b": True}),
        ),
        ([tool_result("a"), called("a")], ({"a": True}, {"a": False})),
        # An id that recurs is of a turn of its own.
        (
            [called("a"), tool_result("a"), USER, called("a")],
            ({"a": False}, {"a": True}),
        ),
        # An id that was made anew is one fault: the call has its result, under a wrong name.
        ([called("a"), tool_result("x")], ({"a": True}, {"x": False})),
        ([called("a", "b"), tool_result("x")], ({"a": True, "b": False}, {"x": False})),
        # So is one that was taken twice.
        (
            [called("a", "b"), tool_result("a"), tool_result("a")],
            ({"a": True, "b": True}, {"a": False}),
        ),
        ([called(""), {"role": "tool"}, "words", None, 7], ({}, {})),
        ("words alone", ({}, {})),
    ],
)
def test_results_belong_to_the_turn_before_them(entries: Any, expected: Pairs) -> None:
    assert pairs("openai.chat", entries) == expected


@pytest.mark.parametrize(
    ("entries", "late"),
    [
        ([called("a"), tool_result("a"), USER], []),
        ([called("a"), USER, tool_result("a")], ["a"]),
        ([called("a", "b"), tool_result("b"), USER, tool_result("a")], ["a"]),
        ([called("a"), tool_result("a"), USER, called("b"), tool_result("b")], []),
        ([called("a"), USER, tool_result("x")], []),  # nobody asked for it: one fault
        ([called("a"), {"role": "system", "content": "It is noon."}, tool_result("a")], []),
    ],
)
def test_a_result_behind_words_of_the_user_is_late(entries: Any, late: list[str]) -> None:
    request = Request(json={"messages": entries})
    events = request_events(request, "messages", PAIRINGS["openai.chat"])
    assert [e.data["id"] for e in events if e.data.get("late")] == late


def _of_gemini(kind: str, *named: tuple[str, str]) -> list[dict[str, Any]]:
    return [{kind: {"name": tool, **({"id": name} if name else {})}} for name, tool in named]


@pytest.mark.parametrize(
    ("made", "back", "renamed"),
    [
        ([("a", "f"), ("b", "g")], [("b", "g"), ("a", "f")], []),
        ([("a", "f"), ("b", "g")], [("b", "f"), ("a", "g")], ["1", "2"]),
        ([("a", "f"), ("b", "g")], [("", "g"), ("", "f")], []),
        ([("", "f"), ("", "g")], [("", "f"), ("", "g")], []),
        ([("", "f"), ("", "g")], [("", "g"), ("", "h")], ["2"]),
        ([("a", "f")], [("made-anew", "f")], []),
        ([], [("", "f")], []),
    ],
)
def test_a_result_of_gemini_has_the_name_of_its_call(
    made: Any, back: Any, renamed: list[str]
) -> None:
    model = {"role": "model", "parts": _of_gemini("functionCall", *made)}
    results = {"role": "user", "parts": _of_gemini("functionResponse", *back)}
    request = Request(json={"contents": [model, results]})
    events = request_events(request, "contents", PAIRINGS["gemini.generate"])
    assert [e.data["id"] for e in events if e.data.get("renamed")] == renamed


USE = {"type": "tool_use", "id": "t1"}
HOSTED = {"type": "server_tool_use", "id": "s1"}
RESULT = {"type": "tool_result", "tool_use_id": "t1"}


@pytest.mark.parametrize(
    ("dialect", "entries", "expected"),
    [
        (
            "anthropic.messages",
            [
                {"role": "assistant", "content": [HOSTED, USE]},
                {"role": "user", "content": [RESULT]},
            ],
            ({"t1": True}, {"t1": True}),
        ),
        (
            "bedrock.converse",
            [
                {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1"}}]},
                {"role": "user", "content": [{"toolResult": {"toolUseId": "t2"}}]},
            ],
            ({"t1": True}, {"t2": False}),
        ),
        # Gemini pairs by number, and names no ids.
        (
            "gemini.generate",
            [
                {"role": "model", "parts": [GEMINI_CALL, GEMINI_CALL]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f"}}]},
            ],
            ({"1": True, "2": False}, {"1": True}),
        ),
        # Pieces of a call have no name.
        (
            "gemini.generate",
            [
                {"role": "model", "parts": [GEMINI_CALL, {"functionCall": {"partialArgs": []}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f"}}]},
            ],
            ({"1": True}, {"1": True}),
        ),
        # Items know no turns, and calls of the server have no id of a call.
        (
            "openai.responses",
            [
                {"type": "function_call", "call_id": "c1"},
                {"type": "web_search_call", "id": "ws_1"},
                {"role": "user", "content": "wait"},
                {"type": "function_call_output", "call_id": "c1"},
            ],
            ({"c1": True}, {"c1": True}),
        ),
        # A search for tools that the application runs may have the output of a function.
        (
            "openai.responses",
            [
                {"type": "tool_search_call", "execution": "client", "call_id": "s1"},
                {"type": "function_call_output", "call_id": "s1"},
                {"type": "function_call_output", "call_id": "s2"},
            ],
            ({}, {"s2": False}),
        ),
    ],
)
def test_every_api_names_its_calls_in_its_way(dialect: str, entries: Any, expected: Pairs) -> None:
    assert pairs(dialect, entries) == expected


@pytest.mark.parametrize(
    ("entries", "more"),
    [
        ([], {"previous_response_id": "resp_1"}),
        ([], {"conversation": {"id": "conv_1"}}),
        ([{"type": "item_reference", "id": "fc_1"}], {}),
        ([{"type": "compaction", "encrypted_content": "..."}], {}),
    ],
)
def test_a_call_that_the_server_may_keep_is_not_missed(entries: Any, more: Any) -> None:
    output = {"type": "function_call_output", "call_id": "c1"}
    assert pairs("openai.responses", [*entries, output], **more) == ({}, {"c1": None})
    assert pairs("openai.responses", [output]) == ({}, {"c1": False})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "parts", "id", "type", "tool_calls", "call_id"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("thread", "asked"),
    [
        ({"type": "continue", "previous_message_id": "msg_1"}, None),
        ({"type": "create"}, False),
        ("msg_1", False),
        (None, False),
    ],
)
def test_the_call_of_a_result_may_be_kept_in_a_thread(thread: Any, asked: bool | None) -> None:
    result = {"type": "tool_result", "tool_use_id": "a", "content": "5"}
    entries = [{"role": "user", "content": [result]}]
    assert pairs("anthropic.messages", entries, thread=thread) == ({}, {"a": asked})
    body = {"messages": entries, "thread": thread}
    assert goes_on_from_kept("anthropic.messages", body) is (asked is None)


@pytest.mark.parametrize("dialect", PAIRINGS)
@given(JSON)
def test_a_history_of_any_shape_is_read(dialect: str, entries: Any) -> None:
    pairs(dialect, entries)


@pytest.mark.parametrize(
    ("dialect", "parts", "expected"),
    [
        ("gemini.generate", [{"text": "And?"}], [True, True]),
        ("gemini.generate", [{"functionResponse": {"name": "f"}}], [None, None]),
        ("openai.chat", [], [None, None]),
    ],
)
def test_open_calls_may_stay_open(dialect: str, parts: Any, expected: list[bool | None]) -> None:
    entries = [
        {**called("a", "b"), "role": "model", "parts": [GEMINI_CALL, GEMINI_CALL]},
        {"role": "user", "parts": parts},
    ]
    history = HISTORIES.get(dialect, "messages")
    events = request_events(Request(json={history: entries}), history, PAIRINGS[dialect])
    found = [each.data.get("left_open") for each in events if each.type == "request.call"]
    assert found == expected


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([called("a", "a"), tool_result("a")], {"a"}),
        ([called("a", "b"), tool_result("a"), tool_result("b")], set()),
        # A turn may be several entries; the next one has ids of its own.
        ([called("a"), called("a"), tool_result("a")], {"a"}),
        ([called("a"), tool_result("a"), called("a"), tool_result("a")], set()),
    ],
)
def test_a_call_that_comes_twice_in_a_turn_is_doubled(entries: Any, expected: set[str]) -> None:
    events = request_events(
        Request(json={"messages": entries}), "messages", PAIRINGS["openai.chat"]
    )
    assert {each.data["id"] for each in events if each.data.get("doubled")} == expected


def gemini_parts(role: str, key: str, ids: str) -> dict[str, Any]:
    """Parts with these ids; `-` stands for none."""
    named = [{"name": "f", **({} if each == "-" else {"id": each})} for each in ids.split()]
    return {"role": role, "parts": [{key: each} for each in named]}


@pytest.mark.parametrize(
    ("called_as", "answered_as", "misnamed"),
    [
        ("a b", "a b", []),
        ("a b", "b a", []),
        ("a b", "- -", []),  # pairing by number needs none
        ("a b", "a x", ["2"]),
        ("a b", "a a", ["2"]),
        ("a a", "a a", []),
        ("- b", "x b", []),  # a client may name what has no name
        ("", "x", []),
    ],
)
def test_gemini_results_have_ids(called_as: str, answered_as: str, misnamed: list[str]) -> None:
    contents = [
        gemini_parts("model", "functionCall", called_as),
        gemini_parts("user", "functionResponse", answered_as),
    ]
    request = Request(json={"contents": contents})
    events = request_events(request, "contents", PAIRINGS["gemini.generate"])
    assert [event.data["id"] for event in events if event.data.get("misnamed")] == misnamed


@pytest.mark.parametrize(
    ("called_as", "answered_as", "unanswered", "unasked", "misnamed"),
    [
        ("f g", "f g", [], [], []),
        ("f g", "g f", [], [], []),
        ("f g", "- -", [], [], []),  # results had no name before 2025
        ("f f", "f", ["2"], [], []),
        ("f", "f f", [], ["2"], []),
        ("f g", "f h", [], [], ["2"]),
        ("f g", "f f", [], [], ["2"]),
    ],
)
def test_results_of_ollama_have_names(
    called_as: str,
    answered_as: str,
    unanswered: list[str],
    unasked: list[str],
    misnamed: list[str],
) -> None:
    calls = [{"function": {"name": name, "arguments": {}}} for name in called_as.split()]
    results = [
        {"role": "tool", "content": "9", **({"tool_name": name} if name != "-" else {})}
        for name in answered_as.split()
    ]
    entries = [{"role": "assistant", "content": "", "tool_calls": calls}, *results]
    events = request_events(Request(json={"messages": entries}), "messages", OF_OLLAMA)
    found = [
        [e.data["id"] for e in events if e.data.get(key) is value]
        for key, value in (("answered", False), ("asked", False), ("misnamed", True))
    ]
    assert found == [unanswered, unasked, misnamed]
