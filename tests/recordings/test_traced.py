"""A trace that is read again is the one that was judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cassette import discover, open_recording
from conformance.core import shipped
from conformance.core.events import Chunk, Exchange, Response
from conformance.dialects import Reading, get
from conformance.judging.rulebook import Rulebook
from conformance.profiles.lookup import profile_at_hand
from conformance.profiles.profile import reading
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices

FILES = [
    path
    for folder in ("openai.chat", "openai.responses", "anthropic.messages")
    for path in discover(shipped.cassettes() / folder)[::7]
]
KEEPING = CheckChoices(keep=True)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_events_are_those_that_the_judge_saw(path: Path) -> None:
    recording = open_recording(path)
    results = check_recording(recording, Rulebook([]), KEEPING)
    for exchange in recording.exchanges:
        (judged,) = (r for r in results if r.exchange == exchange.number and r.view == "wire")
        profile = profile_at_hand(judged.profile, judged.dialect)
        if profile.name != judged.profile:
            continue  # a profile that only this cassette needs
        again = [
            e for each in get(judged.dialect).trace(exchange, reading(profile)) for e in each.events
        ]
        assert tuple(again) == judged.events


def test_white_space_before_a_body_makes_no_stream_of_it() -> None:
    body = (b" ", b"\n", b'{"object":"chat.completion","choices":[]}')
    exchange = Exchange(response=Response(), chunks=tuple(Chunk(each, 1.0) for each in body))
    frames = list(get("openai.chat").trace(exchange, Reading()))
    assert [each.frame.kind for each in frames if each.frame] == ["body"]
    assert [each.number for each in frames] == [0, 1, 2]
    assert [each.ms for each in frames] == [0.0, 3.0, 3.0]


def test_a_profile_that_is_not_at_hand_is_read_as_strict() -> None:
    assert profile_at_hand("nobody", "openai.chat").name == "strict"
    assert profile_at_hand("deepseek", "openai.chat").name == "deepseek"
