"""The outcome of a run over all APIs: the report, what was left out, what would exercise more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.cassette import Recording
from conformance.core.errors import RemoteError
from conformance.dialects import get
from conformance.evidence.hops import CACHED
from conformance.evidence.writing import PLAYED_BROKEN
from conformance.judging.hop_rules import NO_PLACE
from conformance.judging.result import Report, StreamResult
from conformance.report.permitted import permission_lines
from conformance.report.wording import calls_sentence, count
from conformance.rules.verdicts import Verdict
from conformance.runs.api_run import ApiRun
from conformance.runs.arrival import arrival_note
from conformance.runs.concurrent_streams import with_cross_talk
from conformance.runs.plan import LeftOut
from conformance.runs.refusals import NotOfferedError, PathMissingError
from conformance.runs.run_folder import SUFFIX
from conformance.runs.sending import RequestSender
from conformance.runs.soak import SoakOutcome
from conformance.scenarios import Scenario, load_scenarios
from conformance.targets.model_calls import RETRY, TURN

_FIRED: Final = frozenset({Verdict.PASS, Verdict.FAIL})
_SHOWN: Final = 6
_SHOWN_EACH: Final = 2  # of several lists
_SHOWN_STEPS: Final = 3
_LISTED: Final = 12  # names of scenarios that were left out


class RunOutcome(Struct, frozen=True):
    """What a run found in how many scenarios.

    `unanswered` are requests, by step, that got no response head, and APIs that are not there.
    `interrupted`: a soak was ended before its time.
    """

    report: Report
    unanswered: tuple[str, ...] = ()
    scenarios: int = 0
    interrupted: bool = False

    def __repr__(self) -> str:
        # asyncio writes out what a run gives when it ends: all streams took a twentieth of the run.
        return f"RunOutcome({len(self.report.streams)} streams of {self.scenarios} scenarios)"


def run_outcome(
    runs: Sequence[ApiRun],
    absent: Sequence[RemoteError],
    gone: Sequence[RemoteError],
    unjudged: Sequence[str] = (),
    soak: SoakOutcome | None = None,
) -> RunOutcome:
    """One report over APIs; `absent` ones are missing or refuse access, `gone` ones went silent.

    `unjudged` has a line for each API without a profile of the name that the user gave.
    """
    target = runs[0].target
    streams = tuple(each for run in runs for each in _api_streams(run, soak))
    left_out = [each for run in runs for each in run.left_out]
    notes = [*target.rulebook.notes, *_absence_notes(absent), *unjudged]
    notes += _left_out_notes(left_out)
    notes += [note for run in runs for note in _api_notes(run)]
    notes += permission_lines(_judged_recordings(runs), target.rulebook)
    report = Report(streams, notes=tuple(notes), soak=soak.figures if soak else None)
    notes += _exercised_notes(report, left_out)
    if calls := calls_sentence(streams):
        notes.append(calls)
    notes += _stray_notes(target.sender)
    notes.append(_cost_note(target.sender))
    unanswered = [line for run in runs for line in ([run.died] if run.died else run.silent)]
    # An API that the user named must be there; the notes list those that were merely tried.
    unanswered += map(str, [*(absent if target.options.dialects else ()), *gone])
    return RunOutcome(
        replace(report, notes=tuple(notes)),
        tuple(map(target.folder.clean_line, unanswered)),
        scenarios=sum(name != "sanity" for run in runs for name in run.kept),
        interrupted=soak is not None and soak.figures.interrupted,
    )


def _left_out_notes(left_out: Sequence[LeftOut]) -> Iterator[str]:
    """Yield a line for each reason why scenarios were left out; rounds of a soak share one."""
    names: dict[tuple[str, str], dict[str, None]] = {}
    for each in left_out:
        names.setdefault((each.dialect, each.why), {})[each.name] = None
    for (dialect, why), those in names.items():
        more = f" and {len(those) - _LISTED} more" if len(those) > _LISTED else ""
        listed = ", ".join(list(those)[:_LISTED]) + more
        yield f"{dialect} {listed} {'was' if len(those) == 1 else 'were'} not run: {why}"


def _absence_notes(absent: Sequence[RemoteError]) -> Iterator[str]:
    """Why APIs were not run; what to do about it only where one is there."""
    missing: dict[int | None, list[str]] = {}
    for error in absent:
        if isinstance(error, PathMissingError):
            missing.setdefault(error.status, []).append(error.api)
        else:
            yield error.message if isinstance(error, NotOfferedError) else str(error)
    for status, apis in missing.items():
        yield f"the target has no {', '.join(apis)}: HTTP {status}"


def _judged_recordings(runs: Sequence[ApiRun]) -> Iterator[tuple[Recording, list[StreamResult]]]:
    for run in runs:
        for kept in run.kept.values():
            yield kept.evidence, list(kept.results)


def _api_streams(run: ApiRun, soak: SoakOutcome | None) -> list[StreamResult]:
    options = run.target.options
    results = [run.target.rulebook.narrowed(each) for each in with_cross_talk(run)]
    results += soak.results(run.dialect) if soak else []
    return results if options.save is not None else [_without_lines(each) for each in results]


def _without_lines(result: StreamResult) -> StreamResult:
    """The result without lines of a file that is gone."""
    name = Path(result.file).name.removesuffix(SUFFIX)
    file = f"{result.dialect}/{name}"
    findings = tuple(
        replace(
            each, line=None, upstream=each.upstream and replace(each.upstream, file=file, line=None)
        )
        for each in result.findings
    )
    return replace(result, file=file, findings=findings)


def _api_notes(run: ApiRun) -> Iterator[str]:
    yield from map(run.target.folder.clean_line, _fault_notes(run))
    yield from _calls_note(run.kinds_of_calls)
    if cached := [s for s in run.results() if CACHED in s.reasons.values()]:
        where = _shown([f"{each.scenario}/{each.role}" for each in cached])
        yield f"{run.dialect} {where} {CACHED}: of that nothing is judged"
    yield from _broken_upstream_notes(run)
    if not get(run.dialect).carries_opaque:
        yield f"{run.dialect} {NO_PLACE}: a history made of what it shows has none of them"
    if run.signs and run.target.options.profile is None:
        signs = "; ".join(run.signs)
        yield f"{run.dialect}: profile {run.profile} identified by: {signs}"
    answers = (
        each
        for kept in run.kept.values()
        for each in kept.evidence.exchanges
        if each.hop != "upstream" and each.number not in kept.wordless
    )
    if arrived := arrival_note(get(run.dialect), run.settings.reading, answers):
        yield arrived
    if not run.deterministic and run.target.sender.upstream is None:
        where = " while other requests run" if run.varies_in_company else ""
        why = f"its answers to one request differ{where}"
        spared = "texts are not compared between requests"
        yield f"{run.dialect}: the target is not deterministic: {why}, so {spared}"


def _broken_upstream_notes(run: ApiRun) -> Iterator[str]:
    """Notes on played answers that are faulty themselves, so that refusing them is right."""
    whys: dict[str, list[str]] = {}
    for each in run.results():
        given = dict.fromkeys(change.why for change in each.changes)
        for why in (each for each in given if each.startswith(PLAYED_BROKEN)):
            whys.setdefault(why, []).append(f"{each.scenario}/{each.role}")
    for why, steps in whys.items():
        yield f"{run.dialect} {_shown(steps)} was refused, as it may be: {why}"


def _fault_notes(run: ApiRun) -> Iterator[str]:
    """Yield a line for each way in which answers broke off or did not come."""
    steps: dict[str, list[str]] = {}
    for fault in run.faults:
        steps.setdefault(fault.what, []).append(fault.step)
    for what, of in steps.items():
        yield f"{run.dialect} {_shown(list(dict.fromkeys(of)))} {what}"


def _calls_note(kinds_of_calls: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Which calls an application made of its model, where any was more than the turn."""
    steps: dict[tuple[str, ...], list[str]] = {}
    for step, kinds in kinds_of_calls.items():
        steps.setdefault(tuple(kinds), []).append(step)
    if any(set(kinds) != {TURN} for kinds in steps):
        listed = (f"{', '.join(_spans(kinds))} in {_shown(of)}" for kinds, of in steps.items())
        yield f"calls of the model: {'; '.join(listed)}"


