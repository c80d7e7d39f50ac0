"""Runs the scenarios of a plan on one API: some at a time, until the target falls silent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from conformance.core.errors import ConformanceError
from conformance.profiles.profile import Profile
from conformance.runs.api_run import ApiRun
from conformance.runs.confirm import confirm_findings
from conformance.runs.plan import RequestPlan, ScenarioRun
from conformance.runs.probe import is_alive
from conformance.runs.scenario_run import ScenarioOutcome, run_scenario

Planner = Callable[[Profile, frozenset[str]], RequestPlan]
"""What to send, by the profile and by what the target turned out to lack."""


async def run_probing_scenarios(run: ApiRun, planner: Planner, profile: Profile) -> RequestPlan:
    """Runs the scenarios that find out what the target looks at; the plan without the rest."""
    whole = planner(profile, frozenset())
    probing = [each for each in whole.runs if each.scenario.probes and each.round == 1]
    ignored: set[str] = set()
    for scenario_run in probing:
        outcome = await _run_one(run, scenario_run, asyncio.Semaphore(1))
        if outcome and _is_all_complete(run, outcome):
            ignored.add(scenario_run.scenario.probes)
    planned = planner(profile, frozenset(ignored)) if ignored else whole
    names = {each.name for each in probing}
    run.left_out += [each for each in planned.left_out if each.name not in names]
    return replace(planned, runs=tuple(each for each in planned.runs if each not in probing))


async def run_planned_scenarios(run: ApiRun, plan: RequestPlan) -> None:
    options = run.target.options
    repeat, jobs = options.repeat, options.jobs
    # Before a soak one round goes alone: it tells what is said when nobody disturbs.
    for rounds, width in (((1,), 1 if repeat > 1 else jobs), (range(2, repeat + 1), jobs)):
        gate = asyncio.Semaphore(width)
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
    """What came of it; None where the target had stopped answering before."""
    async with gate:
        if run.died:
            run.leave_out(scenario_run.name, "the server had stopped answering")
            return None
        sender = run.target.sender
        run.target.show_progress(f"{run.dialect} {scenario_run.name} ({sender.pace.sent} requests)")
        # Only words of their own tell random answers apart.
        marked = scenario_run.round > 1 and not run.deterministic
        outcome = await run_scenario(scenario_run, sender, replace(run.settings, marked=marked))
        run.left_out += outcome.left_out
        run.silent += [f"{scenario_run.name}/{role}: {why}" for role, why in outcome.silent.items()]
        if outcome.exchanges:
            run.keep_outcome(outcome)
        if outcome.silent and not await is_alive(run):
            role, why = next(iter(outcome.silent.items()))
            run.died = f"the server stopped answering at {scenario_run.name}/{role}: {why}"
        elif scenario_run.round == 1 and outcome.exchanges:
            await confirm_findings(run, outcome)
        return outcome


def _is_all_complete(run: ApiRun, outcome: ScenarioOutcome) -> bool:
    reading = run.settings.reading
    endings = {outcome.transcript_of(each, reading).ending for each in outcome.answers}
    return endings == {"complete"}
