"""A run against an application: the toolkit asks as its user, and plays the model behind it.

The first scenario finds out in which API the application asks its model. Scenarios that have no
recorded answer in that API, or a stream where it asks for whole bodies, are left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from conformance.core.errors import RemoteError
from conformance.core.events import Exchange
from conformance.dialects import AGENTS, ENDPOINTS, get, required, stated_request
from conformance.dialects.base import Reading
from conformance.dialects.script import TOOL
from conformance.evidence.answering_calls import argument_texts
from conformance.evidence.application import APP
from conformance.judging.rulebook import Rulebook
from conformance.judging.transcript import read_transcript
from conformance.profiles.lookup import has_profile
from conformance.report.printable import visible
from conformance.runs.api_run import UNSEEN, ApiRun, ApiTarget, RunDisplay, StepFault
from conformance.runs.cross_talk import CrossTalkWatch
from conformance.runs.options import RunOptions
from conformance.runs.outcome import RunOutcome, run_outcome
from conformance.runs.pace import RequestPace, RequestsSpentError
from conformance.runs.plan import ScenarioRun, plan_requests
from conformance.runs.recorded import recorded_calls
from conformance.runs.refusals import elsewhere, status_of
from conformance.runs.run_folder import RunFolder
from conformance.runs.scenario_run import ScenarioOutcome, run_scenario
from conformance.runs.sending import RequestSender
from conformance.runs.session import profiles_of
from conformance.runs.step_requests import RequestSettings
from conformance.scenarios import Scenario, load_scenarios
from conformance.targets.agent import AgentTarget
from conformance.targets.gateway import UpstreamStandIn
from conformance.targets.model_calls import ScenarioCall, call_shape, learnt_signs
from conformance.targets.played_answers import RecordedCalls, breaks_off, played_call
from conformance.targets.server import TurnTarget

FIRST: Final = "app-answer"
"""The shipped scenario whose step asks for no more than an answer."""
TOOLS: Final = "tools"
"""What a scenario needs in which the model calls a tool."""
_HIDDEN: Final = (
    "OpenAI shows no thinking of its models in this API; --persona plain plays a host that does"
)
_UNASKED: Final = "point the base URL of its provider there"
_NOT_LET_IN: Final = "-H 'NAME: VALUE' sends what it asks for, such as a cookie"
_NOT_THERE: Final = "--app names the whole address of its endpoint"
_NO_MODEL: Final = "--model ID states the one that its user chooses"
_HINTS: Final = {401: _NOT_LET_IN, 403: _NOT_LET_IN, 404: _NOT_THERE, 405: _NOT_THERE}


async def run_application(
    target: TurnTarget,
    protocol: str,
    scenarios: Sequence[Scenario],
    options: RunOptions,
    folder: Path,
    *,
    upstream: UpstreamStandIn,
    display: RunDisplay = UNSEEN,
) -> RunOutcome:
    """Runs scenarios on an application that speaks `protocol`, as a server or as a command.

    Raises RemoteError where it does not answer, or asks nothing upstream; UsageError as
    `run_server`.
    """
    options = dataclasses.replace(options, dialects=(protocol,), jobs=1, repeat=1)
    rulebook = Rulebook.load(options.suites, options.rules, options.as_of)
    pace = RequestPace(most=options.max_requests, rpm=options.rpm, patience=options.patience)
    run_folder = RunFolder(folder, options, kind=APP)
    run_folder.claim_alone()
    _check_profile(options, protocol)
    sender = RequestSender(target, pace, options.secrets, upstream=upstream)
    watch = CrossTalkWatch()
    run = _new_run(ApiTarget(protocol, sender, run_folder, options, rulebook, display, watch))
    upstream.folder = str(target.workspace) if isinstance(target, AgentTarget) else ""
    plan = plan_requests(scenarios, protocol, options, gateway=True)
    run.left_out += plan.left_out
    call = await _find_upstream(run)
    for scenario_run in plan.runs:
        if why := _why_not(scenario_run, call, upstream):
            run.leave_out(scenario_run.name, why)
            continue
        if run.died:
            run.leave_out(scenario_run.name, "the application had stopped answering")
            continue
        display.show_progress(f"{protocol} {scenario_run.name} ({pace.sent} requests)")
        await _take_scenario(run, scenario_run)
    run.state_kept_history()
    run.judge_kept()
    return run_outcome([run], [], [])


def _check_profile(options: RunOptions, protocol: str) -> None:
    """Raises UsageError where neither the application's protocol nor an API has the profile."""
    name = options.profile
    if name is None or not any(has_profile(api, name, options.folders) for api in ENDPOINTS):
        profiles_of(dataclasses.replace(options, dialects=(protocol,)))


