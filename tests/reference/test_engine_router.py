"""The router against a plain reading of the same ids: split at markers, decode, join."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

from reference_impl.server.engine.events import (
    EngineEvent,
    Finish,
    Reason,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    Usage,
)
from reference_impl.server.engine.markers import Markers, Vocabulary
from reference_impl.server.engine.router import Router
from tests.reference.engine_models import CHAT, THINK, TOOL, byte_level, ids_of, sentence_pieces

pytestmark = pytest.mark.slow

TOKENIZER = byte_level()
IDS = TOKENIZER.get_vocab()
OPEN, CLOSE = (IDS[token] for token in THINK)
CALL, UNCALL = (IDS[token] for token in TOOL)
SILENT, END = (IDS[token] for token in CHAT)
VOCABULARY = Vocabulary(
    thinking=Markers(*THINK, OPEN, CLOSE),
    tools=Markers(*TOOL, CALL, UNCALL),
    ends=frozenset({END}),
    silent=frozenset({SILENT}),
    neutral=SILENT,
)
NO_MARKERS = Vocabulary(None, None, VOCABULARY.ends, VOCABULARY.silent, None)
ADD = '{"name": "add", "arguments": {"a": 1}}'

Entries = list[tuple[str, str]]


def ids(text: str | bytes) -> list[int]:
    return ids_of(TOKENIZER, text.encode() if isinstance(text, str) else text)


def route(
    tokens: Sequence[int],
    *,
    opens: bool = False,
    stop: Sequence[str] = (),
    reason: Reason = "stop",
    vocabulary: Vocabulary = VOCABULARY,
) -> list[EngineEvent]:
    router = Router(TOKENIZER, vocabulary, prompt_tokens=5, opens_thinking=opens, stop=stop)
    events: list[EngineEvent] = []
    for token in tokens:
        events += router.push(token)
        if events and isinstance(events[-1], Finish):
            return events
    return events + router.end(reason)


def merged(events: Sequence[EngineEvent]) -> Entries:
    """Kind and text, neighbours of a kind joined; the finish left out."""
    collected: Entries = []
    for event in events:
        if isinstance(event, ToolCall):
            collected.append(("call", f"{event.name} {event.arguments}"))
        elif isinstance(event, ReasoningDelta | TextDelta):
            kind = "thinking" if isinstance(event, ReasoningDelta) else "text"
            collected.append((kind, event.text))
    return joined(collected)


def joined(entries: Entries) -> Entries:
    found: Entries = []
    for kind, group in groupby(entries, key=lambda entry: entry[0]):
        texts = [text for _, text in group]
        found += [(kind, text) for text in (texts if kind == "call" else ["".join(texts)])]
    return found


def plainly(tokens: Sequence[int], *, opens: bool) -> Entries:
    return joined(blocks(tokens, opens=opens))


def blocks(tokens: Sequence[int], *, opens: bool = False) -> Entries:
    """Split at every marker, decode each block whole."""
    collected: Entries = []
    kind, block = "thinking" if opens else "text", list[int]()

    def end(*, complete: bool = False) -> None:
        text = TOKENIZER.decode(block, skip_special_tokens=True)
        shown = kind
        if kind == "tool":
            shown = "call" if complete and text.strip(" \t\n\r") == ADD else "text"
            text = 'add {"a": 1}' if shown == "call" else text
        if text:
            collected.append((shown, text))
        block.clear()

    for token in tokens:
        if token not in (OPEN, CLOSE, CALL, UNCALL):
            block.append(token)
            continue
        end(complete=token == UNCALL)
        if token == OPEN:
            kind = "thinking"
        elif token == CALL:
            kind = "tool"
        elif kind == ("thinking" if token == CLOSE else "tool"):
            kind = "text"
    end()
    return collected


def stopped(entries: Entries, stops: Sequence[str]) -> Entries:
    """The blocks up to the first stop string in a text block."""
    for number, (kind, text) in enumerate(entries):
        found = [(text.index(s) + len(s), -len(s)) for s in stops if s in text]
        if kind == "text" and found:
            end, length = min(found)
            shown = text[: end + length]
            return joined([*entries[:number], *([("text", shown)] if shown else [])])
    return joined(entries)


PIECES = st.one_of(
    st.sampled_from([[OPEN], [CLOSE], [CALL], [UNCALL], [SILENT]]),
    st.sampled_from([[CALL, *ids(ADD), UNCALL], [CALL, *ids(ADD)]]),
    st.text(st.characters(codec="utf-8"), max_size=6).map(ids),
    st.binary(max_size=4).map(ids),
)
TOKENS = st.lists(PIECES, max_size=14).map(lambda pieces: [t for piece in pieces for t in piece])


@given(TOKENS, st.booleans())
def test_blocks_are_the_decoded_blocks(tokens: list[int], opens: bool) -> None:
    assert merged(route(tokens, opens=opens)) == plainly(tokens, opens=opens)


@given(TOKENS, st.booleans())
def test_no_marker_is_ever_shown(tokens: list[int], opens: bool) -> None:
    shown = "".join(text for _, text in merged(route(tokens, opens=opens)))
    typed = TOKENIZER.decode([t for t in tokens if t < OPEN], skip_special_tokens=True)
    for marker in (*THINK, *TOOL, *CHAT):
        assert marker not in shown or marker in typed


@given(TOKENS, st.booleans())
def test_every_token_is_counted(tokens: list[int], opens: bool) -> None:
    *events, finish = route(tokens, opens=opens)
    assert isinstance(finish, Finish)
    counted = sum(event.tokens for event in events if isinstance(event, ReasoningDelta))
    assert finish.usage == Usage(5, len(tokens), counted)


@given(TOKENS)
def test_without_markers_everything_is_text(tokens: list[int]) -> None:
    seen = [t for t in tokens if t < OPEN]
    events = merged(route(seen, vocabulary=NO_MARKERS))
    text = TOKENIZER.decode(seen, skip_special_tokens=True)
    assert events == ([("text", text)] if text else [])


@given(
    st.lists(st.one_of(PIECES, st.text("ab", max_size=4).map(ids)), max_size=14),
    st.lists(st.text("ab", min_size=1, max_size=3), max_size=3),
)
def test_text_ends_before_the_first_stop_string(pieces: list[list[int]], stop: list[str]) -> None:
    tokens = [token for piece in pieces for token in piece]
    assert merged(route(tokens, stop=stop)) == stopped(blocks(tokens), stop)


@pytest.mark.parametrize("cut", range(1, len("x END y")))
def test_stop_string_is_found_across_tokens(cut: int) -> None:
    events = route([*ids("x END y"[:cut]), SILENT, *ids("x END y"[cut:])], stop=["END"])
    assert merged(events) == [("text", "x ")]
    finish = events[-1]
    assert isinstance(finish, Finish)
    assert finish.stop_string == "END"


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        # thinking is no visible text
        ([OPEN, *ids("END"), CLOSE, *ids("a")], [("thinking", "END"), ("text", "a")]),
        # what was held back is shown before what follows it
        ([*ids("EN"), OPEN, *ids("D")], [("text", "EN"), ("thinking", "D")]),
        ([*ids("EN"), CALL, *ids(ADD), UNCALL], [("text", "EN"), ("call", 'add {"a": 1}')]),
        ([*ids("EN")], [("text", "EN")]),
        # a call that is none becomes text, and is searched
        ([CALL, *ids("xENDy"), UNCALL, *ids("z")], [("text", "x")]),
        # arguments are no visible text
        ([CALL, *ids(ADD.replace("1", '"END"')), UNCALL], [("call", 'add {"a": "END"}')]),
    ],
)
def test_stop_strings_apply_to_visible_text(tokens: list[int], expected: Entries) -> None:
    assert merged(route(tokens, stop=["END"])) == expected


@pytest.mark.parametrize(
    ("tokens", "reason", "finish"),
    [
        (ids("a"), "stop", "stop"),
        (ids("a"), "length", "length"),
        ([OPEN, *ids("a")], "length", "length"),
        ([CALL, *ids(ADD), UNCALL], "stop", "tool_calls"),
        ([CALL, *ids(ADD), UNCALL], "length", "length"),
        ([CALL, *ids(ADD), UNCALL], "cancelled", "cancelled"),
        ([CALL, *ids(ADD)], "stop", "stop"),
        ([CALL, *ids("add"), UNCALL], "stop", "stop"),
    ],
)
def test_finish_tells_why(tokens: list[int], reason: Reason, finish: Reason) -> None:
    last = route(tokens, reason=reason)[-1]
    assert isinstance(last, Finish)
    assert last.reason == finish


def test_calls_are_numbered() -> None:
    call = [CALL, *ids(ADD), UNCALL]
    calls = [event for event in route([*call, *call]) if isinstance(event, ToolCall)]
    assert [call.id_hint for call in calls] == [0, 1]


def test_torn_character_ends_at_the_marker() -> None:
    cat = ids("🐱")
    events = route([OPEN, *cat[:2], CLOSE, *cat[2:], *ids("a")])
    assert merged(events) == [("thinking", "\ufffd"), ("text", "\ufffd\ufffda")]


def test_tokens_of_a_torn_character_are_reported_with_the_rest_of_it() -> None:
    events = route([OPEN, *ids("a🐱")])
    assert events[:2] == [ReasoningDelta("a", 1), ReasoningDelta("🐱", 4)]


def test_space_after_the_first_marker_is_kept() -> None:
    tokenizer = sentence_pieces()
    vocabulary = tokenizer.get_vocab()
    pair = Markers(*THINK, *(vocabulary[token] for token in THINK))
    router = Router(tokenizer, Vocabulary(pair, None, frozenset(), frozenset(), None))
    spelt = (THINK[0], "▁one", THINK[1], "▁two")
    events = [event for token in spelt for event in router.push(vocabulary[token])]
    assert events == [ReasoningDelta(" one", 1), TextDelta(" two")]
