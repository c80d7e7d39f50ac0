"""Verdicts and findings do not depend on how the bytes were cut."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.cassette import Recording, open_recording
from conformance.core.events import Chunk
from conformance.core.sse import Parser
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from tests.tables import read_table

TABLE: list[dict[str, Any]] = read_table(Path(__file__).parent / "table.yaml")
RULEBOOK = Rulebook.load()

pytestmark = pytest.mark.captures


def bytewise(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


def cut_at_random(data: bytes, seed: int) -> list[bytes]:
    cuts = random.Random(seed)
    at, pieces = 0, []
    while at < len(data):
        size = cuts.choice((1, 2, 3, 7, 40, 300, 4096))
        pieces.append(data[at : at + size])
        at += size
    return pieces


def cuttings(data: bytes) -> Iterator[list[bytes]]:
    yield bytewise(data)
    for seed in range(20):
        yield cut_at_random(data, seed)


def judged(recording: Recording, profile: str) -> list[StreamResult]:
    return check_recording(recording, RULEBOOK, CheckChoices(profile=profile))


def recut(recording: Recording, pieces: list[bytes]) -> Recording:
    exchange = replace(recording.exchanges[0], chunks=tuple(map(Chunk, pieces)))
    return replace(recording, cassette=replace(recording.cassette, exchanges=(exchange,)))


@pytest.mark.one_in(20)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: str(row["file"]))
def test_verdicts_and_findings_are_the_same(row: dict[str, Any], captures: Path) -> None:
    recording = open_recording(captures / row["file"])
    data = b"".join(chunk.data for chunk in recording.exchanges[0].chunks)
    whole = judged(recut(recording, [data]), row["profile"])
    parser = Parser()
    frames = [*parser.feed(data), *parser.close()]
    for pieces in cuttings(data):
        # The judge sees frames alone. `test_running.py` judges other cuttings, one by one too.
        parser = Parser()
        fed = [frame for piece in pieces for frame in parser.feed(piece)]
        assert [*fed, *parser.close()] == frames
    assert judged(recut(recording, cut_at_random(data, 99)), row["profile"]) == whole
