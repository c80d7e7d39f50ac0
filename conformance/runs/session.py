"""A whole run against one target: every API that it has, and one report over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from conformance.cassette import Recording, open_recording
from conformance.core.errors import RemoteError, UsageError
from conformance.dialects import get
from conformance.judging.result import Report, StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.profiles.profile import Profile
from conformance.recordings.check import Choices, choose_profile
from conformance.report.permitted import permitted
from conformance.runs.calls import Calls
from conformance.runs.exercised import exercised
from conformance.runs.keeping import Keeper
from conformance.runs.options import Options
from conformance.runs.pace import Pace
from conformance.runs.plan import LeftOut, Plan, plan
from conformance.runs.soak import with_foreign
from conformance.runs.tour import NotLetInError, NotOfferedError, Planner, Progress, Tour
from conformance.runs.visit import Way
from conformance.scenarios import Scenario, load_scenarios
from conformance.scenarios.model import PATHS
from conformance.targets.gateway import Upstream
from conformance.targets.server import Server

SANITY: Final = "think"  # the shipped scenario whose first step asks whether anybody is there


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run found in how many scenarios.

    `unanswered` are requests, by step, that got no response head, and APIs that are not there.
    """

    report: Report
    unanswered: tuple[str, ...] = ()
    scenarios: int = 0


@dataclass(slots=True)
class Visits:
    """The APIs that were visited; `absent` are those that are not there or let nobody in.

    `gone` says that nobody answered any more.
    """

    tours: list[Tour] = field(default_factory=list)
    absent: list[RemoteError] = field(default_factory=list)
    gone: list[RemoteError] = field(default_factory=list)

    async def take(self, tour: Tour, plan: Planner) -> bool:
        """Visits one API; whether the next one may be tried."""
        try:
            await tour.go(plan)
        except (NotOfferedError, NotLetInError) as err:
            self.absent.append(err)
        except RemoteError as err:
            self.gone.append(err)
            return False
        else:
            self.tours.append(tour)
        return not tour.died


async def run_server(
    server: Server,
    scenarios: Sequence[Scenario],
    options: Options,
    folder: Path,
    progress: Progress = lambda _: None,
    *,
    upstream: Upstream | None = None,
) -> Outcome:
    """Runs scenarios on every API of a server; recordings are kept below `folder`, alone.

    With `upstream` the server is a gateway, and the toolkit what stands behind it.
    Raises RemoteError where nobody answers at all, UsageError for what does not exist, and where
    the folder holds anything but an earlier run.
    """
    rulebook = Rulebook.load(options.suites, options.rules, options.as_of)
    pace = Pace(most=options.max_requests, rpm=options.rpm, patience=options.patience)
    calls = Calls(server, pace, options.secrets, upstream=upstream)
    if upstream is not None:  # what is heard upstream belongs to the one request under way
        options = replace(options, jobs=1, repeat=1)
    keeper = Keeper(folder, options, kind="gateway" if upstream else "server")
    keeper.claim()
    visits = Visits()
    for dialect in options.dialects or tuple(PATHS):
        tour = _tour(dialect, calls, keeper, rulebook, progress)
        if not await visits.take(tour, partial(_planned, scenarios, options, tour)):
            break
    if not visits.tours:
        raise (visits.gone + visits.absent)[0]
    return _outcome(visits, options)


def promises_of(options: Options, dialect: str) -> tuple[str, ...]:
    """What the profile that the user named promises for an API; nothing where none is named."""
    name = _profile(dialect, options)
    choices = Choices(profile=name, folders=options.folders)
    return choose_profile(get(dialect), choices, None)[0].promises


def _planned(
    scenarios: Sequence[Scenario],
    options: Options,
    tour: Tour,
    profile: Profile,
    ignored: frozenset[str],
) -> Plan:
    return plan(
        scenarios,
        tour.dialect,
        gateway=tour.calls.upstream is not None,
        without=options.without,
        ignored=ignored,
        promises=profile.promises,
        repeat=options.repeat,
    )


