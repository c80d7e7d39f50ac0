"""What a client's user chose: judged alike in bulk and frame by frame, and owed by nobody else."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.cassette import open_recording
from conformance.core import shipped
from conformance.core.clock import chunk_times
from conformance.core.events import Exchange
from conformance.dialects import get
from conformance.judging.fast.running import check_wire
from conformance.judging.view import JudgeSetting
from conformance.judging.wire import WireView
from conformance.profiles.lookup import find
from conformance.recordings.choices import CheckChoices, choose_profile
from conformance.rules.verdicts import Verdict
from tests.rulebooks import rulebook

SENT = "effort/chat/sent"
CHOSEN = (
    "openai.chat/reference-client/levels",
    "openai.responses/reference-client/levels",
    "anthropic.messages/reference-client/levels",
    "mutants/effort/chat/sent",
    "mutants/effort/responses/changed-level",
    "mutants/effort/messages/adaptive-level",
)


def recorded(name: str) -> tuple[JudgeSetting, tuple[Exchange, ...]]:
    recording = open_recording(shipped.cassettes() / f"{name}.cassette.jsonl")
    dialect = get(str(recording.header.dialect))
    profile, _ = choose_profile(dialect, CheckChoices(), recording.header.profile)
    return JudgeSetting(dialect, profile, rulebook().bound(profile)), recording.exchanges


@pytest.mark.parametrize("name", CHOSEN)
def test_both_ways_agree_on_what_was_chosen(name: str) -> None:
    setting, exchanges = recorded(name)
    for exchange in exchanges:
        assert exchange.user_choices is not None
        view = WireView(setting, exchange)
        for data, ms in chunk_times(exchange.chunks):
            view.feed(data, ms)
        slow = view.finish(exchange.end).result
        assert check_wire(setting, exchange, exchange.chunks, exchange.end).result == slow


def verdict(setting: JudgeSetting, exchange: Exchange) -> Verdict:
    return check_wire(setting, exchange, exchange.chunks, exchange.end).result.verdicts[SENT]


def test_a_promise_is_untestable_where_the_choice_was_not_recorded() -> None:
    setting, (_, low, *_) = recorded("openai.chat/reference-client/levels")
    assert verdict(setting, low) is Verdict.PASS
    assert verdict(setting, replace(low, user_choices=None)) is Verdict.UNTESTABLE


def test_nobody_is_held_to_what_the_profile_does_not_promise() -> None:
    setting, (_, low, *_) = recorded("openai.chat/reference-client/levels")
    strict = find("strict", "openai.chat")
    plain = replace(setting, profile=strict, bound=rulebook().bound(strict))
    assert verdict(plain, replace(low, user_choices=None)) is Verdict.NOT_APPLICABLE
