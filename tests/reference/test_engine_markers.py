from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.server.engine.calls import read_call
from reference_impl.server.engine.events import EngineError
from reference_impl.server.engine.markers import (
    TOOLS,
    Markers,
    closers,
    find_markers,
    named_markers,
)
from reference_impl.server.engine.stops import StopSearch

PAIRS = [
    ("<think>", "</think>"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("◁think▷", "◁/think▷"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|channel>", "<channel|>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|think|>", "<|/think|>"),
    ("<|thinking_start|>", "<|thinking_end|>"),
]
CONTROL = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", "[INST]", "[/INST]", "<|endoftext|>"]


def numbered(*tokens: str) -> dict[int, str]:
    return {1000 + n: token for n, token in enumerate(tokens)}


@pytest.mark.parametrize(("opener", "closer"), PAIRS)
def test_pair_is_found_among_other_tokens(opener: str, closer: str) -> None:
    added = numbered(*CONTROL, opener, closer, "<tool_call>", "</tool_call>")
    assert find_markers(added) == Markers(opener, closer, 1007, 1008)


@pytest.mark.parametrize(("opener", "closer"), PAIRS)
def test_pair_is_found_with_closer_added_first(opener: str, closer: str) -> None:
    assert find_markers(numbered(closer, opener)) == Markers(opener, closer, 1001, 1000)


@pytest.mark.parametrize(("opener", "closer"), PAIRS)
def test_opener_alone_is_no_pair(opener: str, closer: str) -> None:
    assert find_markers(numbered(*CONTROL, opener)) is None
    assert find_markers(numbered(*CONTROL, closer)) is None


@pytest.mark.parametrize(
    "tokens",
    [
        CONTROL,
        # gpt-oss: a channel has no closer, its blocks need another machine
        ["<|start|>", "<|end|>", "<|channel|>", "<|message|>", "<|return|>", "<|call|>"],
        ["<tool_call>", "</tool_call>"],
        [],
    ],
)
def test_tokenizer_without_pair_has_no_markers(tokens: list[str]) -> None:
    assert find_markers(numbered(*tokens)) is None


def test_first_added_pair_counts() -> None:
    added = numbered("<reasoning>", "</reasoning>", "<think>", "</think>")
    found = find_markers(added)
    assert found is not None
    assert found.open == "<reasoning>"


def test_tool_markers_are_found_by_the_same_rule() -> None:
    added = numbered("<think>", "</think>", "<tool_call>", "</tool_call>")
    assert find_markers(added, TOOLS) == Markers("<tool_call>", "</tool_call>", 1002, 1003)


@pytest.mark.parametrize("closer", ["</think>", "[/THINK]", "◁/think▷", "think", ""])
def test_closer_opens_nothing(closer: str) -> None:
    assert list(closers(closer)) == []


def test_named_markers_need_no_family_word() -> None:
    assert named_markers({"<a>": 3, "<b>": 4}, ("<a>", "<b>")) == Markers("<a>", "<b>", 3, 4)


@pytest.mark.parametrize("pair", [("<a>", "<z>"), ("<z>", "<a>"), ("<a>", "<a>")])
def test_named_markers_must_be_two_tokens(pair: tuple[str, str]) -> None:
    with pytest.raises(EngineError, match="think marker"):
        named_markers({"<a>": 3, "<b>": 4}, pair)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ('{"name": "add", "arguments": {"a": 1}}', ("add", '{"a": 1}')),
        ('\n{"name":"add","arguments":{ "a" : 1.0e1 }}\n', ("add", '{ "a" : 1.0e1 }')),
        ('{"arguments": {}, "name": "add"}', ("add", "{}")),
        ('{"name": "add"}', ("add", "{}")),
        ('{"name": "add", "parameters": {"a": [1]}}', ("add", '{"a": [1]}')),
        ('{"name": "add", "arguments": "{\\"a\\": 1}"}', ("add", '{"a": 1}')),
        ('{"name": "add", "arguments": {"a": "}</tool"}}', ("add", '{"a": "}</tool"}')),
        ('{"type": "function", "name": "add", "arguments": {}}', ("add", "{}")),
    ],
)
def test_call_keeps_the_arguments_as_written(text: str, call: tuple[str, str]) -> None:
    assert read_call(text) == call


@pytest.mark.parametrize(
    "text",
    [
        "",
        "add(1)",
        "{}",
        "[]",
        "{name: 1}",
        "{1: 2}",
        '{"name": "add", "arguments": {"a": 1}',
        '{"name": "add", "arguments": {"a": 1}} and more',
        '{"name": "add" "arguments": {}}',
        '{"name": "add",}',
        '{"name": "", "arguments": {}}',
        '{"name": 7, "arguments": {}}',
        '{"name": "add", "arguments": [1]}',
        '{"name": "add", "arguments": "one"}',
        '{"name": "add", "arguments": {"a": NaN}}',
        '{"name": "\\ud800", "arguments": {}}',
        '{"name": "add", "arguments": ' + "[" * 100_000,
        '{"name": "add", "arguments": {"a": ' + "9" * 5000 + "}}",
    ],
    ids=lambda text: text[:40],
)
def test_anything_else_is_no_call(text: str) -> None:
    assert read_call(text) is None


@given(
    st.text(st.characters(codec="utf-8"), min_size=1),
    st.dictionaries(st.text(st.characters(codec="utf-8")), JSON),
    st.sampled_from([None, 2]),
)
def test_written_call_is_read(name: str, arguments: dict[str, object], indent: int | None) -> None:
    text = json.dumps({"name": name, "arguments": arguments}, indent=indent)
    call = read_call(text)
    assert call is not None
    assert (call[0], json.loads(call[1])) == (name, arguments)
    assert call[1] in text


WORDS = st.lists(st.text("ab", min_size=1, max_size=4), max_size=3)


def shown(search: StopSearch, pieces: list[str]) -> list[str]:
    texts = []
    for piece in pieces:
        texts.append(search.push(piece))
        if search.found is not None:
            return texts
    return [*texts, search.flush()]


def expected(text: str, stops: list[str]) -> tuple[str, str | None]:
    """The plain way: the word that ends first, of those the longest."""
    found = [(text.index(stop) + len(stop), -len(stop), stop) for stop in stops if stop in text]
    if not found:
        return text, None
    end, _, stop = min(found)
    return text[: end - len(stop)], stop


@given(st.lists(st.text("abc", max_size=5), max_size=8), WORDS)
def test_search_equals_plain_search_under_any_cutting(pieces: list[str], stops: list[str]) -> None:
    search = StopSearch(stops)
    texts = shown(search, pieces)
    assert ("".join(texts), search.found) == expected("".join(pieces), stops)


@given(st.text("ab", max_size=30), WORDS)
def test_no_more_is_held_than_may_become_a_stop_string(text: str, stops: list[str]) -> None:
    search = StopSearch(stops)
    given_out = ""
    for end, char in enumerate(text, 1):
        given_out += search.push(char)
        if search.found is not None:
            return
        held = text[len(given_out) : end]
        assert text[:end] == given_out + held
        assert not held or any(stop.startswith(held) for stop in stops)


def test_stop_string_is_not_found_across_a_flush() -> None:
    search = StopSearch(["END"])
    assert [search.push("xEN"), search.flush(), search.push("D")] == ["x", "EN", "D"]
    assert search.found is None


def test_long_hostile_word_is_searched_in_linear_steps() -> None:
    search = StopSearch(["a" * 50_000 + "b"])
    for _ in range(100):
        search.push("a" * 1_000)
    assert search.push("b") == ""
    assert search.found is not None
