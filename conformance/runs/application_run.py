"""A run against an application: the toolkit asks as its user, and plays the model behind it.

The first scenario finds out in which API the application asks its model. Scenarios that have no
recorded answer in that API are left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from conformance.core.errors import RemoteError
from conformance.evidence.application import APP
from conformance.judging.rulebook import Rulebook
from conformance.runs.api_run import ApiRun, ApiTarget, ShowProgress
from conformance.runs.cross_talk import CrossTalkWatch
from conformance.runs.options import RunOptions
from conformance.runs.outcome import RunOutcome, run_outcome
from conformance.runs.pace import RequestPace
from conformance.runs.plan import ScenarioRun, plan_requests
from conformance.runs.run_folder import RunFolder
from conformance.runs.scenario_run import ScenarioOutcome, run_scenario
from conformance.runs.sending import RequestSender
from conformance.runs.session import profiles_of
from conformance.runs.step_requests import RequestSettings
from conformance.scenarios import Scenario, load_scenarios
from conformance.targets.gateway import UpstreamStandIn
from conformance.targets.server import LiveServer

FIRST: Final = "app-answer"
"""The shipped scenario whose step asks for no more than an answer."""


async def run_application(
    server: LiveServer,
    protocol: str,
    scenarios: Sequence[Scenario],
    options: RunOptions,
    folder: Path,
    *,
    upstream: UpstreamStandIn,
    show_progress: ShowProgress = lambda _: None,
) -> RunOutcome:
    """Runs scenarios on an application that is asked in `protocol`; its URL is that of `server`.

    Raises RemoteError where nobody answers, or nothing is asked upstream; UsageError as
    `run_server`.
    """
    options = dataclasses.replace(options, dialects=(protocol,), jobs=1, repeat=1)
    rulebook = Rulebook.load(options.suites, options.rules, options.as_of)
    pace = RequestPace(most=options.max_requests, rpm=options.rpm, patience=options.patience)
    run_folder = RunFolder(folder, options, kind=APP)
    run_folder.claim_alone()
    profiles_of(options)
    sender = RequestSender(server, pace, options.secrets, upstream=upstream)
    watch = CrossTalkWatch()
    target = ApiTarget(protocol, sender, run_folder, options, rulebook, show_progress, watch)
    run = _new_run(target)
    plan = plan_requests(scenarios, protocol, options, gateway=True)
    run.left_out += plan.left_out
    asked_in = await _find_upstream(run)
    for scenario_run in plan.runs:
        if why := _why_not(scenario_run, asked_in):
            run.leave_out(scenario_run.name, why)
            continue
        show_progress(f"{protocol} {scenario_run.name} ({pace.sent} requests)")
        await _take_scenario(run, scenario_run)
        if run.died:
            break
    run.judge_kept()
    return run_outcome([run], [], [])


def _new_run(target: ApiTarget) -> ApiRun:
    (first,) = load_scenarios([FIRST])
    sanity = ScenarioRun(first, target.dialect, first.steps_for(target.dialect))
    settings = RequestSettings(target.options.model, target.options.max_tokens)
    profile = target.options.profile
    # What the script says is counted: no two answers are alike.
    return ApiRun(target, settings, ScenarioOutcome(sanity), profile, deterministic=False)


async def _find_upstream(run: ApiRun) -> str:
    """The dialect in which the application asks its model. Raises RemoteError."""
    outcome = await run_scenario(run.sanity.run, run.target.sender, run.settings)
    if outcome.silent:
        raise RemoteError(next(iter(outcome.silent.values())), hint="see --app")
    calls = [each for each in outcome.exchanges if each.hop == "upstream"]
    if not calls:
        port = run.target.sender.upstream.port if run.target.sender.upstream else 0
        status = outcome.answers[0].response.status if outcome.answers[0].response else None
        message = f"the application answered HTTP {status}, and asked nothing at port {port}"
        raise RemoteError(message, hint="point the base URL of its provider there")
    return calls[0].dialect or ""


def _why_not(scenario_run: ScenarioRun, asked_in: str) -> str:
    """Why a scenario cannot be run with an application that asks in this API."""
    if any(step.behind and asked_in not in step.behind for step in scenario_run.steps):
        return f"it has no recorded answer in {asked_in}, in which the application asks"
    return ""


async def _take_scenario(run: ApiRun, scenario_run: ScenarioRun) -> None:
    outcome = await run_scenario(scenario_run, run.target.sender, run.settings)
    run.left_out += outcome.left_out
    run.silent += [f"{scenario_run.name}/{role}: {why}" for role, why in outcome.silent.items()]
    if outcome.exchanges:
        run.keep_outcome(outcome)
    if outcome.silent:
        run.died = f"the application stopped answering at {scenario_run.name}"
