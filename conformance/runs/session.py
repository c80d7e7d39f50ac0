"""A whole run against one target: every API that it has, and one report over all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import structs

from conformance.core.errors import RemoteError, UsageError
from conformance.dialects import UNNAMED_ENDPOINTS, get
from conformance.judging.rulebook import Rulebook
from conformance.profiles.profile import Profile
from conformance.recordings.choices import CheckChoices, choose_profile
from conformance.runs.api_run import UNSEEN, ApiRun, ApiTarget, RunDisplay
from conformance.runs.cross_talk import CrossTalkWatch
from conformance.runs.execute import Planner, run_planned_scenarios, run_probing_scenarios
from conformance.runs.options import RunOptions
from conformance.runs.outcome import RunOutcome, run_outcome
from conformance.runs.pace import RequestPace, RequestsSpentError
from conformance.runs.plan import ScenarioRun, plan_requests
from conformance.runs.probe import (
    identify_profile,
    probe_again,
    probe_api,
)
from conformance.runs.refusals import NotLetInError, NotOfferedError
from conformance.runs.run_folder import RunFolder
from conformance.runs.scenario_run import ScenarioOutcome
from conformance.runs.sending import RequestSender
from conformance.runs.soak import soak_apis
from conformance.runs.step_requests import RequestSettings
from conformance.scenarios import Scenario, load_scenarios
from conformance.targets.gateway import UpstreamStandIn
from conformance.targets.server import LiveServer

SANITY: Final = "think"  # the shipped scenario whose first step checks that a server is there


async def run_server(
    server: LiveServer,
    scenarios: Sequence[Scenario],
    options: RunOptions,
    folder: Path,
    display: RunDisplay = UNSEEN,
    *,
    upstream: UpstreamStandIn | None = None,
) -> RunOutcome:
    """Runs scenarios on every API of a server; recordings are kept below `folder`, alone.

    With `upstream` the server is a gateway, and the toolkit plays its upstream.
    Raises RemoteError if nothing answers at all, UsageError for unknown names, and if the folder
    holds anything except an earlier run.
    """
    rulebook = Rulebook.load(options.suites, options.rules, options.as_of)
    sender = _new_sender(server, options, upstream)
    options = _possible_options(options, upstream)
    run_folder = RunFolder(folder, options, kind="gateway" if upstream else "server")
    run_folder.claim_alone()
    profiles, without = profiles_of(options)
    runs: list[ApiRun] = []
    watch = CrossTalkWatch()
    absent, gone = list[RemoteError](), list[RemoteError]()
    for dialect in profiles:
        target = ApiTarget(dialect, sender, run_folder, options, rulebook, display, watch)
        run = _new_api_run(target, options.profile)
        planner = partial(plan_requests, scenarios, dialect, options, gateway=bool(upstream))
        try:
            await run_api(run, planner)
        except RemoteError as err:
            (absent if isinstance(err, NotOfferedError | NotLetInError) else gone).append(err)
        else:
            runs.append(run)
        if gone or run.died:
            break
    if not runs:
        raise (gone + absent)[0]
    soak = await soak_apis(runs) if options.soak and not gone else None
    return run_outcome(runs, absent, gone, without, soak)


async def run_api(run: ApiRun, planner: Planner) -> None:
    """Probes, executes and judges, in this order.

    Raises NotOfferedError if there is no such API, RemoteError if there is no server.
    """
    try:
        if await probe_api(run):
            plan = await run_probing_scenarios(run, planner, identify_profile(run).promises)
            run.planned = plan.runs
            await run_planned_scenarios(run, plan)
            if not run.died:
                await probe_again(run)
        else:
            run.leave_out("the rest", "the first request was not answered as it should be")
    except RequestsSpentError:
        run.leave_out("sanity", "the run has sent as many requests as it may (--max-requests)")
    finally:
        if run.sanity.exchanges:
            run.keep_outcome(run.sanity)
    run.judge_kept()


def profiles_of(options: RunOptions) -> tuple[dict[str, Profile], tuple[str, ...]]:
    """The user's profile by dialect, and a line for each API without a profile of that name.

    Such an API is not run: another profile than the named one would judge it.
    Raises UsageError if the user named that API too, or if no API has such a profile.
    """
    choices = CheckChoices(profile=options.profile, folders=options.folders)
    found: dict[str, Profile] = {}
    unknown: dict[str, UsageError] = {}
    for dialect in options.dialects or UNNAMED_ENDPOINTS:
        try:
            found[dialect], _ = choose_profile(get(dialect), choices, None)
        except UsageError as err:
            unknown[dialect] = err
    if unknown and (options.dialects or not found):
        raise next(iter(unknown.values()))
    return found, tuple(f"{dialect} was not run: {err}" for dialect, err in unknown.items())


def _possible_options(options: RunOptions, upstream: UpstreamStandIn | None) -> RunOptions:
    """The options as they can be carried out. Raises UsageError for those that do not fit."""
    if options.soak and (upstream is not None or options.repeat > 1):
        raise UsageError("--soak goes with --url and --asgi, and without --repeat")
    if upstream is None:
        return options
    # Upstream calls belong to the one request under way.
    return dataclasses.replace(options, jobs=1, repeat=1)


def _new_sender(
    server: LiveServer, options: RunOptions, upstream: UpstreamStandIn | None
) -> RequestSender:
    pace = RequestPace(most=options.max_requests, rpm=options.rpm, patience=options.patience)
    return RequestSender(server, pace, options.secrets, upstream=upstream)


def _new_api_run(target: ApiTarget, profile: str | None) -> ApiRun:
    dialect, options = target.dialect, target.options
    (scenario,) = load_scenarios([SANITY])
    sanity = structs.replace(scenario, name="sanity", steps=scenario.steps_for(dialect)[:1])
    return ApiRun(
        target,
        RequestSettings(options.model, options.max_tokens, lacks=frozenset(options.without)),
        ScenarioOutcome(ScenarioRun(sanity, dialect, ())),
        profile,
        # The script numbers its answers, so no two upstream answers of a gateway are equal.
        deterministic=target.sender.upstream is None,
    )
