"""What is measured with is what it says: conforming streams of the lengths asked for."""

from __future__ import annotations

from random import Random

import pytest

import conformance
from tests.benchmarks import corpora
from tests.benchmarks.real_streams import DIALECTS, LENGTHS, drawn, drawn_chunks, drawn_stream


@pytest.mark.one_in(4)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_drawn_streams_conform(dialect: str, length: str) -> None:
    for stream in drawn(dialect, length):
        asked = stream.request.json if stream.request else None
        profile = stream.profile
        report = conformance.check_chunks(
            stream.chunks, dialect=dialect, profile=profile, request=asked
        )
        assert report.findings == ()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_drawn_streams_are_as_long_as_asked(dialect: str, length: str) -> None:
    low, high = LENGTHS[length]
    for stream in drawn(dialect, length):
        assert low <= stream.frames <= high
        assert stream.length == length


def test_a_seed_draws_the_same_stream_again() -> None:
    first, again = (drawn_stream("openai.responses", "20-100", Random(7)) for _ in range(2))
    assert first == again
    assert first != drawn_stream("openai.responses", "20-100", Random(8))


@pytest.mark.parametrize("seed", range(12))
def test_chunks_hold_the_frames(seed: int) -> None:
    frames = corpora.chat(40)
    assert b"".join(drawn_chunks(frames, Random(seed))) == b"".join(frames)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_streams_with_spaces_and_many_escapes_conform(dialect: str) -> None:
    make, profile = corpora.LONG[dialect]
    frames = corpora.spaced(make(1_000, others=corpora.MANY_OTHERS))
    assert sum(b'": ' in frame for frame in frames) > len(frames) - 2
    assert conformance.check_chunks(frames, dialect=dialect, profile=profile).findings == ()
