"""How one exchange of a recording is judged: by which dialect, profile and rules."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from msgspec.structs import replace

from conformance.cassette import Recording
from conformance.core.events import Exchange
from conformance.evidence.expectations import is_played
from conformance.judging.checker import YAML_SUFFIXES
from conformance.judging.client_view import declared_events
from conformance.judging.rulebook import Rulebook
from conformance.judging.view import JudgeSetting
from conformance.profiles.lookup import has_profile
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
    shown = recognised.of_application
    if shown is not None:
        of_hop = partial(_profile_of_hop, choices.folders, exchange, recording, shown)
        choices, named = replace(choices, profile=of_hop(choices.profile)), of_hop(named)
    if exchange.hop == "upstream" and shown is not None:
        choices = replace(choices, dialect=None)  # the application's
    dialect = dialect_in_place(recognised, exchange, stated)
    if is_played(recording.header, exchange) and not (shown and (choices.profile or named)):
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


def _profile_of_hop(
    folders: tuple[Path, ...],
    exchange: Exchange,
    recording: Recording,
    shown: Exchange,
    name: str | None,
) -> str | None:
    """The profile named for this hop: one that the application has not is the provider's."""
    if name is None:
        return None
    behind = [each for each in recording.exchanges if each.hop == "upstream"]

    def has(each: Exchange) -> bool:
        dialect = each.dialect or recording.header.dialect
        return dialect is not None and has_profile(dialect, name, folders)

    is_of_application = name.endswith(YAML_SUFFIXES) or has(shown) or not any(map(has, behind))
    if exchange.hop == "upstream":
        return name if not is_of_application and has(exchange) else None
    return name if is_of_application else None
