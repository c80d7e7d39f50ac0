"""Lines of JSON are taken in runs, with the outcome that the oracle has."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import conformance
from conformance.cassette import open_recording
from conformance.core.events import Chunk, Event
from conformance.core.framing import exchange_frames
from conformance.core.shipped import cassettes
from conformance.dialects import SUPPORTED, Reading
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.profiles.lookup import available, find
from conformance.profiles.profile import reading
from conformance.rules.judge import Judge
from tests.benchmarks.corpora import chat, messages, net, ollama, responses
from tests.dialects.conftest import payload_of
from tests.fuzz.both import difference, fast, setting_for, slow, usual
from tests.fuzz.cutting import cut
from tests.fuzz.dialogues import stream
from tests.fuzz.recorded import frames_in_runs
from tests.judging.test_running import alike

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
    found = [("thinking", " a")] * 30 + [("content", " b")] * 30
    data = b"".join(line(name, text, at) for at, (name, text) in enumerate(found)) + LAST
    setting = setting_for("ollama.chat", "strict", Rulebook.load())
    chunks = [Chunk(data[at : at + size]) for at in range(0, len(data), size)]
    assert not difference(slow(setting, chunks), fast(setting, chunks))


CHAT: Final = "openai.chat"
RULEBOOK: Final = Rulebook.load()
MARKED: Final = [
    name
    for name, dialect, _ in available()
    if dialect == CHAT and reading(find(name, dialect)).markers
]
PLAIN: Final = (" so", " the sea", ".", "\n\n", " ", "4")
RARE: Final = (
    *("<think>", "</think>", "<th", "ink>", "</", "think>", "<", "[THINK]", "[/THINK]"),
    *(" 1 < 2", "[", "a ◁ b"),
)


def words(source: Random, count: int) -> list[str]:
    """Long stretches without a character that a marker begins with, and then some."""
    texts: list[str] = []
    while len(texts) < count:
        texts += source.choices(PLAIN, k=source.randint(1, 60))
        texts += source.choices(RARE, k=source.randint(0, 3))
    return texts


def encoded(said: Sequence[str], source: Random) -> bytes:
    pieces = stream(CHAT, [], [text for text in said if text], source)
    return b"".join(piece.encode() for piece in pieces)


@pytest.mark.parametrize("profile", MARKED)
def test_marked_streams_under_any_cutting(profile: str) -> None:
    setting = setting_for(CHAT, profile, RULEBOOK)
    for seed in range(5):
        source = Random(f"{profile} {seed}")
        opened = source.choice(("<think>", "<think>\n", "", "[THINK]"))
        closed = source.choice(("</think>", "</think>\n\n", "", "[/THINK]"))
        data = encoded([opened, *words(source, 120), closed, *words(source, 60)], source)
        alike(setting, cut(data, source, clock=source.random() < 0.5, size=4096))


@pytest.mark.parametrize("profile", MARKED)
def test_marked_thinking_is_taken_in_runs(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (opened, closed), *_ = reading(find(profile, CHAT)).markers
    counts = frames_in_runs(monkeypatch)
    data = encoded([opened, *[" so", " it is"] * 300, closed, " Yes."], Random(1))
    alike(setting_for(CHAT, profile, RULEBOOK), [Chunk(data)])
    assert sum(counts) >= 2 * 560


REPEATED: Final = 300
# Their events hold whole parts or answers or are counted, or their frames are binary or plain text.
WITHOUT_COLUMNS: Final = frozenset(
    {
        *("bedrock.converse", "codex.exec", "gemini.generate", "google.a2a", "google.adk"),
        *("harmony", "huggingface.tgi", "langchain.events", "langgraph", "opencode.run"),
        *("otel.genai", "sglang.generate"),
    }
)


@pytest.mark.parametrize("dialect", sorted(SUPPORTED.keys() - WITHOUT_COLUMNS))
def test_long_streams_have_the_same_verdicts(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = [Chunk(lengthened(dialect))]
    setting = setting_for(dialect, "strict", Rulebook.load())
    wanted, counts = slow(setting, chunks), frames_in_runs(monkeypatch)
    assert not difference(wanted, fast(setting, chunks))
    assert isinstance(wanted.result, StreamResult)
    assert sum(counts) > REPEATED // 2


@pytest.mark.parametrize("dialect", sorted(SUPPORTED.keys() - WITHOUT_COLUMNS))
def test_clock_takes_no_frame_out_of_runs(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    setting, data = setting_for(dialect, "strict", Rulebook.load()), lengthened(dialect)
    counts = frames_in_runs(monkeypatch)
    fast(setting, [Chunk(data)])
    without_clock = sum(counts)
    counts.clear()
    fast(setting, [Chunk(data, 5.0)])
    assert sum(counts) >= without_clock > 0


def lengthened(dialect: str) -> bytes:
    """The first shipped stream of a dialect with a delta, that delta many times."""
    for path in sorted((cassettes() / dialect).rglob("*.cassette.jsonl")):
        for exchange in open_recording(path).exchanges:
            data = b"".join(chunk.data for chunk in exchange.chunks)
            for frame, _ in exchange_frames(exchange):
                if SUPPORTED[dialect].columns(payload_of(frame), Reading()) is not None:
                    return repeated(data, frame.data.encode(), is_line=frame.kind == "line")
    pytest.fail(f"no shipped stream of {dialect} has a delta with columns")


def repeated(data: bytes, words: bytes, *, is_line: bool) -> bytes:
    """The stream with one of its frames many times."""
    limit = b"\n" if is_line else b"\n\n"
    at = data.index(words)
    begin = data.rfind(limit, 0, at) + len(limit)
    end = data.index(limit, at) + len(limit)
    return data[:end] + data[begin:end] * REPEATED + data[end:]


STREAMS = {
    "openai.responses": (responses(4000, 4), "openai"),
    "openai.chat": (chat(4000), "openai"),
    "anthropic.messages": (messages(4000), "anthropic"),
    "ollama.chat": (ollama(4000), "strict"),
}


@pytest.mark.parametrize("dialect", STREAMS)
def test_deltas_are_not_read_one_by_one(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all shipped rules none keeps the others from taking a long stream in runs."""
    frames, profile = STREAMS[dialect]
    alone = 0
    read = Judge.read

    def counted(judge: Judge, event: Event) -> None:
        nonlocal alone
        alone += 1
        read(judge, event)

    monkeypatch.setattr(Judge, "read", counted)
    assert conformance.check_chunks(net(frames), dialect=dialect, profile=profile).findings == ()
    assert 0 < alone < len(frames) / 4
