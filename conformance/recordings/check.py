"""Checks recordings on disk: finds them, judges every exchange, and says where findings stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from conformance.cassette import Recording, find_recordings, open_recording
from conformance.cassette.importers import NothingJudgedError
from conformance.core.errors import CassetteError, ConformanceError, Place, SpecError
from conformance.core.events import Exchange
from conformance.core.excerpts import now_about
from conformance.core.unexpected import refuse_unexpected
from conformance.evidence.application import APP, provider_answers, read_answer
from conformance.evidence.expectations import (
    concurrent_requests,
    expected_of,
    is_played,
    played_profile,
    stated_run,
)
from conformance.evidence.hop_sides import ReadAnswer
from conformance.evidence.hops import upstream_reading
from conformance.evidence.links.exchanges import LinkedExchanges, may_link
from conformance.evidence.links.places import ExchangePlaces
from conformance.evidence.links.turns import with_turns
from conformance.evidence.replaced_texts import ReplacedTexts
from conformance.evidence.returned_answers import withdraw_returned
from conformance.evidence.step_counts import StepCounts
from conformance.evidence.writing import (
    JudgedExchange,
    is_own_request,
    looks_at_answers,
    withdraw_touched,
    withdraw_undeclared,
    write_comparisons,
    write_exchange,
    write_links,
)
from conformance.judging.client_calls import calls_as_sent
from conformance.judging.client_view import check_client
from conformance.judging.consequences import withdraw_compared, withdraw_lost_seals
from conformance.judging.fast.running import check_wire
from conformance.judging.result import AnswerError, Report, StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.scenario import ScenarioJudge
from conformance.judging.transcript import Transcript, read_transcript, says_anything
from conformance.judging.view import JudgedView, JudgeSetting
from conformance.recordings.both_hops import open_upstream, pair_recordings
from conformance.recordings.choices import CheckChoices, UnknownDialectError
from conformance.recordings.claims import (
    STRICT,
    makes_claims,
    with_silenced,
    without_claims,
    without_excuses,
)
from conformance.recordings.files_report import files_report
from conformance.recordings.finding_lines import with_lines
from conformance.recordings.linked_files import FileOutcome, link_files
from conformance.recordings.parallel import run_parallel
from conformance.recordings.progress import CheckProgress
from conformance.recordings.redacted_result import without_sent_secrets
from conformance.recordings.reread import ReadBytes
from conformance.recordings.settings import RecordingSettings
from conformance.recordings.trust import is_trusted, trusted_paths
from conformance.recordings.unchanged import UnchangedExchanges
from conformance.rules.applies import Evidence

_SAVED_RUN: Final = (
    "a saved run states that this tool played some answers and wrote some requests;"
    " they are judged, too, unless --trust names its folder"
)
_OF_NO_API: Final = (NothingJudgedError, UnknownDialectError)


def check_paths(
    paths: Sequence[Path | str],
    *,
    dialect: str | None = None,
    profile: str | None = None,
    suites: Sequence[str] = (),
    rules: Sequence[str] = (),
    folders: Sequence[Path] = (),
    as_of: str | None = None,
    jobs: int | None = 1,
    trust: Sequence[Path | str] = (),
    upstream: Sequence[Path | str] = (),
    progress: CheckProgress | None = None,
) -> Report:
    """Judges files, and every recording below folders, with up to `jobs` processes (None: all).

    A file that cannot be judged is in the report's `errors`; the others are judged all the
    same. With `as_of`, a version, newer rules are left out, and a note counts them. What lies below
    a path in `trust` may excuse itself. `upstream` are recordings of the provider behind the one
    application that is judged, in the order in which it asked. Raises UsageError for a path that
    is not there and SpecError for a broken rule file.
    """
    rulebook = Rulebook.load(suites, rules, as_of)
    watched = progress or CheckProgress()  # silent
    files = find_recordings(paths, watched.found_file)
    providers = open_upstream(upstream)
    choices = CheckChoices(
        dialect,
        profile,
        tuple(folders),
        trusted=trusted_paths(trust),
        among_others=len(files.recordings) > 1 and not providers,
    )

    judged = partial(_file_outcome, files.searched, providers, rulebook, choices)
    outcomes = run_parallel(judged, iter(files.recordings), jobs)
    found = list(watched.counted(outcomes, len(files.recordings)))
    notes = link_files(files.recordings, found, rulebook, choices) if choices.among_others else ()
    return files_report(files, found, (*rulebook.notes, *notes))


def _file_outcome(
    searched: frozenset[Path],
    providers: Sequence[Recording],
    rulebook: Rulebook,
    choices: CheckChoices,
    path: Path,
) -> FileOutcome:
    """Results, the line of an error, or None for a file that was found and is none of ours."""
    try:
        return _check_file(path, providers, rulebook, choices)
    except SpecError:
        raise
    except ConformanceError as err:
        if path in searched and isinstance(err, _OF_NO_API):
            return None
        return str(err) if err.place else f"{path}: {err}"


def _check_file(
    path: Path, providers: Sequence[Recording], rulebook: Rulebook, choices: CheckChoices
) -> list[StreamResult]:
    with refuse_unexpected(path):
        recording = pair_recordings(open_recording(path, dialect=choices.dialect), providers)
        return check_recording(recording, rulebook, choices)


def recording_files(paths: Sequence[Path | str]) -> tuple[Path, ...]:
    """The recordings that these paths, patterns and names stand for; as `find_recordings`."""
    return find_recordings(paths).recordings


def check_recording(
    recording: Recording, rulebook: Rulebook, choices: CheckChoices
) -> list[StreamResult]:
    """Results of every exchange of one recording; comparisons are with the last exchange.

    Of an untrusted one the ledgers say what silenced rules besides their own evidence.
    """
    if is_trusted(recording.path, choices.trusted):
        return check_trusted(recording, rulebook, choices)
    results = check_untrusted(recording, rulebook, choices)
    exchanges = {each.number: each for each in recording.exchanges}
    if any(_blames_ours(recording, exchanges[each.exchange], each) for each in results):
        results[0] = replace(results[0], notes=(*results[0].notes, _SAVED_RUN))
    return results


def _blames_ours(recording: Recording, exchange: Exchange, result: StreamResult) -> bool:
    """Whether a finding is of what this tool itself played or sent, as the recording states."""
    if is_played(recording.header, exchange):
        return bool(result.findings)
    is_request = any(not each.event for each in result.findings)
    return is_request and is_own_request(recording, exchange)


def check_untrusted(
    recording: Recording, rulebook: Rulebook, choices: CheckChoices
) -> list[StreamResult]:
    """As `check_recording`, of an untrusted recording."""
    return check_settled(RecordingSettings(without_excuses(recording), rulebook, choices))


def check_settled(settings: RecordingSettings) -> list[StreamResult]:
    """As `check_recording`, of an untrusted recording without its excuses."""
    recording, choices = settings.recording, settings.choices
    results = [with_lines(recording, each) for each in _judged_results(settings, trusted=False)]
    if not (makes_claims(recording) or any(_is_by_own_profile(each, choices) for each in results)):
        return results
    spoken = {each.exchange: each.dialect for each in results}
    evidence = settings.once_more(
        without_claims(recording, spoken),
        replace(choices, dialect=None, among_others=False),
        is_read=not makes_claims(recording),
    )
    if evidence.leaves_as_open():
        return results
    return with_silenced(recording, results, _judged_results(evidence, trusted=False))


def _is_by_own_profile(result: StreamResult, choices: CheckChoices) -> bool:
    """Whether the user did not name the profile; a client's may lie over an assumed one."""
    return result.profile != STRICT and (choices.profile is None or "/" in result.profile)


