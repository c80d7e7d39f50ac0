"""Chunking must not matter; where it does, the least that shows it is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.cassette import Recording, open_recording
from conformance.core.errors import HarnessError, UsageError
from conformance.core.events import Chunk, Exchange
from conformance.core.shipped import cassettes
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.recordings import rechunk
from conformance.recordings.choices import CheckChoices
from conformance.recordings.rechunk import rechunk_recording as try_chunkings
from conformance.rules.verdicts import Verdict

CHAT = (
    'data: {"object":"chat.completion.chunk","id":"c","choices":[]}\n\n: ping\n\ndata: [DONE]\n\n'
)
CHOICES = CheckChoices(dialect="openai.chat", profile="strict")


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    path = tmp_path / "chat.sse"
    path.write_text(CHAT, encoding="utf-8")
    return open_recording(path)


def chunk_ends(exchange: Exchange) -> set[int]:
    ends, at = set(), 0
    for chunk in exchange.chunks:
        at += len(chunk.data)
        ends.add(at)
    return ends


def planted(monkeypatch: pytest.MonkeyPatch, *cuts: int, fault: Exception | None = None) -> None:
    """An engine that goes wrong where the body is cut at all of these bytes."""

    def check(recording: Recording, *_: Any) -> list[StreamResult]:
        wrong = set(cuts) <= chunk_ends(recording.exchanges[0])
        if wrong and fault is not None:
            raise fault
        verdict = Verdict.FAIL if wrong else Verdict.PASS
        return [StreamResult("chat.sse", 1, "openai.chat", "strict", True, {"a/b/c": verdict}, ())]

    monkeypatch.setattr(rechunk, "check_trusted", check)


def test_every_chunking_agrees_on_a_real_engine(recording: Recording) -> None:
    assert try_chunkings(recording, Rulebook.load(["wire"]), CHOICES, rounds=4) == 7


@pytest.mark.parametrize("path", sorted((cassettes() / "openai.chat").rglob("*.jsonl"))[:3])
def test_shipped_cassettes_do_not_depend_on_chunks(path: Path) -> None:
    folders = (cassettes() / "profiles",) if (cassettes() / "profiles").is_dir() else ()
    assert try_chunkings(
        open_recording(path), Rulebook.load(), CheckChoices(folders=folders), rounds=1
    )


def test_difference_has_least_cuts(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    planted(monkeypatch, 5, 9)
    with pytest.raises(HarnessError) as caught:
        try_chunkings(recording, Rulebook(()), CHOICES, rounds=1)
    assert "(byte by byte): a/b/c is PASS in one piece, FAIL when cut" in str(caught.value)
    assert str(caught.value).endswith(f"chunk sizes 5 4 {len(CHAT) - 9} (exchange 1)")


def test_unreadable_is_different(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    planted(monkeypatch, 1, fault=UsageError("no known dialect is recognised"))
    with pytest.raises(HarnessError, match="judged in one piece, 'no known dialect is recognised'"):
        try_chunkings(recording, Rulebook(()), CHOICES, rounds=1)


def test_seed_repeats_random_cuts(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[int]] = []

    def check(recording: Recording, *_: Any) -> list[StreamResult]:
        seen.append(chunk_ends(recording.exchanges[0]))
        return []

    monkeypatch.setattr(rechunk, "check_trusted", check)
    for _ in range(2):
        try_chunkings(recording, Rulebook(()), CHOICES, rounds=3)
    assert seen[:7] == seen[7:]
    assert len({frozenset(ends) for ends in seen[4:7]}) > 1  # three seeds, not one chunking
    ends = {at for at in range(len(CHAT) + 1) if CHAT[:at].endswith("\n\n")}
    assert seen[3] == ends


def test_clocks_are_left_out(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    timed = replace(recording.exchanges[0], chunks=(Chunk(CHAT.encode(), 3.0),))
    clocked = replace(recording, cassette=replace(recording.cassette, exchanges=(timed,)))
    times: set[float | None] = set()

    def check(recording: Recording, *_: Any) -> list[StreamResult]:
        times.update(chunk.ms for each in recording.exchanges for chunk in each.chunks)
        return []

    monkeypatch.setattr(rechunk, "check_trusted", check)
    try_chunkings(clocked, Rulebook(()), CHOICES, rounds=1)
    assert times == {None}
