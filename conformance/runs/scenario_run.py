"""Carries out one scenario on one API: every step in turn, each a request and its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.cassette import CassetteClock
from conformance.core.events import Exchange, Layer, Request
from conformance.core.json_values import cut_at
from conformance.dialects import APPLICATIONS, get
from conformance.dialects.base import Reading
from conformance.evidence.application import APP
from conformance.judging.transcript import Transcript, read_transcript
from conformance.runs.pace import RequestsSpentError
from conformance.runs.plan import LeftOut, ScenarioRun
from conformance.runs.recorded import recorded_calls
from conformance.runs.refusals import ABSENT, status_of
from conformance.runs.sending import RequestSender, TargetReply
from conformance.runs.step_requests import (
    NothingToCarryOnError,
    RequestSettings,
    ask_for_marker,
    known_values,
    marker_word,
    step_request,
)
from conformance.scenarios import Step
from conformance.targets.played_answers import (
    RecordedCalls,
    RecordedUpstream,
    ScriptedUpstream,
    UpstreamSource,
)
from conformance.wire.received import MOST_RECORDED

SIDE_CALL: Final = "side-call"
"""The role of calls of a model that are none of the turn under way: titles, suggestions."""


class ScenarioOutcome(Struct):
    """The outcome of a scenario. `step_facts` are what its recording states of each step, by role.

    `left_out` are steps that could not be taken; `silent` are those without an answer.
    `company` are answers to requests parallel to a step, each with its role; they are not judged.
    `anew` are steps that could not continue the step that they name, and were sent by themselves.
    """

    run: ScenarioRun
    exchanges: list[Exchange] = field(default_factory=list)
    clocks: dict[int, CassetteClock] = field(default_factory=dict)
    step_facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    silent: dict[str, str] = field(default_factory=dict)
    spent: bool = False  # the run may send no more
    company: list[tuple[str, Exchange]] = field(default_factory=list)
    anew: dict[str, str] = field(default_factory=dict)
    _began_at: float | None = None  # the first request, by `monotonic` in milliseconds
    most_bytes: int = MOST_RECORDED  # bytes that answers to come may take of its recording
    _transcripts: dict[int, tuple[Reading, Transcript]] = field(default_factory=dict)

    def add_reply(self, step: Step, reply: TargetReply, sent: Any) -> None:
        """Takes the answer to a step; the body as it was sent is what the next turn builds on."""
        exchange = reply.fetched.exchange
        self.most_bytes -= reply.fetched.recorded_size
        carried = self.exchange_of(step.carry.role) if step.carry else None
        if reply.fetched.is_anew and step.carry:
            carried, sent = None, _without_previous(sent, self.run.dialect)
            self.anew[step.role] = step.carry.role
        self._add_exchange(
            replace(
                exchange,
                request=replace(exchange.request or Request(), json=sent),
                dialect=self.run.dialect,
                hop=_hop_of(self.run, reply),
                after=carried.number if carried else None,
            ),
            reply.fetched.clock,
            step.role,
        )
        roles = {each.role for each in self.run.steps}
        running = sum(role in roles for role in step.beside)
        facts = _facts_of_step(step, reply, sent, self.run.dialect)
        self.step_facts[step.role] = {**facts, "beside": running} if running else facts
        if reply.silent:
            self.silent[step.role] = reply.silent
        for call in reply.upstream or ():
            role = SIDE_CALL if call.aside else step.role
            self._add_exchange(
                replace(call.exchange, hop="upstream"),
                CassetteClock(head=0.0, end=0.0, begun=call.begun * 1000),
                role,
            )

    def _add_exchange(self, exchange: Exchange, clock: CassetteClock, role: str) -> None:
        number = len(self.exchanges) + 1
        named = replace(exchange, number=number, scenario=self.run.name, role=role)
        self.exchanges.append(named)
        self.clocks[number] = replace(clock, begun=self._since_first(clock.begun))

    def _since_first(self, ms: float | None) -> float | None:
        """Milliseconds from the first request of the scenario; None without a clock."""
        if ms is None:
            return None
        self._began_at = ms if self._began_at is None else self._began_at
        return round(max(ms - self._began_at, 0.0), 3)

    @property
    def answers(self) -> list[Exchange]:
        """The exchanges with the target itself, without a gateway's upstream calls."""
        return [each for each in self.exchanges if each.hop != "upstream"]

    def exchange_of(self, role: str) -> Exchange | None:
        return next((each for each in self.exchanges if each.role == role), None)

    def transcript_of(self, exchange: Exchange, reading: Reading) -> Transcript:
        """An answer as its bytes say; read once, and anew only for another profile's reading.

        What a later step continues has its wire events, too.
        """
        known, transcript = self._transcripts.get(exchange.number, (None, None))
        if transcript is None or known != reading:
            is_carried = any(s.carry and s.carry.role == exchange.role for s in self.run.steps)
            keep: Layer | None = "wire" if is_carried else None
            transcript = read_transcript(exchange, get(self.run.dialect), reading, keep=keep)
            self._transcripts[exchange.number] = (reading, transcript)
        return transcript

    @property
    def wordless(self) -> frozenset[int]:
        """Numbers of the answers that were read, and held neither thinking nor text."""
        known = self._transcripts.items()
        return frozenset(number for number, (_, t) in known if not (t.thinking or t.text))


def _without_previous(sent: Any, dialect: str) -> Any:
    """A request without what it was to continue."""
    form = get(dialect).request
    previous = form.previous if form else ""
    return cut_at(sent, tuple(previous.split("."))) if previous else sent