def check_trusted(
    recording: Recording,
    rulebook: Rulebook,
    choices: CheckChoices,
    unchanged: UnchangedExchanges | None = None,
) -> list[StreamResult]:
    """As `check_recording`, by all that the recording says of itself.

    Exchanges that are `unchanged` from one recording to the next are judged once for all of them.
    """
    settings = RecordingSettings(recording, rulebook, choices, unchanged=unchanged)
    return [with_lines(recording, each) for each in _judged_results(settings, trusted=True)]


def _judged_results(settings: RecordingSettings, *, trusted: bool) -> list[StreamResult]:
    """Without the lines of findings."""
    recording, rulebook, choices = settings.recording, settings.rulebook, settings.choices
    if not recording.exchanges:
        raise CassetteError("the recording holds no exchange", place=Place(str(recording.path)))
    linked = _linked_exchanges(recording, choices)
    judged = list(_judge_exchanges(settings, linked, trusted=trusted))
    write_links(linked, judged, recording, trusted=trusted)
    compared = write_comparisons(judged, rulebook, recording, trusted=trusted)
    ledgers = [each.ledger for each in judged]
    withdraw_compared(ledgers, compared)
    withdraw_lost_seals(ledgers)
    withdraw_returned(ledgers, recording)
    texts = None if trusted else partial(_replaced_texts, settings)
    withdraw_touched(judged, recording, rulebook.rules, texts)
    target = target_of(recording)
    exchanges = {each.number: each for each in recording.exchanges}
    results: list[StreamResult] = []
    for each in judged:
        exchange = exchanges[each.ledger.exchange]
        given = rulebook.narrowed(each.ledger.result(target, exchange.hop))
        other_requests = concurrent_requests(recording.header, exchange)
        result = settings.with_guess(given)
        result = result if other_requests is None else replace(result, beside=other_requests)
        if linked is not None:
            keys = linked.keys.get(exchange.number) if choices.among_others else None
            result = replace(result, links=linked.links.get(exchange.number, ()), keys=keys)
        results.append(without_sent_secrets(result, exchange.request))
    results = with_turns(results)
    if recording.notes:
        results[0] = replace(results[0], notes=(*recording.notes, *results[0].notes))
    return results


