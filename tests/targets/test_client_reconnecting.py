"""Answers that break off, before a client that asks for the rest, and before ones that err."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest

from conformance.core import shipped
from conformance.judging import harness
from conformance.targets.client import ClientOptions, ClientOutcome, run_client
from conformance.targets.client.reconnecting import RECONNECT, broken_answers
from conformance.targets.client.replay_endpoint import short_answer

CLIENT = Path(__file__).with_name("client_reconnecting.py")
PATH = shipped.cassettes() / "openai.chat" / "deepseek" / "stream-and-body.cassette.jsonl"
RULE = harness.RECONNECT.id
AGREES = "thinking/client/agrees-with-wire"


@cache
def outcome(defect: str) -> ClientOutcome:
    options = ClientOptions(extent="quick", deadline=60, rules=(AGREES,))
    return run_client([sys.executable, str(CLIENT), *([defect] if defect else [])], [PATH], options)


def cases(defect: str) -> dict[str, dict[str, str]]:
    """Per case the messages of what was found, by rule."""
    streams = [each for each in outcome(defect).report.streams if each.scenario == RECONNECT]
    return {each.role: {f.rule: f.message for f in each.findings} for each in streams}


def test_who_goes_on_where_the_answer_broke_off_is_right() -> None:
    names = [
        each.name
        for each in broken_answers([chunk.data for chunk in short_answer("openai.chat").chunks])
    ]
    assert cases("") == {name: {} for name in names}
    assert len(names) == 13


DEFECTS: list[tuple[str, dict[str, str]]] = [
    # what it does wrong, the cases that show it and what is said there
    ("forgets-the-id", {"id": "expected Last-Event-ID '2', got None"}),
    ("sends-an-empty-id", {"id-taken-back": "expected Last-Event-ID None, got ''"}),
    ("asks-otherwise", {"clean-end": "expected the same request again, got POST"}),
    ("does-not-wait", {"retry": "expected a wait of 200 ms", "retry-bogus": "a wait of 200 ms"}),
    ("believes-any-retry", {"retry-bogus": "expected a wait of 200 ms"}),
    ("goes-on-after-204", {"no-content": "expected 2 requests, got 3"}),
    ("gives-up", {"id-kept": "expected 3 requests, got 1", "id": "expected 2 requests, got 1"}),
    ("keeps-half-an-event", {"id-of-half-an-event": "expected Last-Event-ID 'abc', got 'def'"}),
]


@pytest.mark.parametrize(("defect", "expected"), DEFECTS)
def test_every_way_to_err_is_found(defect: str, expected: dict[str, str]) -> None:
    found = {case: rules[RULE] for case, rules in cases(defect).items() if RULE in rules}
    for case, message in expected.items():
        assert message in found[case]


@pytest.mark.parametrize(
    ("defect", "only"),
    [
        ("sends-an-empty-id", {"id-taken-back"}),
        ("does-not-wait", {"retry", "retry-bogus"}),
        ("believes-any-retry", {"retry-bogus"}),
        ("goes-on-after-204", {"no-content"}),
        ("keeps-half-an-event", {"id-of-half-an-event"}),
    ],
)
def test_one_defect_shows_where_it_stands_and_nowhere_else(defect: str, only: set[str]) -> None:
    assert {case for case, rules in cases(defect).items() if rules} == only


def test_half_an_event_is_not_reported_twice() -> None:
    assert cases("keeps-half-an-event")["id-of-half-an-event"].keys() == {RULE, AGREES}


def test_nothing_is_asked_of_a_client_that_does_not_declare_it() -> None:
    assert cases("declares-nothing") == {}
    assert outcome("declares-nothing").cases < outcome("").cases


def test_a_recording_itself_is_judged_as_ever() -> None:
    streams = outcome("").report.streams
    assert any(each.file == str(PATH) for each in streams)
    assert [
        f.message for each in streams for f in each.findings if f.rule == "harness/ending"
    ] == []
