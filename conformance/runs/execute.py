"""Runs the scenarios of a plan on one API: some at a time, until the target falls silent.

Where there are findings it asks again: how often they come, and whether texts are steady.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from conformance.core.errors import ConformanceError
from conformance.evidence.expectations import compares_answers
from conformance.judging.result import StreamResult
from conformance.rules.verdicts import Verdict
from conformance.runs.api_run import ApiRun
from conformance.runs.concurrent_streams import take_answers
from conformance.runs.plan import RequestPlan, ScenarioRun
from conformance.runs.probe import is_alive
from conformance.runs.scenario_run import ScenarioOutcome, run_scenario

Planner = Callable[[Sequence[str], frozenset[str]], RequestPlan]
"""What to send, by the profile's promises and by what the target turned out to lack."""


async def run_probing_scenarios(
    run: ApiRun, planner: Planner, promises: Sequence[str]
) -> RequestPlan:
    """Runs the scenarios that find out what the target looks at; the plan without the rest."""
    whole = planner(promises, frozenset())
    probing = [each for each in whole.runs if each.scenario.probes and each.round == 1]
    ignored: set[str] = set()
    for scenario_run in probing:
        outcome = await _run_one(run, scenario_run, asyncio.Semaphore(1))
        if outcome and _is_all_complete(run, outcome):
            ignored.add(scenario_run.scenario.probes)
    planned = planner(promises, frozenset(ignored)) if ignored else whole
    names = {each.name for each in probing}
    run.left_out += [each for each in planned.left_out if each.name not in names]
    return replace(planned, runs=tuple(each for each in planned.runs if each not in probing))


async def run_planned_scenarios(run: ApiRun, plan: RequestPlan) -> None:
    options = run.target.options
    for rounds in (range(1, 2), range(2, options.repeat + 1)):
        gate = asyncio.Semaphore(options.jobs_of_round(rounds.start))
        try:
            async with asyncio.TaskGroup() as tasks:
                for scenario_run in plan.runs:
                    if scenario_run.round in rounds:
                        tasks.create_task(_run_one(run, scenario_run, gate))
        except* ConformanceError as group:
            raise group.exceptions[0] from None


async def _run_one(
    run: ApiRun, scenario_run: ScenarioRun, gate: asyncio.Semaphore
) -> ScenarioOutcome | None:
    """Return the outcome; None where the target had stopped answering before."""
    async with gate:
        if run.died:
            run.leave_out(scenario_run.name, "the server had stopped answering")
            return None
        sender = run.target.sender
        run.target.display.show_progress(
            f"{run.dialect} {scenario_run.name} ({sender.pace.sent} requests)"
        )
        # Only marker words distinguish random answers.
        marked = scenario_run.round > 1 and not run.deterministic
        settings = replace(run.settings, marked=marked)
        outcome = await run_scenario(scenario_run, sender, settings, run.target.watch.expect_word)
        _watch_answers(run, outcome)
        run.left_out += outcome.left_out
        run.silent += [f"{scenario_run.name}/{role}: {why}" for role, why in outcome.silent.items()]
        if outcome.exchanges:
            run.keep_outcome(outcome)
        if outcome.silent and not await is_alive(run):
            role, why = next(iter(outcome.silent.items()))
            run.died = f"the server stopped answering at {scenario_run.name}/{role}: {why}"
        elif scenario_run.round == 1 and outcome.exchanges:
            await _confirm_findings(run, outcome)
        return outcome


def _watch_answers(run: ApiRun, outcome: ScenarioOutcome) -> None:
    """Looks for cross-talk if any requests of the run are sent in parallel."""
    options = run.target.options
    if run.target.sender.upstream is not None or (options.jobs == 1 and not outcome.company):
        return
    is_alone = options.jobs_of_round(outcome.run.round) == 1
    watch = run.target.watch
    for each in take_answers(run, outcome, is_alone=is_alone):
        if not is_alone and watch.is_telling(each):
            run.telling.add(each.request)


def _is_all_complete(run: ApiRun, outcome: ScenarioOutcome) -> bool:
    reading = run.settings.reading
    endings = {outcome.transcript_of(each, reading).ending for each in outcome.answers}
    return endings == {"complete"}


async def _confirm_findings(run: ApiRun, outcome: ScenarioOutcome) -> None:
    """Runs a scenario again as often as the user wants, once at least where texts decide."""
    run.show_findings(outcome.run.name)
    results = run.judge_kept_run(outcome.run.name)
    ids = _finding_ids(results)
    texts_decide = run.deterministic and _fails_by_text(run, results)
    confirm = run.target.options.confirm
    ids_of_runs = [ids]
    for _ in range(max(confirm - 1 if ids else 0, int(texts_decide))):
        other = await run_scenario(outcome.run, run.target.sender, run.settings)
        if other.spent or other.silent:
            break
        ids_of_runs.append(judge_unkept(run, other))
        if texts_decide:
            _compare_texts(run, outcome, other)
    if confirm > 1:
        for each in ids:
            times = sum(each in found for found in ids_of_runs)
            run.finding_notes[each] = f"finding {each}: {times} of {len(ids_of_runs)} runs"


def _finding_ids(results: Sequence[StreamResult]) -> set[str]:
    return {finding.id for result in results for finding in result.findings}


def judge_unkept(run: ApiRun, outcome: ScenarioOutcome) -> set[str]:
    """Ids of the findings of a scenario that is not part of the run, and is not kept."""
    evidence = run.write_outcome(outcome, run.target.folder.unkept())
    return _finding_ids(run.judge_recording(evidence))


def _fails_by_text(run: ApiRun, results: Sequence[StreamResult]) -> bool:
    failed = {rule for each in results for rule, v in each.verdicts.items() if v is Verdict.FAIL}
    return any(compares_answers(r) for r in run.target.rulebook.rules if r.id in failed)


def _compare_texts(run: ApiRun, one: ScenarioOutcome, other: ScenarioOutcome) -> None:
    """Notes whether a target answers one request in two ways, and if so, whether also alone.

    Parts of the answers to parallel requests look like chance, too.
    """
    reading = run.settings.reading
    pairs = ((each, other.exchange_of(each.role)) for each in one.answers)
    differing = {
        a.role
        for a, b in pairs
        if b is not None
        and one.transcript_of(a, reading).spoken() != other.transcript_of(b, reading).spoken()
    }
    if differing:
        is_steady_alone = run.deterministic or run.varies_in_company
        run.varies_in_company = is_steady_alone and differing <= {role for role, _ in one.company}
        run.deterministic = False
