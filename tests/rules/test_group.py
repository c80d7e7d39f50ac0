"""What groups of rules remember: capped, and of no consequence for what is found."""

from __future__ import annotations

import gc

import pytest

import conformance
from conformance.cassette import open_recording
from conformance.core.shipped import cassettes
from conformance.rules import group
from conformance.rules.group import JointState

STREAMS = sorted((cassettes() / "mutants" / "wire").glob("responses*/**/*.jsonl"))[::6]


def judged(checker: conformance.Checker) -> list[conformance.StreamResult]:
    return [
        checker.check([exchange.body], request=exchange.request, response=exchange.response)
        for path in STREAMS
        for exchange in open_recording(path).exchanges
    ]


def states() -> int:
    gc.collect()
    # Asking for the class of what others left behind may warn: torch does.
    return sum(type(each) is JointState for each in gc.get_objects())


@pytest.mark.parametrize("most", [1, 7])
def test_what_was_forgotten_is_learnt_again(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    checker = conformance.Checker("openai.responses")
    expected = judged(checker)
    assert len(expected) > 10
    assert any(each.findings for each in expected)
    monkeypatch.setattr(group, "MOST_STATES", most)
    monkeypatch.setattr(group, "MOST_STEPS", most)
    assert judged(checker) == expected


def test_no_group_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    checker = conformance.Checker("openai.responses", rules=["thinking/*"])
    monkeypatch.setattr(group, "MOST_STATES", 8)
    monkeypatch.setattr(group, "MOST_STEPS", 8)
    before = states()
    judged(checker)
    capped = states() - before
    monkeypatch.undo()
    judged(checker)
    assert states() - before > 2 * capped
