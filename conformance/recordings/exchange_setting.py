"""How one exchange of a recording is judged: by which dialect, profile and rules."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.core.events import Exchange
from conformance.evidence.application import APP
from conformance.evidence.expectations import is_played
from conformance.judging.client_view import declared_events
from conformance.judging.rulebook import Rulebook
from conformance.judging.view import JudgeSetting
from conformance.recordings.both_hops import dialect_in_place, stated_dialect
from conformance.recordings.choices import CheckChoices, as_asked, judged_by
from conformance.recordings.recognised import RecognisedRecording
from conformance.recordings.recorded_month import recorded_month


def exchange_setting(
    recognised: RecognisedRecording,
    exchange: Exchange,
    rulebook: Rulebook,
    choices: CheckChoices,
) -> JudgeSetting:
    recording = recognised.recording
    named = recording.header.profile
    stated = stated_dialect(recording, exchange, choices.dialect)
    if exchange.hop == "upstream" and any(each.hop == APP for each in recording.exchanges):
        choices, named = replace(choices, dialect=None, profile=None), None  # the application's
    dialect = dialect_in_place(recognised, exchange, stated)
    if is_played(recording.header, exchange):
        choices = replace(choices, profile="strict")  # the gateway's ways are not those behind it
    by = judged_by(
        dialect,
        choices,
        named,
        lambda: recognised.sender_of(dialect),
        rulebook.profile,
    )
    asked, month = dialect.stated(exchange.request), recorded_month(recording.header, exchange)
    by = as_asked(by, asked, month, choices.folders, rulebook.profile)
    return JudgeSetting(
        dialect,
        by.profile,
        rulebook.bound(by.profile),
        file=str(recording.path),
        fidelity=recording.header.fidelity,
        named=by.named,
        keep=choices.keep,
        notes=by.notes,
        declared=declared_events(recording.header),
    )