def _new_run(target: ApiTarget) -> ApiRun:
    (first,) = load_scenarios([FIRST])
    sanity = ScenarioRun(first, target.dialect, first.steps_for(target.dialect))
    settings = RequestSettings(target.options.model, target.options.max_tokens)
    profile = target.options.profile
    # What the script says is counted: no two answers are alike.
    return ApiRun(target, settings, ScenarioOutcome(sanity), profile, deterministic=False)


async def _find_upstream(run: ApiRun) -> Exchange:
    """The first call of the application to its model. Raises RemoteError."""
    for style in required(get(run.dialect).request, run.dialect, "request bodies").styles:
        run.settings = replace(run.settings, style=style)
        outcome = await run_scenario(run.sanity.run, run.target.sender, run.settings)
        if any(each.hop == "upstream" for each in outcome.exchanges) or not _is_refused(outcome):
            break
    upstream = run.target.sender.upstream or UpstreamStandIn()
    if outcome.silent:
        is_agent = run.dialect in AGENTS
        named, patience = ("--agent", "--idle-timeout") if is_agent else ("--app", "--wait")
        hint = f"see {named}, and {patience} for one that starts slowly"
        why = next(iter(outcome.silent.values()))
        # Its requests may be why it sends nothing.
        strays = upstream.strays.sentence(unknown=True)
        others = f"; port {upstream.port} got {strays}" if strays else ""
        raise RemoteError(f"{why}{others}", hint=hint)
    if not any(each.hop == "upstream" for each in outcome.exchanges):
        raise _unasked(outcome, upstream)
    model_calls = list(_model_calls(outcome, run))
    signs = run.target.sender.signs = learnt_signs([call for _, call in model_calls])
    of_turn = (exchange for exchange, call in model_calls if call.shape in signs.turns)
    return next(of_turn, model_calls[0][0])


def _is_refused(outcome: ScenarioOutcome) -> bool:
    """Whether the first question was answered by an error."""
    answer = next(iter(outcome.answers), None)
    return answer is not None and bool(outcome.transcript_of(answer, Reading()).errors)


def _model_calls(outcome: ScenarioOutcome, run: ApiRun) -> Iterator[tuple[Exchange, ScenarioCall]]:
    """Every call of the first scenario, and whether the user was shown its answer."""
    for shown in outcome.answers:
        question = next(s.asks for s in outcome.run.steps if s.role == shown.role)
        answer = outcome.transcript_of(shown, run.settings.reading)
        texts = "".join((*answer.text, *answer.thinking))
        for each in outcome.exchanges:
            if each.hop != "upstream" or each.role != shown.role or not each.dialect:
                continue
            read = read_transcript(each, get(each.dialect), Reading())
            given = (argument_texts(str(call.get("arguments"))) for call in read.tools)
            own = ("".join(read.text), "".join(read.thinking), *chain.from_iterable(given))
            came_back = any(text.strip() and text.strip() in texts for text in own)
            body = each.request.json if each.request else None
            fields = body if isinstance(body, dict) else {}
            shape = call_shape(each.dialect, fields, question)
            yield each, ScenarioCall(shape, came_back, shown.role)


def _unasked(outcome: ScenarioOutcome, upstream: UpstreamStandIn) -> RemoteError:
    """Return the error of an application that did not call its model."""
    answer = outcome.answers[0]
    strayed = elsewhere(answer, "the application")
    came = strayed.message if strayed else f"the application {_what_came(outcome)}"
    hint = _NOT_THERE if strayed else _HINTS.get(status_of(answer) or 0, _UNASKED)
    form = get(outcome.run.dialect).request
    if "model" in came.lower() and form is not None and form.model:
        hint = _NO_MODEL
    strays = upstream.strays.sentence()
    only = f" of a model, only {strays}" if strays else ""
    return RemoteError(f"{came}, and sent no request to port {upstream.port}{only}", hint=hint)