def _linked_exchanges(recording: Recording, choices: CheckChoices) -> LinkedExchanges | None:
    """Who links the exchanges of a recording; None where nothing can carry anything on."""
    places = ExchangePlaces(str(recording.path))
    if may_link(recording.judged):
        return LinkedExchanges(places, collects=choices.among_others)
    return LinkedExchanges(places, only_collects=True) if choices.among_others else None


def _replaced_texts(settings: RecordingSettings, exchange: Exchange) -> ReplacedTexts:
    return ReplacedTexts(settings.of_exchange(exchange), exchange)


def target_of(recording: Recording) -> str:
    """Name and version of what was recorded, as the header says; empty if it does not."""
    target = recording.header.target
    return "-".join(str(target[key]) for key in ("name", "version") if target.get(key))


def _judge_exchanges(
    settings: RecordingSettings, linked: LinkedExchanges | None, *, trusted: bool
) -> Iterator[JudgedView]:
    scenario: ScenarioJudge | None = None
    recording = settings.recording
    last, counts = recording.judged[-1], StepCounts()
    read_hop = partial(_read_hop, settings)
    for exchange in recording.judged:
        setting = settings.of_exchange(exchange)
        if scenario is not None:
            scenario.next()
        elif exchange is recording.exchanges[0] and setting.bound.scenario.rules:
            scenario = _begin_scenario(setting, exchange)
        now_about(exchange.request)
        transcript = Transcript(exchange)
        judged = settings.reread(exchange) if linked is None else None
        if judged is None:
            looks = looks_at_answers(recording, exchange)
            judged = (settings.unchanged.check if settings.unchanged else check_wire)(
                *(setting, exchange, exchange.chunks, exchange.end),
                scenario=scenario,
                is_last=exchange is last,
                transcript=transcript if looks else None,
                listener=linked.listener(setting, exchange) if linked is not None else None,
            )
        settings.read[exchange.number] = ReadBytes(setting, judged)
        of_exchange = JudgedExchange(
            setting, exchange, recording, transcript, counts, read_hop, trusted
        )
        if judged.judged.error is not None:
            error = _reported_error(judged.judged.error, of_exchange)
            judged = replace(judged, judged=replace(judged.judged, error=error))
        write_exchange(judged.ledger, of_exchange)
        yield judged
        if exchange.seen is not None:
            reported = _check_reported(setting, exchange, judged.judged.answers)
            withdraw_undeclared(reported.ledger, of_exchange, settings.rulebook.rules)
            yield reported


def _begin_scenario(setting: JudgeSetting, exchange: Exchange) -> ScenarioJudge:
    request = setting.dialect.stated(exchange.request)
    evidence = Evidence(request, exchange.response, user_choices=exchange.user_choices)
    return ScenarioJudge(setting.bound, evidence)


def _check_reported(setting: JudgeSetting, exchange: Exchange, answers: int) -> JudgedView:
    # Whether the client reported a break is not recorded: it may have.
    breaks_off = exchange.end != "eof"
    reported: Sequence[Mapping[str, Any]] = exchange.seen or ()
    if any(event.get("type") == "tool.end" for event in reported):
        reading = setting.bound.reading
        sent = read_transcript(exchange, setting.dialect, reading, keep="semantic")
        reported = calls_as_sent(reported, sent.client_events)
    return check_client(setting, exchange, reported, breaks_off=breaks_off, answers=answers)


def _read_hop(settings: RecordingSettings, exchange: Exchange) -> ReadAnswer:
    """An exchange as the recording has it, for the comparison with another hop."""
    recording, setting = settings.recording, settings.of_exchange(exchange)
    file, number = recording.source_of(exchange.number)
    reading = setting.bound.reading
    if is_played(recording.header, exchange):
        played = played_profile(recording.header)
        reading = upstream_reading(setting.dialect, played, exchange.request)
    return read_answer(exchange, setting.dialect, reading, (str(file), number))


def _reported_error(error: AnswerError, judged: JudgedExchange) -> AnswerError | None:
    """The error, and whether nothing else came; None where a step expects it, or we sent it."""
    setting, exchange, recording = judged.setting, judged.exchange, judged.recording
    if is_played(recording.header, exchange):
        return None
    expected = expected_of(stated_run(recording.header) or {}, exchange)
    how = setting.dialect, setting.bound.reading
    if expected.ends and read_transcript(exchange, *how).ending in expected.ends:
        return None
    providers = provider_answers(recording, exchange) if exchange.hop == APP else ()
    if providers and not judged.read_hop(providers[-1]).is_whole:
        return None
    return replace(error, is_all=not says_anything(exchange, *how))
