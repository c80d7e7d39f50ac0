"""Thinking wrapped in markers is told from text the same way under any chunking."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.dialects.markers import MarkerPiece, Markers
from tests.growth import grows_linearly

THINK = (("<think>", "</think>"),)
HARMONY = (("<|channel|>analysis<|message|>", "<|end|>"),)
TWO = (("<think>", "</think>"), ("[THINK]", "[/THINK]"))
OPEN, CLOSE = "<think>", "</think>"


def split(
    pieces_of_text: list[str],
    pairs: tuple[tuple[str, str], ...] = THINK,
    *,
    opened_by_prompt: bool = False,
    last_close: bool = False,
    first_only: bool = False,
) -> list[MarkerPiece]:
    """Every piece, adjacent ones of a kind as one, as a reader of the whole would see them."""
    markers = Markers(
        pairs, opened_by_prompt=opened_by_prompt, last_close=last_close, first_only=first_only
    )
    pieces = [piece for text in pieces_of_text for piece in markers.feed(text)]
    pieces += markers.flush()
    merged: list[MarkerPiece] = []
    for kind, run in groupby(pieces, key=lambda piece: piece[0]):
        merged.append((kind, "".join(text for _, text in run)))
    return merged


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", [("text", "plain")]),
        ("<think>a</think>b", [("open", OPEN), ("thinking", "a"), ("close", CLOSE), ("text", "b")]),
        (
            "x<think>a</think><think>b</think>",
            [
                ("text", "x"),
                ("open", OPEN),
                ("thinking", "a"),
                ("close", CLOSE),
                ("open", OPEN),
                ("thinking", "b"),
                ("close", CLOSE),
            ],
        ),
        ("<think></think>", [("open", OPEN), ("close", CLOSE)]),
        (
            "<think>a <think> b</think>c",
            [("open", OPEN), ("thinking", "a <think> b"), ("close", CLOSE), ("text", "c")],
        ),
        ("a</think>b", [("text", "a</think>b")]),
        ("<think>a", [("open", OPEN), ("thinking", "a")]),
        ("<think>a</thi", [("open", OPEN), ("thinking", "a</thi")]),
        ("a<thin", [("text", "a<thin")]),
        (
            "<<think>a</</think>b",
            [("text", "<"), ("open", OPEN), ("thinking", "a</"), ("close", CLOSE), ("text", "b")],
        ),
        ("<THINK>a</THINK>", [("text", "<THINK>a</THINK>")]),
        (
            "ünï<think>思考</think>答え",
            [
                ("text", "ünï"),
                ("open", OPEN),
                ("thinking", "思考"),
                ("close", CLOSE),
                ("text", "答え"),
            ],
        ),
    ],
)
def test_every_two_way_split_gives_the_same_pieces(text: str, expected: list[MarkerPiece]) -> None:
    for at in range(len(text) + 1):
        assert split([text[:at], text[at:]]) == expected
    assert split(list(text)) == expected


def test_each_pair_closes_with_its_own_marker() -> None:
    text = "[THINK]a</think>b[/THINK]c"

    assert split(list(text), TWO) == [
        ("open", "[THINK]"),
        ("thinking", "a</think>b"),
        ("close", "[/THINK]"),
        ("text", "c"),
    ]


def test_the_longest_of_two_markers_that_begin_the_same_counts() -> None:
    pairs = (("<t>", "</t>"), ("<t>x", "</tx>"))

    for chunks in (["<t>xa</t></tx>"], ["<t>", "xa</t></tx>"], list("<t>xa</t></tx>")):
        assert split(chunks, pairs) == [("open", "<t>x"), ("thinking", "a</t>"), ("close", "</tx>")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a</think>b", [("thinking", "a"), ("close", CLOSE), ("text", "b")]),
        ("</think>b", [("close", CLOSE), ("text", "b")]),
        ("<think>a</think>b", [("open", OPEN), ("thinking", "a"), ("close", CLOSE), ("text", "b")]),
        ("a<think>b</think>", [("thinking", "a<think>b"), ("close", CLOSE)]),
        ("<thi", [("thinking", "<thi")]),
        ("", []),
        ("a</think>b</think>", [("thinking", "a"), ("close", CLOSE), ("text", "b</think>")]),
    ],
)
def test_block_of_the_prompt_is_open_from_the_start(text: str, expected: list[MarkerPiece]) -> None:
    for at in range(len(text) + 1):
        assert split([text[:at], text[at:]], opened_by_prompt=True) == expected
    assert split(list(text), opened_by_prompt=True) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "<think>a</think>b</think>c",
            [("open", OPEN), ("thinking", "a</think>b"), ("close", CLOSE), ("text", "c")],
        ),
        (
            "<think>a</think>b<think>c</think>d",
            [("open", OPEN), ("thinking", "a</think>b<think>c"), ("close", CLOSE), ("text", "d")],
        ),
        ("<think>a</think>", [("open", OPEN), ("thinking", "a"), ("close", CLOSE)]),
        ("<think>a", [("open", OPEN), ("thinking", "a")]),
    ],
)
def test_last_close_ends_block_at_last_close_marker(text: str, expected: list[MarkerPiece]) -> None:
    for at in range(len(text) + 1):
        assert split([text[:at], text[at:]], last_close=True) == expected
    assert split(list(text), last_close=True) == expected


def test_after_the_first_block_a_marker_is_text() -> None:
    text = "<think>a</think>b<think>c</think>"
    for chunks in ([text], list(text)):
        pieces = split(chunks, first_only=True)
        assert pieces[-1] == ("text", "b<think>c</think>")
        assert [kind for kind, _ in pieces] == ["open", "thinking", "close", "text"]


def test_other_output_settles_what_the_last_close_was() -> None:
    markers = Markers(THINK, last_close=True)

    first = markers.feed("<think>a</think>b") + markers.flush()

    assert first[-1] == ("text", "b")
    assert markers.feed("c</think>") == [("text", "c</think>")]


def test_harmony_headers_are_swallowed_under_any_chunking() -> None:
    text = (
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary<|message|>"
        "pre<|end|><|start|>assistant<|channel|>final<|message|>Hi<|return|>"
    )
    expected = [
        ("open", HARMONY[0][0]),
        ("thinking", "hm"),
        ("close", "<|end|>"),
        ("text", "preHi"),
    ]

    for at in range(len(text) + 1):
        assert split([text[:at], text[at:]], HARMONY) == expected
    assert split(list(text), HARMONY) == expected


def test_headers_stay_text_where_no_marker_names_a_channel() -> None:
    assert split(["<|end|>x"]) == [("text", "<|end|>x")]


def test_only_a_possible_marker_is_held_back() -> None:
    markers = Markers(THINK)

    assert markers.feed("abc<thi") == [("text", "abc")]
    assert markers.feed("s") == [("text", "<this")]


def test_a_block_stays_open_across_a_flush() -> None:
    markers = Markers(THINK)
    markers.feed("<think>a")

    assert markers.flush() == []
    assert markers.feed("b</think>c") == [("thinking", "b"), ("close", CLOSE), ("text", "c")]


ALPHABET = st.lists(
    st.sampled_from(
        ["<think>", "</think>", "[THINK]", "[/THINK]", "<", "</", "think>", "a", "é\n"]
    ),
    max_size=12,
).map("".join)


@given(text=ALPHABET, cuts=st.sets(st.integers(0, 100)), prompted=st.booleans(), last=st.booleans())
def test_any_chunking_gives_the_same(text: str, cuts: set[int], prompted: bool, last: bool) -> None:
    ends = [*sorted(cut for cut in cuts if cut < len(text)), len(text)]
    chunks = [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    whole = split([text], TWO, opened_by_prompt=prompted, last_close=last)

    assert split(chunks, TWO, opened_by_prompt=prompted, last_close=last) == whole


@given(text=ALPHABET, prompted=st.booleans(), last=st.booleans())
def test_no_character_is_lost_and_no_piece_is_empty(text: str, prompted: bool, last: bool) -> None:
    pieces = split(list(text), TWO, opened_by_prompt=prompted, last_close=last)

    assert "".join(piece for _, piece in pieces) == text
    assert all(piece for _, piece in pieces)


def test_time_is_linear_in_text_that_looks_like_markers() -> None:
    def feed(size: int) -> None:
        markers = Markers((("<" * 20 + "think>", "</think>"),))
        for _ in range(size):
            markers.feed("<" * 1000)

    assert grows_linearly(feed, 200)
