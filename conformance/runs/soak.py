"""A soak: repeats scenarios in parallel for a time, and judges the answers under load.

Rule 1: each API was run once before, one request at a time: the soak sends the requests that worked
there, also in other wordings if all answers would be equal.
Rule 2: an answer is judged as it comes, and merged with others once all requests that were parallel
to it are over: until then one may turn out to hold parts of the other.
Rule 3: the soak ends after its time, with the requests under way; at Ctrl-C at once; and when the
target no longer answers, or the run may send no more.

If a soak sends only one scenario, and the target does not repeat marker words, all answers are
equal, and cross-talk only looks like an odd fault. So such a scenario is also sent in other
wordings: each asks for another first word, the same in all its requests. The answers to them are
learnt before, one request at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.errors import ConformanceError
from conformance.core.events import Exchange
from conformance.judging.result import StreamResult
from conformance.judging.soak_figures import SoakFigures
from conformance.runs.api_run import ApiRun, KeptRun
from conformance.runs.concurrent_streams import (
    AnswerKey,
    LoneAnswers,
    answers_of_first_round,
    judged_concurrently,
    lone_answer,
    take_answers,
)
from conformance.runs.execute import judge_unkept
from conformance.runs.foreign_pieces import LoneAnswer, shows_in
from conformance.runs.plan import ScenarioRun
from conformance.runs.probe import is_alive, says_its_word
from conformance.runs.scenario_run import ScenarioOutcome, request_name, run_scenario
from conformance.runs.soak_tally import FailureCount, LatencyHistogram, ResultMerger

_MOST_WAITING: Final = 1000  # scenarios that are judged and not merged


class SoakOutcome(Struct, frozen=True):
    """The results of a soak: its figures, and the results of each API, merged."""

    figures: SoakFigures
    merger: ResultMerger

    def results(self, dialect: str) -> list[StreamResult]:
        return self.merger.results(dialect)


class SoakedApi(Struct, frozen=True):
    """One API and the requests for it. `marked`: each request asks for a marker word.

    Otherwise answers are compared with those to the same `wordings`, if the API is deterministic
    where requests go alone.
    """

    run: ApiRun
    scenarios: tuple[ScenarioRun, ...]
    marked: bool
    wordings: Wordings


class _WaitingRun(Struct, frozen=True):
    """A scenario that is over and judged, but not merged yet; `ended` by `monotonic`."""

    api: SoakedApi
    kept: KeptRun
    ended: float


async def soak_apis(runs: Sequence[ApiRun]) -> SoakOutcome | None:
    """Runs what each run had planned for the time that the options say; None without any."""
    apis = [
        await _soaked_api(run, scenarios)
        for run in runs
        if (scenarios := tuple(each for each in run.planned if each.round == 1)) and not run.died
    ]
    return await _Soak(apis).run() if apis else None


async def _soaked_api(run: ApiRun, scenarios: tuple[ScenarioRun, ...]) -> SoakedApi:
    marked = await says_its_word(run)
    if marked or not (run.deterministic or run.varies_in_company):
        return SoakedApi(run, scenarios, marked, Wordings(LoneAnswers()))
    return SoakedApi(run, scenarios, marked, await learn_wordings(run, scenarios))


class _Soak:
    def __init__(self, apis: Sequence[SoakedApi]) -> None:
        options = apis[0].run.target.options
        self._jobs = options.jobs
        self._seconds = options.soak or 0.0
        self._turns = _turns(apis)
        self._is_over = False
        self._begun: dict[int, float] = {}  # by worker
        self._waiting: deque[_WaitingRun] = deque()
        # One thread judges, so that answers are read as they come; the sender waits for it.
        self._judge = ThreadPoolExecutor(1, "judge")
        self._start = 0.0
        self._merger = ResultMerger()
        self._failures = FailureCount()
        self._thinking, self._text = LatencyHistogram(), LatencyHistogram()
        self._requests = 0

    async def run(self) -> SoakOutcome:
        self._start = monotonic()
        loop = asyncio.get_running_loop()
        with self._judge, _interruption() as interrupted:
            working = asyncio.create_task(self._work_side_by_side())
            ending = asyncio.create_task(interrupted.wait())
            try:
                await asyncio.wait([working, ending], return_when=asyncio.FIRST_COMPLETED)
            finally:
                ending.cancel()
                working.cancel()
                await asyncio.wait([working])
            seconds = monotonic() - self._start
            if not working.cancelled():
                working.result()
            self._begun.clear()
            await loop.run_in_executor(self._judge, self._merge_settled)
        return SoakOutcome(self._figures(seconds, interrupted=interrupted.is_set()), self._merger)

    async def _work_side_by_side(self) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                for worker in range(self._jobs):
                    tasks.create_task(self._work(worker))
        except* ConformanceError as group:
            raise group.exceptions[0] from None

    def _figures(self, seconds: float, *, interrupted: bool) -> SoakFigures:
        return SoakFigures(
            seconds=round(seconds, 3),
            jobs=self._jobs,
            requests=self._requests,
            rate=round(self._requests / seconds, 3) if seconds else 0.0,
            first_thinking=self._thinking.latency(),
            first_text=self._text.latency(),
            failures=self._failures.failures(),
            interrupted=interrupted,
        )

    async def _work(self, worker: int) -> None:
        loop = asyncio.get_running_loop()
        while not self._is_over and (left := self._seconds + self._start - monotonic()) > 0:
            api, scenario_run = next(self._turns)
            run, watch = api.run, api.run.target.watch
            run.target.display.show_progress(f"soak: {self._requests} requests, {left:.0f} s left")
            self._begun[worker] = monotonic()
            settings = replace(run.settings, marked=api.marked)
            sender = run.target.sender
            outcome = await run_scenario(scenario_run, sender, settings, watch.expect_word)
            ended = monotonic()
            if outcome.spent:
                self._is_over = True
            if outcome.exchanges:
                await loop.run_in_executor(self._judge, self._take, api, outcome, ended)
            del self._begun[worker]
            if outcome.silent and not self._is_over and not await is_alive(run):
                self._is_over = True
                role, why = next(iter(outcome.silent.items()))
                run.died = f"the server stopped answering in the soak ({role}): {why}"

    def _take(self, api: SoakedApi, outcome: ScenarioOutcome, ended: float) -> None:
        """Counts and judges what came of a scenario."""
        run, name = api.run, outcome.run.scenario.name
        taken = take_answers(run, outcome, is_alone=False)
        for exchange, signs in zip(outcome.answers, taken, strict=True):
            self._requests += 1
            if run.target.watch.is_telling(signs):
                run.telling.add(signs.request)
            if kind := _failure_kind(run, outcome, exchange):
                self._failures.add(kind)
            head = outcome.clocks[exchange.number].head or 0.0
            for kind, latencies in (("thinking", self._thinking), ("text", self._text)):
                if (ms := signs.first_ms.get(f"{kind}.delta")) is not None:
                    latencies.add(head + ms)
        # Findings have the ids that they have where the scenario goes alone.
        outcome.exchanges = [replace(each, scenario=name) for each in outcome.exchanges]
        # Each request had its own marker word, so texts differ.
        steady = run.deterministic and not api.marked
        folder = run.target.folder
        evidence = folder.write_cassette(outcome, deterministic=steady, profile=run.profile)
        kept = KeptRun(outcome.run, evidence, steady, tuple(run.judge_recording(evidence)))
        self._waiting.append(_WaitingRun(api, kept, ended))
        self._merge_settled()

    def _merge_settled(self) -> None:
        """Merges the answers whose parallel requests are all over."""
        oldest = min(list(self._begun.values()), default=monotonic())
        while self._waiting and (
            self._waiting[0].ended < oldest or len(self._waiting) > _MOST_WAITING
        ):
            self._merge(self._waiting.popleft())

    def _merge(self, over: _WaitingRun) -> None:
        run, kept, alone = over.api.run, over.kept, over.api.wordings.alone
        is_kept = [
            self._merger.add(run.target.rulebook.narrowed(each))
            for each in judged_concurrently(run, kept, alone)
        ]
        requests = [request_name(kept.run, each.role) for each in kept.results]
        run.target.watch.settle(requests)
        run.telling.difference_update(requests)
        if not any(is_kept):
            kept.path.unlink(missing_ok=True)


def _turns(apis: Sequence[SoakedApi]) -> Iterator[tuple[SoakedApi, ScenarioRun]]:
    """The scenarios of all APIs, round after round; each round has another number."""
    number = 1
    while True:
        number += 1
        for api in apis:
            for scenario_run in api.scenarios:
                yield api, api.wordings.in_turn(scenario_run, number)


def _failure_kind(run: ApiRun, outcome: ScenarioOutcome, exchange: Exchange) -> str:
    """How an answer ended otherwise than its step expects; empty where it did not."""
    if exchange.role in outcome.silent:
        return "no answer"
    answer = outcome.transcript_of(exchange, run.settings.reading)
    step = next(each for each in outcome.run.steps if each.role == exchange.role)
    if answer.ending in step.ends:
        return ""
    status = exchange.response.status if exchange.response else None
    if status is not None and status >= 300:
        return f"HTTP {status}"
    if answer.errors:
        return "error in the answer"
    return "broke off" if answer.ending == "cut" else f"ended with {answer.ending}"


@contextlib.contextmanager
def _interruption() -> Iterator[asyncio.Event]:
    """Set by the first Ctrl-C; a second one ends the program, as ever.

    Where signals cannot be taken (another thread, Windows) the first one does.
    """
    event, loop = asyncio.Event(), asyncio.get_running_loop()

    def end() -> None:
        event.set()
        loop.remove_signal_handler(signal.SIGINT)

    with contextlib.ExitStack() as stack:
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal.SIGINT, end)
            stack.callback(loop.remove_signal_handler, signal.SIGINT)
        yield event


MOST: Final = 3  # other wordings of one scenario


class Wordings(Struct, frozen=True):
    """The answer to each wording alone; `usable` are those of a scenario, by its name."""

    alone: LoneAnswers
    usable: Mapping[str, Sequence[int]] = {}

    def in_turn(self, run: ScenarioRun, number: int) -> ScenarioRun:
        """The run of a round, in the wording that is due."""
        known = (0, *self.usable.get(run.scenario.name, ()))
        return replace(run, round=number, wording=known[number % len(known)])


async def learn_wordings(run: ApiRun, scenarios: Sequence[ScenarioRun]) -> Wordings:
    """Asks scenarios otherwise whose answers say nothing that only they say."""
    answers = answers_of_first_round(run)
    usable: dict[str, list[int]] = {}
    for scenario_run in scenarios:
        if _is_distinguishable(scenario_run.scenario.name, answers):
            continue
        for wording in range(1, MOST + 1):
            worded = replace(scenario_run, wording=wording)
            outcome = await run_scenario(worded, run.target.sender, run.settings)
            if outcome.spent or outcome.silent:
                return Wordings(LoneAnswers(answers), usable)
            # What fails in this wording alone would be blamed on the load.
            if judge_unkept(run, outcome) <= _known_findings(run, worded):
                answers |= (lone_answer(run, worded, each) for each in outcome.answers)
                usable.setdefault(worded.scenario.name, []).append(wording)
    return Wordings(LoneAnswers(answers), usable)


def _is_distinguishable(name: str, answers: Mapping[AnswerKey, LoneAnswer]) -> bool:
    """Whether a piece of some other answer would show in each answer of a scenario."""
    own = (each for key, each in answers.items() if key.scenario == name)
    return all(any(shows_in(each, other) for other in answers.values()) for each in own)


def _known_findings(run: ApiRun, scenario_run: ScenarioRun) -> set[str]:
    results = run.judge_kept_run(scenario_run.name)
    return {finding.id for result in results for finding in result.findings}
