"""One API of a target: is it there and sane, then every visit, then is it still sane."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from conformance.cassette import open_recording
from conformance.core.errors import ConformanceError, RemoteError
from conformance.core.events import Exchange, Response
from conformance.dialects import get
from conformance.evidence.answer import ended, read_answer
from conformance.evidence.expectations import compares_answers
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.profiles.profile import Profile, reading
from conformance.recordings.check import Choices, check_recording, choose_profile
from conformance.recordings.identification import signed
from conformance.report.printable import visible
from conformance.rules.verdicts import Verdict
from conformance.runs.calls import Called, Calls
from conformance.runs.keeping import Keeper
from conformance.runs.manners import MANNERS
from conformance.runs.options import Options
from conformance.runs.pace import SpentError
from conformance.runs.plan import LeftOut, Plan, Visit
from conformance.runs.visit import Visited, Way, asked, perform
from conformance.scenarios import Scenario, Step

_ABSENT: Final = frozenset({404, 405, 501})
_NOT_LET_IN: Final = frozenset({401, 403, 407})
_WRONG_MANNER: Final = frozenset({400, 422})
_SANE: Final = frozenset({"complete", "length"})

Progress = Callable[[str], None]
Planner = Callable[[Profile, frozenset[str]], Plan]
"""What to send, by the profile and by what the target turned out to lack."""


class NotOfferedError(RemoteError):
    """The target has no such API."""


class NotLetInError(RemoteError):
    """The API is there, but not for us: no key, a wrong one, or no such model."""


@dataclass(slots=True)
class Tour:
    """Everything that one API is asked, and what came of it."""

    dialect: str
    calls: Calls
    keeper: Keeper
    options: Options
    rulebook: Rulebook
    sanity: Scenario
    way: Way
    progress: Progress
    deterministic: bool = True
    died: str = ""
    silent: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    profile: str | None = None  # named by the user, else by the target's own signs
    signs: tuple[str, ...] = ()
    paths: dict[str, Path] = field(default_factory=dict)
    rounds: dict[str, Visit] = field(default_factory=dict)
    ignored: set[str] = field(default_factory=set)  # capabilities that it does not look at
    notes: dict[str, str] = field(default_factory=dict)  # by id of a finding
    results: dict[str, list[StreamResult]] = field(default_factory=dict)

    async def go(self, plan: Planner) -> None:
        """Raises NotOfferedError where there is no such API, RemoteError where nobody is."""
        sane = Visited(Visit(self.sanity, self.dialect, ()))
        try:
            if await self._begin(sane):
                await self._visit_all(await self._learn(plan, self._known(sane)))
                if not self.died:
                    await self._end(sane)
            else:
                why = "the first request was not answered as it should be"
                self.left_out.append(LeftOut("every scenario", self.dialect, why))
        except SpentError:
            why = "the run has sent as many requests as it may (--max-requests)"
            self.left_out.append(LeftOut("sanity", self.dialect, why))
        finally:
            if sane.exchanges:
                self._keep(sane)
        self._judge()

    async def _begin(self, sane: Visited) -> bool:
        """Finds the manner in which the API answers, and whether it does so twice alike."""
        first = await self._first()
        if first.untestable:
            raise RemoteError(f"{self.dialect}: {first.untestable}", hint="see --max-wait")
        self._let_in(first.fetched.exchange)
        spoken = self._take_sane(sane, first, "first")
        if spoken is None:
            return False
        again = await self._ask_sane()
        same = self._take_sane(sane, again, "again") == spoken
        self.deterministic = self.deterministic and same
        return True

    def _known(self, sane: Visited) -> Profile:
        """The profile to plan and read by: the user's, or whose signs the first answers show."""
        dialect, folders = get(self.dialect), self.options.folders
        if self.profile is None and (sender := signed(sane.answers, dialect, folders)):
            self.profile, self.signs = sender
        choices = Choices(profile=self.profile, folders=folders)
        profile, _ = choose_profile(dialect, choices, None, self.rulebook.profile)
        opt_in = str(profile.knobs.get("opt_in", "header"))
        self.way = replace(self.way, reading=reading(profile), opt_in=opt_in)
        return profile

    def _let_in(self, exchange: Exchange) -> None:
        """Raises NotOfferedError and RemoteError where the API is not there, or not for us."""
        status = _status(exchange.response)
        kind = (exchange.response.header("content-type") or "") if exchange.response else ""
        if self.dialect not in self.options.dialects and "text/html" in kind:
            raise self._absent()  # a web page for every path, as user interfaces have it
        if status not in _ABSENT | _NOT_LET_IN:
            return
        errors = read_answer(exchange, get(self.dialect), self.way.reading).errors
        words = str(errors[0].get("message") or "") if errors else ""
        words = self.keeper.secrecy.line(words)
        said = f"{self.dialect}: HTTP {status}{f': {visible(words, 200)}' if words else ''}"
        if status in _NOT_LET_IN:
            raise NotLetInError(said, hint="name the key's variable with --api-key-env")
        if self.way.model in words:
            raise NotLetInError(said, hint="see --model")
        raise self._absent()

    def _absent(self) -> NotOfferedError:
        return NotOfferedError(f"{self.dialect}: the target has no such API", hint="see --url")

    async def _first(self) -> Called:
        for manner in MANNERS[self.dialect]:
            self.way = replace(self.way, manner=manner)
            called = await self._ask_sane()
            if _status(called.fetched.exchange.response) not in _WRONG_MANNER:
                break
        return called

    async def _ask_sane(self) -> Called:
        known: Mapping[str, Any] = {"model": self.way.model, "limit": self.way.limit}
        values = {**self.sanity.values, **known}
        # In the same way before and after the profile is known, for the answers are compared.
        way = replace(self.way, opt_in="header")
        request = asked(self.sanity.steps[0], self.dialect, values, way)
        return await self.calls.must(request, self.dialect)

    def _take_sane(self, sane: Visited, called: Called, role: str) -> tuple[str, ...] | None:
        """What was said, None where that was no sane answer."""
        step: Step = replace(self.sanity.steps[0], role=role, ends=("complete",), thinking=None)
        request = called.fetched.exchange.request
        sent = request.json if request else None
        sane.add(step, called, self.dialect, sent)
        answer = read_answer(sane.answers[-1], get(self.dialect), self.way.reading)
        self.calls.spent.add(answer.usage)
        return answer.spoken() if ended(sane.answers[-1], answer) in _SANE else None

    async def _end(self, sane: Visited) -> None:
        first = read_answer(sane.answers[0], get(self.dialect), self.way.reading).spoken()
        try:
            last = await self._ask_sane()
        except RemoteError as err:
            self.died = f"the server no longer answers after the last scenario: {err}"
            return
        spoken = self._take_sane(sane, last, "last")
        if spoken is not None and spoken != first:
            self.deterministic = False

    async def _learn(self, plan: Planner, profile: Profile) -> Plan:
        """Takes the scenarios that find out what the target looks at; the plan without the rest."""
        whole = plan(profile, frozenset())
        probes = [v for v in whole.visits if v.scenario.probes and v.round == 1]
        for visit in probes:
            await self._visit(visit, asyncio.Semaphore(1))
        planned = plan(profile, frozenset(self.ignored)) if self.ignored else whole
        taken = {visit.name for visit in probes}
        self.left_out += [each for each in planned.left_out if each.name not in taken]
        return replace(planned, visits=tuple(v for v in planned.visits if v not in probes))

    def _ended(self, exchange: Exchange) -> str:
        return ended(exchange, read_answer(exchange, get(self.dialect), self.way.reading))

    async def _visit_all(self, plan: Plan) -> None:
        repeat, jobs = self.options.repeat, self.options.jobs
        # Before a soak one round goes alone: it tells what is said when nobody disturbs.
        for rounds, width in (((1,), 1 if repeat > 1 else jobs), (range(2, repeat + 1), jobs)):
            gate = asyncio.Semaphore(width)
            visits = [visit for visit in plan.visits if visit.round in rounds]
            try:
                async with asyncio.TaskGroup() as tasks:
                    for visit in visits:
                        tasks.create_task(self._visit(visit, gate))
            except* ConformanceError as group:
                raise group.exceptions[0] from None

    async def _visit(self, visit: Visit, gate: asyncio.Semaphore) -> None:
        async with gate:
            if self.died:
                why = "the server had stopped answering"
                self.left_out.append(LeftOut(visit.name, self.dialect, why))
                return
            self.progress(f"{self.dialect} {visit.name} ({self.calls.pace.calls} requests)")
            # Only words of their own tell random answers apart.
            marked = visit.round > 1 and not self.deterministic
            visited = await perform(visit, self.calls, replace(self.way, marked=marked))
            self._take(visited)
            if visited.silent and not await self._is_alive():
                role, why = next(iter(visited.silent.items()))
                self.died = f"the server stopped answering at {visit.name}/{role}: {why}"
            elif visit.round == 1:
                await self._confirm(visited)

    def _take(self, visited: Visited) -> None:
        self.left_out += visited.left_out
        self.silent += [f"{visited.visit.name}/{r}: {why}" for r, why in visited.silent.items()]
        if visited.exchanges:
            self._keep(visited)
        ends = [self._ended(each) for each in visited.answers]
        if visited.visit.scenario.probes and ends and set(ends) == {"complete"}:
            self.ignored.add(visited.visit.scenario.probes)

    def _keep(self, visited: Visited) -> None:
        path = self.keeper.keep(visited, deterministic=self.deterministic, profile=self.profile)
        self.paths[visited.visit.name] = path
        self.rounds[visited.visit.name] = visited.visit

    async def _is_alive(self) -> bool:
        try:
            await self._ask_sane()
        except (RemoteError, SpentError):
            return False
        return True

    async def _confirm(self, visited: Visited) -> None:
        """Asks again where there are findings: how often they come, whether texts are steady."""
        path = self.paths.get(visited.visit.name)
        if path is None:
            return
        found = self._check(path)
        ids = {finding.id for result in found for finding in result.findings}
        chance = self.deterministic and self._hangs_on_text(found)
        again = self.options.confirm - 1 if ids else 0
        runs = [ids]
        for _ in range(max(again, int(chance))):
            other = await perform(visited.visit, self.calls, self.way)
            if other.spent or other.silent:
                break
            runs.append(self._found_in(other))
            if chance and not self._same(visited, other):
                self.deterministic = False
        if self.options.confirm > 1:
            for each in ids:
                times = sum(each in found for found in runs)
                self.notes[each] = f"finding {each}: {times} of {len(runs)} runs"

    def _found_in(self, visited: Visited) -> set[str]:
        """Ids of the findings of a visit that is not part of the run, and is not kept."""
        with TemporaryDirectory(prefix="conformance-") as folder:
            keeper = self.keeper.elsewhere(Path(folder))
            path = keeper.keep(visited, deterministic=self.deterministic, profile=self.profile)
            return {finding.id for result in self._check(path) for finding in result.findings}

    def _hangs_on_text(self, found: list[StreamResult]) -> bool:
        failed = {rule for each in found for rule, v in each.verdicts.items() if v is Verdict.FAIL}
        return any(compares_answers(r) for r in self.rulebook.rules if r.id in failed)

    def _same(self, one: Visited, other: Visited) -> bool:
        pairs = ((each, other.exchange(each.role)) for each in one.answers)
        return all(b is None or self._spoken(a) == self._spoken(b) for a, b in pairs)

    def _spoken(self, exchange: Exchange) -> tuple[str, ...]:
        return read_answer(exchange, get(self.dialect), self.way.reading).spoken()

    def _judge(self) -> None:
        for name, path in self.paths.items():
            if not self.deterministic:
                self.keeper.restate(path, deterministic=False)
            self.results[name] = [self._noted(each) for each in self._check(path)]

    def _noted(self, result: StreamResult) -> StreamResult:
        ids = dict.fromkeys(finding.id for finding in result.findings)
        told = (self.notes[each] for each in ids if each in self.notes)
        return replace(result, notes=(*result.notes, *told))

    def _check(self, path: Path) -> list[StreamResult]:
        options = self.options
        # Behind a gateway another dialect may be spoken.
        stated = None if self.calls.upstream else self.dialect
        choices = Choices(stated, self.profile, options.folders)
        results = check_recording(open_recording(path), self.rulebook, choices)
        named = options.profile is not None and self.profile == options.profile
        return [replace(each, named=named) for each in results]


def _status(response: Response | None) -> int | None:
    return response.status if response else None
