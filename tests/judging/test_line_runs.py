"""Lines of JSON are taken in runs, with the outcome that the oracle has."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.core.events import Chunk
from conformance.judging.rulebook import Rulebook
from tests.fuzz.both import difference, fast, setting_for, slow, usual
from tests.fuzz.cutting import cut

TEXTS = st.sampled_from([" so", "we", "</think>", "\u8c46", '"', "\\", "\n", "", " long" * 40])
# Lines that are no delta of the run: what they hold is put between deltas as it is.
ODD = st.sampled_from(
    [
        b"\n",
        b" \r\n",
        b"no JSON\n",
        b'{"message":{"role":"assistant","content":"x","thinking":"y"},"done":false}\n',
        b'{"error":"it broke"}\n',
        (
            b'\x1e{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant",'
            b'"content":"x"},"done":false}\n'
        ),
        (
            b'{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant",'
            b'"content":"\xff"},"done":false}\n'
        ),
        b'{"model":"m","created_at":5,"message":{"role":"assistant","content":"x"},"done":false}\n',
        (
            b'{"model":"m","created_at":"yesterday","message":{"role":"assistant","content":"x"},'
            b'"done":false}\n'
        ),
        (
            b'{"model":"m","created_at":"2026-01-01T00:00:00Z","done":false,"message":{"content":'
            b'"cut\n'
        ),
    ]
)


def line(name: str, text: str, number: int, end: str = "\n") -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    fields = {
        "model": "m",
        "created_at": f"2026-01-01T00:00:{number % 60:02}.{number:06}Z",
        "message": {**message, name: text},
        "done": False,
    }
    return (json.dumps(fields, separators=(",", ":"), ensure_ascii=False) + end).encode()


LAST = (
    b'{"model":"m","created_at":"2026-01-01T00:01:00Z","message":{"role":"assistant","content":""},'
    b'"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":9}\n'
)
deltas = st.builds(
    lambda name, texts, end: [(name, text, end) for text in texts],
    st.sampled_from(["thinking", "content"]),
    st.lists(TEXTS, max_size=40),
    st.sampled_from(["\n", "\n", "\r\n"]),
)
streams = st.lists(deltas | ODD, max_size=6)


@settings(deadline=None, max_examples=60)
@given(streams, st.integers(0, 2**32), st.booleans(), st.sampled_from(["strict", "ollama"]))
def test_lines_in_runs_are_judged_as_one_by_one(
    parts: list[Any], seed: int, clock: bool, profile: str
) -> None:
    pieces: list[bytes] = []
    for part in parts:
        if isinstance(part, bytes):
            pieces.append(part)
        else:
            texts = enumerate(part, len(pieces))
            pieces += [line(name, text, at, end) for at, (name, text, end) in texts]
    data = b"".join([*pieces, LAST])
    setting = setting_for("ollama.chat", profile, Rulebook.load())
    chunks = cut(data, Random(seed), clock=clock)
    wanted = slow(setting, chunks)
    for judged in (fast(setting, chunks), usual(setting, chunks)):
        where = difference(wanted, judged)
        assert not where, where


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_thinking_and_text_are_two_runs(size: int) -> None:
    """A line of text begins and ends as one of thinking does: a run stops where they differ."""
    said = [("thinking", " a")] * 30 + [("content", " b")] * 30
    data = b"".join(line(name, text, at) for at, (name, text) in enumerate(said)) + LAST
    setting = setting_for("ollama.chat", "strict", Rulebook.load())
    chunks = [Chunk(data[at : at + size]) for at in range(0, len(data), size)]
    assert not difference(slow(setting, chunks), fast(setting, chunks))