def _spans(kinds: Sequence[str]) -> Iterator[str]:
    """The calls in their order, with one word for several retries of one call."""
    for is_retry, found in groupby(kinds, key=lambda kind: kind.startswith(RETRY)):
        of = list(found)
        if is_retry and len(of) > 2:
            of = [f"{of[0]} to {of[-1].removeprefix(RETRY).strip()}"]
        yield from of


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN_STEPS} more" if names[_SHOWN_STEPS:] else ""
    return ", ".join(names[:_SHOWN_STEPS]) + more


def _stray_notes(sender: RequestSender) -> Iterator[str]:
    """Upstream requests of a gateway or an application that belong to no model API."""
    strays = sender.upstream.strays.sentence(unknown=True) if sender.upstream else ""
    if strays:
        yield f"the played model also got requests that no API has: {strays}"


def _cost_note(sender: RequestSender) -> str:
    spent = sender.tokens
    tokens = f"{spent.input} tokens in, {spent.output} out" if spent.output else "no tokens counted"
    return f"{count(sender.pace.sent, 'request')}; {tokens}"


def _exercised_notes(report: Report, left_out: Sequence[LeftOut]) -> Iterator[str]:
    """How much of the rules a run really exercised, and what would exercise the rest."""
    verdicts = report.verdicts
    about = {rule: v for rule, v in verdicts.items() if v is not Verdict.NOT_APPLICABLE}
    fired = [rule for rule, verdict in about.items() if verdict in _FIRED]
    yield f"exercised {len(fired)} of {len(about)} rules that apply"
    idle = sorted(about.keys() - set(fired))
    if not idle:
        return
    scenarios = load_scenarios()
    missing = {each.name.partition("/")[0]: each.why for each in left_out}
    by_reason: dict[str, list[str]] = {}
    for rule in idle:
        by_reason.setdefault(_idle_reason(rule, report, scenarios, missing), []).append(rule)
    shown = _SHOWN if len(by_reason) == 1 else _SHOWN_EACH
    listed = (
        f"{len(rules)} ({reason}): {_first_of(rules, shown)}" for reason, rules in by_reason.items()
    )
    yield f"not exercised, {'; '.join(listed)}"


def _first_of(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more (-v)" if names[most:] else ""
    return ", ".join(names[:most]) + more


def _idle_reason(
    rule: str, report: Report, scenarios: Sequence[Scenario], missing: Mapping[str, str]
) -> str:
    """Return what would exercise a rule, or why nothing did."""
    fitting = [s.name for s in scenarios if any(fnmatchcase(rule, glob) for glob in s.exercises)]
    for name in fitting:
        if name in missing:
            return f"scenario {name} was left out: {missing[name]}"
    run = {stream.scenario for stream in report.streams}
    if any(name.startswith("app-") for name in run):  # only applications get these scenarios
        fitting = [name for name in fitting if name.startswith("app-")]
    if unrun := [name for name in fitting if name not in run]:
        by_url = " with --url" if any(name.startswith("gateway-") for name in run) else ""
        return f"run scenario {' or '.join(unrun)}{by_url}"
    verdict = report.verdicts[rule]
    reasons = [s.reasons.get(rule, "") for s in report.streams if s.verdicts.get(rule) is verdict]
    stated = next((why for why in reasons if why and not why.startswith("never fired")), "")
    return stated or "the target sent nothing that they judge"