def _what_came(outcome: ScenarioOutcome) -> str:
    """How the application answered the first step, in words for a message."""
    status = status_of(outcome.answers[0])
    how = "answered" if status is None else f"answered HTTP {status}"
    errors = outcome.transcript_of(outcome.answers[0], Reading()).errors
    message = next((str(each.get("message") or each.get("code")) for each in errors), "")
    faults = [str(each["fault"]) for each in outcome.step_facts.values() if "fault" in each]
    why = "; ".join(filter(None, (visible(message), *faults)))
    return f"{how} with an error ({why})" if why else how


def _why_not(scenario_run: ScenarioRun, call: Exchange, upstream: UpstreamStandIn) -> str:
    """Why a scenario cannot be run with an application that asks its model like this."""
    folder = upstream.folder  # where its tools may read, empty where they may not
    stated = stated_request(call.request) if call.request else None  # what its path says, too
    dialect, body = call.dialect or "", stated.json if stated else None
    if TOOLS in scenario_run.scenario.needs and not played_call(dialect, body, folder):
        reads = ", and none that is known to read alone" if folder else ""
        return f"the application offers its model no tool {TOOL}{reads}"
    fields = body if isinstance(body, dict) else {}
    if any(step.behind for step in scenario_run.steps) and _hides_thinking(call, upstream):
        return _HIDDEN
    recorded = (RecordedCalls(recorded_calls(s.behind)) for s in scenario_run.steps if s.behind)
    return next(filter(None, (each.misfit(dialect, fields) for each in recorded)), "")


def _hides_thinking(call: Exchange, upstream: UpstreamStandIn) -> bool:
    """Whether the model that an application asks shows no thinking in that API."""
    request = call.request
    if request is None or not isinstance(request.json, dict):
        return False
    persona = upstream.persona_for(request.path, request.headers, request.json)
    return persona.hides_in(call.dialect or "")


async def _take_scenario(run: ApiRun, scenario_run: ScenarioRun) -> None:
    outcome = await run_scenario(scenario_run, run.target.sender, run.settings)
    run.left_out += outcome.left_out
    _note_faults(run, outcome)
    run.kinds_of_calls |= {
        f"{scenario_run.name}/{role}": tuple(facts["asked"])
        for role, facts in outcome.step_facts.items()
        if "asked" in facts
    }
    if outcome.exchanges:
        run.keep_outcome(outcome)
        run.show_findings(scenario_run.name)
    if outcome.silent and not await _is_alive(run):
        role, why = next(iter(outcome.silent.items()))
        run.died = f"the application stopped answering at {scenario_run.name}/{role}: {why}"


def _note_faults(run: ApiRun, outcome: ScenarioOutcome) -> None:
    """What broke off answers, or kept them from coming at all.

    Where its model broke off, what an application makes of that is judged, be it silence.
    """
    name, broken = outcome.run.name, {s.role: s for s in outcome.run.steps if breaks_off(s)}
    for role, why in outcome.silent.items():
        if role in broken:
            # Who shows no thinking shows a user nothing to stop, while the model is silent.
            fault = f"was not answered, as its model broke off: {why}"
            if broken[role].stops:
                fault = f"showed nothing for its user to stop, while its model was silent: {why}"
            run.faults.append(StepFault(f"{name}/{role}", fault))
        else:
            run.silent.append(f"{name}/{role}: {why}")
    faults = ((role, facts.get("fault")) for role, facts in outcome.step_facts.items())
    run.faults += [
        StepFault(f"{name}/{role}", f"did not end by itself: {fault}")
        for role, fault in faults
        if fault and role not in outcome.silent
    ]
    run.faults += [
        StepFault(
            f"{name}/{role}",
            f"was asked in a new conversation: {of}, the step before it, had not ended",
        )
        for role, of in outcome.anew.items()
    ]


async def _is_alive(run: ApiRun) -> bool:
    """Whether the application still answers what it answered at first."""
    try:
        return not (await run_scenario(run.sanity.run, run.target.sender, run.settings)).silent
    except RequestsSpentError:
        return True
