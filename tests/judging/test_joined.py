"""Deltas that are joined say what they say one by one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.events import Chunk, Exchange
from conformance.dialects import get
from conformance.dialects.base import Reading
from conformance.judging.fast import joined
from conformance.judging.fast.joined import JoinedFrames, read_joined
from conformance.judging.transcript import Transcript
from conformance.profiles.fingerprints import Signs, Watch
from conformance.profiles.lookup import fingerprints
from tests.benchmarks.corpora import chat, messages, responses, spaced
from tests.judging.test_line_runs import encoded, words

DELTAS = 100  # more than the most that are read one by one before it is tried again
STREAMS: dict[str, Callable[[int], list[bytes]]] = {
    "anthropic.messages": messages,
    "openai.chat": chat,
    "openai.responses": partial(responses, parts=4),
}
DIALECTS = sorted(STREAMS)
ODD = (
    *(b": a comment\n\n", b"event: ping\n\n", b"data: {\n\n", b"data: \xff\n\n", b"id: 7\n\n"),
    b'data: {"choices":[{"index":0,"delta":{"content":""}}]}\n\n',
    b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}\n\n',
    b'data: {"provider":"Own","choices":[{"index":0,"delta":{"content":"x"}}]}\r\n\r\n',
)
PLACES = st.lists(st.tuples(st.integers(0, DELTAS + 10), st.sampled_from(ODD)), max_size=4)


@pytest.fixture(autouse=True)
def joins_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined, "WORTHWHILE", 0)


@cache
def stream(dialect: str) -> list[bytes]:
    return STREAMS[dialect](DELTAS)


def facts(parts: list[JoinedFrames], exchange: Exchange) -> dict[str, Any]:
    """What a reader of the answer keeps, texts joined."""
    transcript = Transcript(exchange)
    for number, frames, events, _ in parts:
        for at, frame in enumerate(frames, number - len(frames) + 1):
            transcript.memory.keep(at, frame, events)
        transcript.take(events)
    texts = {
        name: "".join(getattr(transcript, name)) for name in ("thinking", "raw", "summary", "text")
    }
    names = ("order", "tools", "opaque", "finishes", "errors", "usage", "done", "choices", "types")
    others = {name: getattr(transcript, name) for name in names}
    number = parts[-1].number
    return {**texts, **others, "last": number, "around": transcript.memory.around(number - 1)}


@cache
def known_signs(dialect: str) -> Signs:
    return Signs(fingerprints(dialect))


def signs(parts: list[JoinedFrames], dialect: str) -> list[str]:
    watch = Watch(known_signs(dialect))
    for part in parts:
        for event in () if part.is_joined else part.events:
            watch.see(event)
    return [sign.says for sign in watch.met]


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
@given(PLACES, st.booleans(), st.integers(0, 30))
def test_what_is_joined_says_the_same(
    dialect: str, places: list[tuple[int, bytes]], is_spaced: bool, cut: int
) -> None:
    frames = list(spaced(stream(dialect)) if is_spaced else stream(dialect))
    for at, odd in places:
        frames.insert(at, odd)
    body = b"".join(frames)
    exchange = Exchange(chunks=(Chunk(body[: len(body) - cut]),))
    spoken = get(dialect)
    together = list(read_joined(exchange, spoken, Reading()))
    singly = list(read_joined(exchange, spoken, Reading(), joins=False))
    assert facts(together, exchange) == facts(singly, exchange)
    assert signs(together, dialect) == signs(singly, dialect)
    traced = [(each.number, each.events) for each in spoken.trace(exchange, Reading())]
    assert [(part.number, part.events) for part in singly] == traced


@pytest.mark.parametrize("dialect", DIALECTS)
def test_most_of_a_long_stream_is_joined(dialect: str) -> None:
    exchange = Exchange(chunks=(Chunk(b"".join(stream(dialect))),))
    parts = list(read_joined(exchange, get(dialect), Reading()))
    assert len(parts) < len(stream(dialect)) / 2
    assert sum(part.is_joined for part in parts) > 0


@pytest.mark.parametrize("dialect", DIALECTS)
def test_deltas_after_many_other_frames_are_joined(dialect: str) -> None:
    body = b"".join((*ODD[:2] * DELTAS, *stream(dialect)))
    exchange = Exchange(chunks=(Chunk(body),))
    together, singly = (
        list(read_joined(exchange, get(dialect), Reading(), joins=joins)) for joins in (True, False)
    )
    assert sum(part.is_joined for part in together) > 0
    assert facts(together, exchange) == facts(singly, exchange)


def test_a_short_stream_is_read_frame_by_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    frames = stream("openai.chat")[:12]
    exchange = Exchange(chunks=(Chunk(b"".join(frames)),))
    parts = list(read_joined(exchange, get("openai.chat"), Reading()))
    assert not any(part.is_joined for part in parts)


def test_bodies_and_lines_are_read_as_they_are() -> None:
    for body in (b'{"a": 1}', b'{"a": 1}\n{"a": 2}\n', b"  "):
        exchange = Exchange(chunks=(Chunk(body[:4]), Chunk(body[4:])))
        for dialect in DIALECTS:
            traced = [each.events for each in get(dialect).trace(exchange, Reading())]
            parts = [part.events for part in read_joined(exchange, get(dialect), Reading())]
            assert parts == traced


@pytest.mark.parametrize("seed", range(12))
def test_thinking_between_marks_is_joined(seed: int) -> None:
    source = Random(seed)
    opened, closed = source.choice((("<think>", "</think>"), ("<th", "</think>"), ("", "</th")))
    body = encoded([opened, *words(source, 160), closed, *words(source, 80)], source)
    exchange = Exchange(chunks=(Chunk(body),))
    for last_close in (False, True):
        reading = Reading(markers=(("<think>", "</think>"),), last_close=last_close)
        together, singly = (
            list(read_joined(exchange, get("openai.chat"), reading, joins=joins))
            for joins in (True, False)
        )
        assert sum(part.is_joined for part in together) > 0
        assert facts(together, exchange) == facts(singly, exchange)
