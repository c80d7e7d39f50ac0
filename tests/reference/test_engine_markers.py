from __future__ import annotations

import pytest

from reference_impl.server.engine.events import EngineError
from reference_impl.server.engine.markers import (
    TOOLS,
    Markers,
    closers,
    find_markers,
    named_markers,
)

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
