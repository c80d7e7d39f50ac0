"""Every dialect that names columns is judged in runs where a stream is long, to the same end."""

from __future__ import annotations

from typing import Final

import pytest

from conformance.cassette import open_recording
from conformance.core.events import Chunk
from conformance.core.framing import exchange_frames
from conformance.core.shipped import cassettes
from conformance.dialects import SUPPORTED, Reading
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from tests.dialects.conftest import payload_of
from tests.fuzz.both import difference, fast, setting_for, slow
from tests.fuzz.recorded import frames_in_runs

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
def test_long_streams_are_judged_in_runs_and_alike(
    dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks = [Chunk(lengthened(dialect))]
    setting = setting_for(dialect, "strict", Rulebook.load())
    wanted, counts = slow(setting, chunks), frames_in_runs(monkeypatch)
    where = difference(wanted, fast(setting, chunks))
    assert not where
    assert isinstance(wanted.result, StreamResult)
    assert sum(counts) > REPEATED // 2


@pytest.mark.parametrize("dialect", sorted(SUPPORTED.keys() - WITHOUT_COLUMNS))
def test_a_clock_leaves_no_more_frames_to_be_read_alone(
    dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def repeated(data: bytes, said: bytes, *, is_line: bool) -> bytes:
    """The stream with one of its frames many times."""
    limit = b"\n" if is_line else b"\n\n"
    at = data.index(said)
    begin = data.rfind(limit, 0, at) + len(limit)
    end = data.index(limit, at) + len(limit)
    return data[:end] + data[begin:end] * REPEATED + data[end:]