def _tour(
    dialect: str,
    calls: Calls,
    keeper: Keeper,
    rulebook: Rulebook,
    progress: Progress,
) -> Tour:
    options = keeper.options
    (sanity,) = load_scenarios([SANITY])
    first = next(step for step in sanity.steps_for(dialect))
    return Tour(
        dialect=dialect,
        calls=calls,
        keeper=keeper,
        options=options,
        rulebook=rulebook,
        sanity=replace(sanity, name="sanity", steps=(first,)),
        way=Way(options.model, options.max_tokens),
        progress=progress,
        profile=_profile(dialect, options),
        # Behind a gateway no two answers are alike: the script counts them.
        deterministic=calls.upstream is None,
    )


def _profile(dialect: str, options: Options) -> str | None:
    """The user's profile where there is one of that name for the API, else None.

    Raises UsageError for a name that no API of the run knows.
    """
    name = options.profile
    if name is None:
        return name
    if _knows(name, dialect, options):
        return name
    if not any(_knows(name, each, options) for each in options.dialects or tuple(PATHS)):
        choose_profile(get(dialect), Choices(profile=name, folders=options.folders), None)
    return None


def _knows(name: str, dialect: str, options: Options) -> bool:
    try:
        choose_profile(get(dialect), Choices(profile=name, folders=options.folders), None)
    except UsageError:
        return False
    return True


def _outcome(visits: Visits, options: Options) -> Outcome:
    tours = visits.tours
    streams = tuple(each for tour in tours for each in _streams(tour, options))
    left_out = [each for tour in tours for each in tour.left_out]
    notes = [*tours[0].rulebook.notes]
    notes += map(str, visits.absent)
    notes += [f"{_where(each)} was not run: {each.why}" for each in _told_once(left_out)]
    notes += [note for tour in tours for note in _of(tour, options)]
    notes += permitted(_checked(tours), tours[0].rulebook)
    report = Report(streams, notes=tuple(notes))
    notes += exercised(report, left_out)
    notes.append(_cost(tours[0].calls))
    number = sum(name != "sanity" for tour in tours for name in tour.paths)
    unanswered = map(tours[0].keeper.secrecy.line, _unanswered(visits, options))
    return Outcome(replace(report, notes=tuple(notes)), tuple(unanswered), number)


def _checked(tours: Sequence[Tour]) -> Iterator[tuple[Recording, list[StreamResult]]]:
    """What was recorded, and what came of it."""
    for tour in tours:
        for name, path in tour.paths.items():
            yield open_recording(path), tour.results[name]


def _unanswered(visits: Visits, options: Options) -> Iterator[str]:
    for tour in visits.tours:
        yield from [tour.died] if tour.died else tour.silent
    # What was named must be there; of what was merely tried the notes tell.
    yield from map(str, visits.absent if options.dialects else ())
    yield from map(str, visits.gone)


def _streams(tour: Tour, options: Options) -> list[StreamResult]:
    results = [each for found in tour.results.values() for each in found]
    results = with_foreign(tour) if options.repeat > 1 else results
    if options.save is not None:
        return results
    return [_unsaved(each) for each in results]


def _unsaved(result: StreamResult) -> StreamResult:
    """The result without lines of a file that is gone."""
    findings = tuple(replace(finding, line=None) for finding in result.findings)
    return replace(result, file=f"{result.dialect}/{result.scenario}", findings=findings)


def _of(tour: Tour, options: Options) -> list[str]:
    notes = []
    if tour.signs and options.profile is None:
        signs = "; ".join(tour.signs)
        notes.append(f"{tour.dialect}: profile {tour.profile} identified by: {signs}")
    if not tour.deterministic and tour.calls.upstream is None:
        why = "its answers to one request differ, so texts are not compared between requests"
        notes.append(f"{tour.dialect}: the target is not deterministic: {why}")
    return notes


def _where(left: LeftOut) -> str:
    return f"{left.dialect} {left.name}"


def _told_once(left_out: Sequence[LeftOut]) -> list[LeftOut]:
    """Without what follows: rounds of a soak that were left out for one reason."""
    return list(dict.fromkeys(left_out))


def _cost(calls: Calls) -> str:
    spent = calls.spent
    tokens = f"{spent.input} tokens in, {spent.output} out" if spent.output else "no tokens counted"
    return f"{calls.pace.calls} requests; {tokens}"