def _hop_of(run: ScenarioRun, reply: TargetReply) -> str:
    if reply.upstream is None:
        return ""
    return APP if run.dialect in APPLICATIONS else "downstream"


def request_group(run: ScenarioRun) -> str:
    """The name that the requests of one scenario have in common."""
    return f"{run.dialect} {run.name}"


def request_name(run: ScenarioRun, role: str) -> str:
    """The name of one request, unlike that of any other of a run."""
    return f"{request_group(run)}/{role}"


async def run_scenario(
    run: ScenarioRun,
    sender: RequestSender,
    settings: RequestSettings,
    expect_word: Callable[[str, str, str], None] = lambda *_: None,
) -> ScenarioOutcome:
    """Takes every step that can be taken, in sequence.

    `expect_word` gets the marker word of a request, its name and that of its group.
    """
    outcome = ScenarioOutcome(run)
    for step in run.steps:
        why = await _take_step(step, outcome, sender, settings, expect_word)
        if why:
            outcome.left_out.append(LeftOut(f"{run.name}/{step.role}", run.dialect, why))
        if outcome.spent:
            break
    return outcome


async def _take_step(
    step: Step,
    outcome: ScenarioOutcome,
    sender: RequestSender,
    settings: RequestSettings,
    expect_word: Callable[[str, str, str], None],
) -> str:
    """Takes one step; why it could not be taken, else empty."""
    run, dialect = outcome.run, outcome.run.dialect

    def answer_of(role: str) -> Transcript | None:
        exchange = outcome.exchange_of(role)
        return outcome.transcript_of(exchange, settings.reading) if exchange else None

    try:
        known = known_values(step, answer_of, dialect, settings)
    except NothingToCarryOnError as err:
        return str(err)
    values = {**run.scenario.values, **known}
    before = outcome.exchange_of(step.carry.role) if step.carry else None
    request = step_request(step, dialect, values, settings, before)
    if word := _given_word(run, step, settings, expect_word):
        request = replace(request, json=ask_for_marker(request.json, word))
    steps = {each.role: each for each in run.steps}
    roles = (role for role in step.beside if role in steps)
    others = [step_request(steps[role], dialect, values, settings) for role in roles]
    try:
        reply, company = await _send_parallel(step, request, others, sender, outcome)
    except RequestsSpentError:
        outcome.spent = True
        return "the run has sent as many requests as it may (--max-requests)"
    status = status_of(reply.fetched.exchange)
    if step.method == "GET" and status in ABSENT:  # a list next to the API, which no API demands
        return f"the target has no {step.path} (HTTP {status})"
    outcome.add_reply(step, reply, request.json)
    outcome.company += [(step.role, each.fetched.exchange) for each in company]
    answer = outcome.transcript_of(outcome.answers[-1], settings.reading)
    sender.tokens.add_usage(answer.usage)
    return ""


def _given_word(
    run: ScenarioRun,
    step: Step,
    settings: RequestSettings,
    expect_word: Callable[[str, str, str], None],
) -> str:
    """The word that a request is given to say: its own, or that of its wording; else empty."""
    if not settings.marked:
        return marker_word(f"wording {run.wording}") if run.wording else ""
    name = request_name(run, step.role)
    word = marker_word(name)
    expect_word(word, name, request_group(run))
    return word


async def _send_parallel(
    step: Step,
    request: Request,
    parallel: Sequence[Request],
    sender: RequestSender,
    outcome: ScenarioOutcome,
) -> tuple[TargetReply, list[TargetReply]]:
    """The answer to a step, and those to the parallel requests, which are sent before it."""
    dialect = outcome.run.dialect
    company = [asyncio.create_task(sender.send(other, dialect)) for other in parallel]
    await asyncio.sleep(0)
    try:
        source = _upstream_source(step)
        # Only an application makes calls of its own; the question separates them from the turn.
        question = step.asks if dialect in APPLICATIONS else ""
        reply = await sender.send(
            request, dialect, source, outcome.most_bytes, stops=step.stops, question=question
        )
    finally:
        others = await asyncio.gather(*company, return_exceptions=True)
    return reply, [each for each in others if isinstance(each, TargetReply)]


def _upstream_source(step: Step) -> UpstreamSource:
    """Who answers a gateway upstream while the step is taken."""
    if step.recorded is not None:
        return RecordedUpstream(step.recorded)
    if step.behind:
        return RecordedCalls(recorded_calls(step.behind), step.breaks)
    return ScriptedUpstream(step.upstream or ("answer",), step.says)


def _facts_of_step(step: Step, reply: TargetReply, sent: Any, dialect: str) -> dict[str, Any]:
    form = get(dialect).request
    is_gateway = reply.upstream is not None
    asks_for_thinking = form is None or bool(form.switches)  # else none is missed
    # Once an application has called its model, its two hops show how its answer must end.
    compares_hops = dialect in APPLICATIONS and any(not each.aside for each in reply.upstream or ())
    facts = {
        "ends": None if compares_hops else list(step.ends),
        "thinking": step.thinking if dialect in APPLICATIONS or asks_for_thinking else None,
        "untestable": reply.untestable,
        "fault": reply.fetched.fault,
        # The upstream of a gateway did not count tokens: the script has the reason of the cut.
        "limit": form.limit(sent) if form and not is_gateway else None,
        "excused": list(step.excused) or None,
        "broken": list(step.broken) or None,
        "calls": step.calls if is_gateway and not reply.untestable else None,
        "asked": kinds if (kinds := [each.kind for each in reply.upstream or ()]) else None,
    }
    return {name: value for name, value in facts.items() if value not in (None, "")}
