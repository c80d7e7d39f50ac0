"""When rules may stand still: rules of every form, rules that read columns, and caps."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, Final

import pytest

from conformance.core.events import Chunk
from conformance.judging.result import StreamResult
from conformance.rules import judge
from conformance.rules.verdicts import Verdict
from tests.fuzz.both import difference, fast, setting_for, slow
from tests.fuzz.dialogues import DIALECTS, PROFILES, Piece, compact, stream
from tests.fuzz.recorded import frames_in_runs
from tests.fuzz.user_rules import IDS, PLACES, events, rulebook, user_setting

Fields = Mapping[str, Any]

# What reads a column in a way that any further delta may change: such rules end runs of text.
# Those that find something in these streams do so until then: a silent rule reads nothing.
READING: Final = frozenset(
    {
        *("grammar-told", "never-bare", "never-after", "never-between", "never-equal"),
        *("never-frame", "response-text", "response-before"),
    }
)
# Where there is a number.
NUMBERED: Final = frozenset({"never-second", "never-above", "never-added", "fold-sum"})


class NobodyAsked:
    def requested(self, path: str) -> Any:
        raise AssertionError(path)

    def chosen(self, path: str) -> Any:
        raise AssertionError(path)

    def spelled(self, text: str) -> bool:
        raise AssertionError(text)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("rule", IDS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_column_readers_end_runs(dialect: str, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = frames_in_runs(monkeypatch)
    pieces = stream(dialect, [], [" y", "z"] * 20, Random(1))
    fast(user_setting(dialect, rule), [Chunk(b"".join(p.encode() for p in pieces))])
    reads = rule in READING or (rule in NUMBERED and dialect == "openai.responses")
    if reads:
        assert sum(counts) == 0
    elif rule not in {"values-holder", "fold-sum", "compare-concat", *NUMBERED}:
        assert sum(counts) >= 36


def responses(
    words: list[str], padding: list[str] | None = None, *, item: str = "i"
) -> list[Piece]:
    """Deltas of one content part, numbered from 0."""
    place = {"item_id": item, "output_index": 0, "content_index": 0}
    kind = "response.output_text.delta"
    found = []
    for number, word in enumerate(words):
        pad = {"obfuscation": padding[number]} if padding else {}
        fields = {"type": kind, "sequence_number": number, **place, "delta": word, **pad}
        found.append(Piece(compact(fields), kind, is_delta=True))
    return found


def chat(words: list[str]) -> list[Piece]:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return [
        Piece(compact({**head, "choices": [{"index": 0, "delta": {"content": word}}]}))
        for word in words
    ]


WORDS: Final = [f" a{n}" for n in range(40)]
PADS: Final = [*["x"] * 20, "", *["x"] * 19]
DONE: Final = Piece(
    compact({"type": "response.output_text.done", "sequence_number": 40, "text": "a7"}),
    "response.output_text.done",
)
NAMES: Final[Mapping[str, Fields]] = {
    "openai.responses": {
        "unpadded": {
            "type": "response.output_text.delta",
            "obfuscation": {"not": {"minLength": 1}},
        },
        "e": "response.output_text.delta",
        "stated": "response.output_text.done",
    },
    "openai.chat": {
        "bad": {"type": "chat.chunk", "choices.*.delta.content": {"contains": {"const": "BAD"}}},
        "chunk": "chat.chunk",
    },
}
OVER_BOTH: Final = {"over": {"frame": "json.delta", "d": "delta"}}
SAME: Final = [*["x"] * 20, *WORDS]

# Name -> dialect, stream, rule. Each found something once, or nearly did.
CASES: Final[Mapping[str, tuple[str, list[Piece], Fields]]] = {
    "sliced by a number": (
        "openai.responses",
        responses(WORDS),
        {"slice": ["sequence_number"], "fold": {"over": "d", "with": "count", "at_least": 3}},
    ),
    "sliced by text": (
        "openai.responses",
        responses(WORDS),
        {"slice": ["delta"], "fold": {"over": "d", "with": "count", "at_least": 3}},
    ),
    "grammar sliced by text": (
        "openai.chat",
        chat([*["x"] * 20, *WORDS]),
        {"slice": ["delta.content"], "grammar": "d d*"},
    ),
    "padding that is empty, by a name": (
        "openai.responses",
        responses(WORDS, PADS),
        {"never": "unpadded"},
    ),
    "padding that is empty, by a schema": (
        "openai.responses",
        responses(WORDS, PADS),
        {"each": {"of": "d", "schema": {"properties": {"obfuscation": {"minLength": 1}}}}},
    ),
    "padding that is empty, joined": (
        "openai.responses",
        [*responses(WORDS, PADS), DONE],
        {"fold": {"over": "d", "take": "obfuscation", "equals": {"in": "closing", "path": "text"}}},
    ),
    "padding that grows, once it is there": (
        "openai.responses",
        responses(WORDS, ["", "", *["x" * n for n in range(1, 39)]]),
        {"fold": {"over": "d", "take": "obfuscation", "grows": False}},
    ),
    "count of what is not there": (
        "openai.responses",
        responses(WORDS),
        {"fold": {"over": "d", "take": "nowhere", "with": "count", "at_least": 3}},
    ),
    "numbers joined as text": (
        "openai.responses",
        responses(WORDS),
        {"fold": {"over": "d", "take": "sequence_number", "matches": "^$"}},
    ),
    "numbers searched as text": (
        "openai.responses",
        responses(WORDS),
        {"fold": {"over": "d", "take": "sequence_number", "lacks": ["x"]}},
    ),
    "numbers compared as text": (
        "openai.responses",
        responses(WORDS),
        {
            "compare": {
                "left": {"role": "plain", "over": "d", "take": "sequence_number"},
                "right": {"role": "plain", "over": "d", "take": "delta"},
                "are": "equal",
            }
        },
    ),
    "two names of one event compared": (
        "openai.responses",
        responses(WORDS),
        {
            "compare": {
                "left": {"role": "plain", "over": ["d", "e"], "take": "delta"},
                "right": {"role": "plain", "over": "d", "take": "delta"},
                "are": "equal",
            }
        },
    ),
    "two events of one frame joined": (
        "openai.responses",
        responses(WORDS),
        {"fold": {**OVER_BOTH, "matches": "a7 a7"}},
    ),
    "two events of one frame searched": (
        "openai.responses",
        responses(WORDS),
        {"fold": {**OVER_BOTH, "lacks": ["a7 a8"]}},
    ),
    "text that is in the other event of its frame": (
        "openai.responses",
        [*responses(WORDS), *responses(["Q", "R"], item="j")],
        {
            "fold": {
                "over": "text",
                "take": "text",
                "lacks": {"over": "d", "take": "delta", "at_least": 5},
            }
        },
    ),
    "text that is in itself": (
        "openai.responses",
        [*responses(WORDS), *responses(["Q", "R"], item="j")],
        {
            "fold": {
                "over": "d",
                "take": "delta",
                "lacks": {"over": "e", "take": "delta", "at_least": 5},
            }
        },
    ),
    "values that are in the text": (
        "openai.responses",
        [*responses(WORDS), *responses(["a7", "R"], item="j")],
        {
            "fold": {
                "over": "text",
                "take": "text",
                "lacks": {"over": "d", "take": "delta", "with": "list", "at_least": 2},
            }
        },
    ),
    "values that come behind the text": (
        "openai.responses",
        [*responses(WORDS), DONE],
        {
            "fold": {
                "over": "text",
                "take": "text",
                "lacks": {"over": "stated", "take": "text", "with": "list", "at_least": 1},
            }
        },
    ),
    "text of all choices named": (
        "openai.chat",
        chat([*WORDS[:9], "BAD", *WORDS]),
        {"never": "bad"},
    ),
    "text of all choices constant": (
        "openai.chat",
        chat(SAME),
        {"values": {"of": "chunk", "path": "choices.*.delta.content", "are": "constant"}},
    ),
    "text of a choice by another spelling": (
        "openai.chat",
        chat(SAME),
        {"values": {"of": "chunk", "path": "choices.00.delta.content", "are": "constant"}},
    ),
    "text of a choice constant by what holds it": (
        "openai.chat",
        chat(SAME),
        {"values": {"of": "chunk", "path": "choices", "are": "constant"}},
    ),
}


def both(dialect: str, rule: Fields, data: bytes) -> StreamResult:
    """What both ways say of a stream that one user rule judges."""
    names = {**events(PLACES[dialect]), **NAMES.get(dialect, {})}
    setting = setting_for(dialect, PROFILES[dialect], rulebook(dialect, {"r": rule}, names))
    wanted = slow(setting, [Chunk(data)])
    where = difference(wanted, fast(setting, [Chunk(data)]))
    assert not where, where
    assert isinstance(wanted.result, StreamResult)
    return wanted.result


@pytest.mark.parametrize("name", CASES)
def test_rules_that_look_at_runs_in_odd_ways(name: str) -> None:
    dialect, pieces, rule = CASES[name]
    both(dialect, rule, b"".join(piece.encode() for piece in pieces))


def block_stream(blocks: int, deltas: int) -> bytes:
    """Many open blocks, then deltas that name none of them."""
    opened: list[dict[str, Any]] = [
        {"type": "content_block_start", "index": n, "content_block": {"type": "text", "text": ""}}
        for n in range(blocks)
    ]
    delta: dict[str, Any] = {
        "type": "content_block_delta",
        "delta": {"type": "text_delta", "text": "a"},
    }
    return b"".join(Piece(compact(e), e["type"]).encode() for e in opened + [delta] * deltas)


@pytest.mark.parametrize("visits", [95, 105, 115, 600, 1000])
def test_slice_visits_meet_their_cap(visits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "MOST_VISITS", visits)
    monkeypatch.setattr(judge, "FREE_VISITS", 9)
    rule = {"slice": ["index"], "grammar": "opening d*"}
    found = both("anthropic.messages", rule, block_stream(10, 120))
    assert found.verdicts["user/r"] is Verdict.ERROR


@pytest.mark.parametrize("comments", [500, 506, 507, 508, 509, 510, 511, 512, 520])
def test_a_finding_remembers_the_same_frames(comments: int) -> None:
    """A leak that shows only at the end, when what stood around it is nearly forgotten."""
    at = PLACES["anthropic.messages"]
    pieces = stream("anthropic.messages", [], [*["abc"] * 40, "</think>"], Random(1))
    data = b"".join(p.encode() for p in pieces if "text_delta" in p.text) + b": c\n\n" * comments
    lacks = ["</think>", "x" * 26]
    both("anthropic.messages", {"fold": {"over": "d", "take": at.text, "lacks": lacks}}, data)
