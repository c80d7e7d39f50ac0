"""Recordings judged both ways: as every check does, and frame by frame."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any
from unittest import mock

import pytest
from msgspec.structs import replace

from conformance.cassette import Recording
from conformance.core.clock import chunk_times
from conformance.core.errors import UsageError
from conformance.core.events import Chunk, Ending, Exchange
from conformance.judging.fast.running import RunningView, check_wire
from conformance.judging.fast.runs import Run
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.scenario import ScenarioJudge
from conformance.judging.transcript import Transcript
from conformance.judging.view import EventListener, JudgedView, JudgeSetting
from conformance.judging.wire import WireView
from conformance.recordings import check as recordings
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from tests.fuzz.cutting import cut

Told = list[StreamResult] | str


def _in_runs(
    setting: JudgeSetting, exchange: Exchange, chunks: Iterable[Chunk], end: Ending, **more: Any
) -> JudgedView:
    """As `check_wire`, but every chunk is fed as it is given."""
    if more.get("scenario") is not None and setting.bound.scenario.rules:
        return check_wire(setting, exchange, chunks, end, **more)
    return _fed(RunningView, setting, exchange, chunks, end, **more)


def _frame_by_frame(
    setting: JudgeSetting, exchange: Exchange, chunks: Iterable[Chunk], end: Ending, **more: Any
) -> JudgedView:
    return _fed(WireView, setting, exchange, chunks, end, **more)


def _fed(
    kind: type[WireView],
    setting: JudgeSetting,
    exchange: Exchange,
    chunks: Iterable[Chunk],
    end: Ending,
    *,
    scenario: ScenarioJudge | None = None,
    is_last: bool = True,
    transcript: Transcript | None = None,
    listener: EventListener | None = None,
) -> JudgedView:
    view = kind(setting, exchange, scenario)
    view.transcript, view.listener = transcript, listener
    for data, ms in chunk_times(chunks):
        view.feed(data, ms)
    return view.finish(end, is_last=is_last)


def usual_way(recording: Recording, rulebook: Rulebook, profile: str | None = None) -> Told:
    """As every check does."""
    try:
        return check_recording(recording, rulebook, CheckChoices(profile=profile))
    except UsageError as err:
        return str(err)


def frame_by_frame(recording: Recording, rulebook: Rulebook, profile: str | None = None) -> Told:
    """Every frame by itself: what the other ways must say, too."""
    with mock.patch.object(recordings, "check_wire", _frame_by_frame):
        return usual_way(recording, rulebook, profile)


def in_runs(recording: Recording, rulebook: Rulebook, profile: str | None = None) -> Told:
    """In runs, without joining chunks."""
    with mock.patch.object(recordings, "check_wire", _in_runs):
        return usual_way(recording, rulebook, profile)


def three_ways(
    recording: Recording, rulebook: Rulebook, profile: str | None = None
) -> tuple[Told, Told, Told]:
    """Frame by frame, as every check does, and in runs without joining chunks."""
    slow, usual, fast = (
        way(recording, rulebook, profile) for way in (frame_by_frame, usual_way, in_runs)
    )
    return slow, usual, fast


def recut(recording: Recording, source: Random) -> Recording:
    """The same bytes in other chunks; the clock is drawn, or left out, for each exchange."""
    exchanges = tuple(
        replace(exchange, chunks=tuple(cut(exchange.body, source, clock=source.random() < 0.5)))
        for exchange in recording.exchanges
    )
    return replace(recording, cassette=replace(recording.cassette, exchanges=exchanges))


def frames_in_runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts how many frames each run took, from here on."""
    counts: list[int] = []
    ends = Run.stretches

    def stretches(run: Run, number: int) -> Any:
        counts.append(run.count)
        return ends(run, number)

    monkeypatch.setattr(Run, "stretches", stretches)
    return counts
