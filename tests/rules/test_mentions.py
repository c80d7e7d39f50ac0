"""Markers that a text holds, and those that it speaks of: the same however the text is cut."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.rules.forms.mentions import (
    LONGEST_SPAN,
    MarkdownCode,
    MarkerNeedles,
    MentionSearch,
)
from conformance.rules.forms.texts import Hit, Search
from conformance.rules.repetition import Column
from tests.rules.test_texts import cuts, pieces_of, streamed

MARKERS = MarkerNeedles.of(
    ["<think>", "</think>", "<|open|>think", "<|open|>", "assistantfinal", "to=tools."]
)
SPOKEN_OF = [
    "the tag `<think>` opens it",
    "``a ` <think>`` is code",
    "```xml\n<think>\n</think>\n```\nand so on",
    "- item\n  ```\n  <think>\n  ```",
    "````\n```\n<think>\n```\n````",
    "```\n<think>",  # a fence that the end leaves open
    'the tags "<think>" and "</think>"',
    "\u201c<think>\u201d and \u00ab</think>\u00bb",
    "the tag (<think>), and **<think>**",
    'I wrote "to=tools.run" in it, and (to=tools.my-files.read)',
    'code goes into the "assistant to=tools.run" block',
    "<thinking> <think_ assistantFinal assistant final",
]
HELD = [
    "<think>",
    "so </think>",
    "it's <think>",
    "`code` <think>",
    "a ` b <think> c\n`",
    "a `` b <think> c ` d",
    "```\ncode\n```\n<think>",
    '"<think> he said"',
    '<think>"',
    "x.assistantfinal y",
    "<|open|>think",
    "to=tools.run {}",
    '"to=tools.run {}"',
    f'"to=tools.{"x" * LONGEST_SPAN}"',
    "`<think>` and <think>",
    f"`<think>{'x' * LONGEST_SPAN}`",
]


def found(text: str, at: list[int]) -> Hit | None:
    search = MentionSearch(MARKERS)
    return streamed(search, pieces_of(text, at)) or search.end()


@pytest.mark.parametrize("text", SPOKEN_OF)
def test_what_is_spoken_of_is_not_found(text: str) -> None:
    assert found(text, []) is None
    assert found(text, list(range(len(text)))) is None


@pytest.mark.parametrize("text", HELD)
def test_what_is_held_is_found(text: str) -> None:
    whole = found(text, [])
    assert whole is not None
    bytewise = found(text, list(range(len(text))))
    assert bytewise is not None
    assert (bytewise.needle, bytewise.last - 1) == (
        whole.needle,
        text.rfind(whole.needle) + len(whole.needle) - 1,
    )


@given(st.text("`<b\n\" '", max_size=40), cuts)
def test_cuts_decide_nothing(text: str, at: list[int]) -> None:
    spelled = text.replace("b", "<think>")
    whole, cut = found(spelled, []), found(spelled, at)
    assert (whole is None) == (cut is None)


@given(st.text("`ab\n- ", max_size=40), cuts)
def test_code_is_read_the_same_in_pieces(text: str, at: list[int]) -> None:
    whole, cut = MarkdownCode(), MarkdownCode()
    whole.read(text)
    for piece in pieces_of(text, at):
        cut.read(piece)
    whole.end_run()
    cut.end_run()
    assert (whole.fence, whole.span) == (cut.fence, cut.span)


@given(st.lists(st.text("`<think>\n", max_size=12), max_size=8))
def test_what_is_skipped_counts_for_what_follows(texts: list[str]) -> None:
    """Deltas taken in bulk leave a search as deltas taken one by one."""
    single, bulk = MentionSearch(MARKERS), MentionSearch(MARKERS)
    joined = "".join(texts)
    if bulk.finds(joined):
        return
    assert streamed(single, [each for each in texts if each]) is None
    bulk.skip(Column(texts), len(texts))
    tail = ["`<think>`", "<think>"]
    hits = [streamed(each, tail, 90) or each.end() for each in (single, bulk)]
    one, other = (hit and (hit.needle, hit.last) for hit in hits)
    assert one == other


@pytest.mark.parametrize("make", [lambda: MentionSearch(MARKERS), lambda: Search(MARKERS.needles)])
@given(st.lists(st.text("`<think>\nas", max_size=9), min_size=1, max_size=8), st.data())
def test_what_was_skipped_may_begin_a_marker(
    make: Callable[[], Search], texts: list[str], data: st.DataObject
) -> None:
    marker = data.draw(st.sampled_from(MARKERS.needles.texts))
    cut = data.draw(st.integers(0, len(marker)))
    texts = [each for each in (*texts, marker[:cut]) if each]
    single, bulk = make(), make()
    if not texts or bulk.finds("".join(texts)):
        return
    assert streamed(single, texts) is None
    bulk.skip(Column(texts), len(texts))
    rest = [marker[cut:], " so"]
    one, other = (streamed(each, rest, len(texts) + 1) for each in (single, bulk))
    assert one == other


def test_what_the_request_spells_is_spoken_of() -> None:
    search = MentionSearch(MARKERS)
    search.is_spelled = "<think> and".__contains__
    assert search.feed("<think> and </think>", 1) is not None
    search = MentionSearch(MARKERS)
    search.is_spelled = "<think> and </think>".__contains__
    assert search.feed("<think> and </think>", 1) is None
