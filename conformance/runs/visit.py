"""Carries out one scenario on one API: every step in turn, each a request and its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from conformance.cassette import Clock
from conformance.core.events import Exchange, Request
from conformance.dialects import get
from conformance.dialects.base import Reading
from conformance.evidence.answer import read_answer
from conformance.runs.calls import Called, Calls
from conformance.runs.manners import PLAIN, Manner
from conformance.runs.markers import marked, marker
from conformance.runs.pace import SpentError
from conformance.runs.plan import LeftOut, Visit
from conformance.runs.turns import response_id, turns
from conformance.scenarios import Step
from conformance.targets.gateway import Heard, Recorded, Scripts
from conformance.targets.gateway.scripts import Speaker

OPT_IN: Final = "x-include-thinking"
_YES: Final = frozenset({"1", "true", "yes"})
_HEADERS: Final[Mapping[str, Mapping[str, str]]] = {
    "anthropic.messages": {"anthropic-version": "2023-06-01"}
}


@dataclass(frozen=True, slots=True)
class Way:
    """How an API is asked: the model, the limit of an answer in tokens, manner and reading.

    `opt_in`: the wish to see thinking goes into a header, or into a field of the body. `marked`:
    each request is given a word of its own to say.
    """

    model: str
    limit: int
    manner: Manner = PLAIN
    reading: Reading = field(default_factory=Reading)
    opt_in: str = "header"
    marked: bool = False


@dataclass(slots=True)
class Visited:
    """What came of a visit. `stated` is what its recording says of each step, by role.

    `left_out` are steps that could not be taken; `silent` are those that nobody answered.
    """

    visit: Visit
    exchanges: list[Exchange] = field(default_factory=list)
    clocks: dict[int, Clock] = field(default_factory=dict)
    stated: dict[str, dict[str, Any]] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    silent: dict[str, str] = field(default_factory=dict)
    spent: bool = False  # the run may send no more

    def add(self, step: Step, called: Called, dialect: str, sent: Any) -> None:
        """Takes the answer to a step; the body as it was sent is what the next turn builds on."""
        number = len(self.exchanges) + 1
        exchange = called.fetched.exchange
        asked = replace(exchange.request or Request(), json=sent)
        after = self._number(step.carry.role) if step.carry else None
        self.exchanges.append(
            replace(
                exchange,
                number=number,
                request=asked,
                dialect=dialect,
                scenario=self.visit.name,
                role=step.role,
                hop="" if called.behind is None else "downstream",
                after=after,
            )
        )
        self.clocks[number] = called.fetched.clock
        self.stated[step.role] = _statement(step, called, sent)
        if called.silent:
            self.silent[step.role] = called.silent
        for heard in called.behind or ():
            self._add_behind(step, heard)

    def _add_behind(self, step: Step, heard: Heard) -> None:
        number = len(self.exchanges) + 1
        self.exchanges.append(
            replace(
                heard.exchange,
                number=number,
                scenario=self.visit.name,
                role=step.role,
                hop="upstream",
            )
        )
        self.clocks[number] = heard.clock

    @property
    def answers(self) -> list[Exchange]:
        """The exchanges with the target itself, without what a gateway asked upstream."""
        return [each for each in self.exchanges if each.hop != "upstream"]

    def exchange(self, role: str) -> Exchange | None:
        return next((each for each in self.exchanges if each.role == role), None)

    def _number(self, role: str) -> int | None:
        found = self.exchange(role)
        return found.number if found else None


async def perform(visit: Visit, calls: Calls, way: Way) -> Visited:
    """Takes every step that can be taken, one after the other."""
    visited = Visited(visit)
    for step in visit.steps:
        why = await _take(step, visited, calls, way)
        if why:
            name = f"{visit.name}/{step.role}"
            visited.left_out.append(LeftOut(name, visit.dialect, why))
        if visited.spent:
            break
    return visited


async def _take(step: Step, visited: Visited, calls: Calls, way: Way) -> str:
    """Takes one step; why it could not be taken, else empty."""
    dialect = visited.visit.dialect
    try:
        known = known_to(step, visited.exchange, dialect, way)
    except NothingToCarryOnError as err:
        return str(err)
    values = {**visited.visit.scenario.values, **known}
    request = asked(step, dialect, values, way)
    if way.marked:
        word = marker(visited.visit.name, step.role)
        request = replace(request, json=marked(request.json, word))
    steps = {each.role: each for each in visited.visit.steps}
    beside = [asked(steps[r], dialect, values, way) for r in step.beside if r in steps]
    try:
        called = await _ask(step, request, beside, calls, dialect)
    except SpentError:
        visited.spent = True
        return "the run has sent as many requests as it may (--max-requests)"
    visited.add(step, called, dialect, request.json)
    exchange = visited.answers[-1]
    calls.spent.add(read_answer(exchange, get(dialect), way.reading).usage)
    return ""


class NothingToCarryOnError(Exception):
    """The step that another one carries on was not taken, or was not answered as it should be."""


def known_to(
    step: Step, taken: Callable[[str], Exchange | None], dialect: str, way: Way
) -> dict[str, Any]:
    """The values that a step's request may name; `taken` gives an earlier exchange by its role.

    Raises NothingToCarryOnError.
    """
    known: dict[str, Any] = {"model": way.model, "limit": way.limit}
    if step.carry is None:
        return known
    before = taken(step.carry.role)
    sent = before.request.json if before and before.request else None
    if before is None or not isinstance(sent, Mapping):
        raise NothingToCarryOnError(f"{step.carry.role}, which it carries on, was not taken")
    history = turns(dialect, before, sent, step.carry, way.reading)
    if history is None:
        wanted = "called no tool" if step.carry.result else "gave no answer"
        raise NothingToCarryOnError(f"{step.carry.role}, which it carries on, {wanted}")
    return {**known, "turns": history, "response": response_id(before, dialect, way.reading)}


async def _ask(
    step: Step, request: Request, beside: Sequence[Request], calls: Calls, dialect: str
) -> Called:
    """The answer to a step; what is to be asked beside it is on its way before it is."""
    company = [asyncio.create_task(calls.ask(other, dialect)) for other in beside]
    await asyncio.sleep(0)
    try:
        return await calls.ask(request, dialect, _behind(step))
    finally:
        await asyncio.gather(*company, return_exceptions=True)


def _behind(step: Step) -> Speaker:
    """Who answers a gateway upstream while the step is taken."""
    if step.recorded is not None:
        return Recorded(step.recorded)
    return Scripts(step.upstream or ("answer",))


def asked(step: Step, dialect: str, values: Mapping[str, Any], way: Way) -> Request:
    """The request of a step, below the target's base URL."""
    body = step.body(dialect, values)
    headers = {**_HEADERS.get(dialect, {}), **step.headers}
    if way.opt_in == "field" and OPT_IN in headers:
        shown = headers.pop(OPT_IN).strip().lower() in _YES
        body = {**body, "extra": {**body.get("extra", {}), "include_thinking": shown}}
    return Request(
        method=step.method,
        path=step.path_for(dialect),
        headers=tuple(headers.items()),
        json=way.manner.dress(body) if step.method == "POST" else None,
    )


def _statement(step: Step, called: Called, sent: Any) -> dict[str, Any]:
    facts: Iterator[tuple[str, Any]] = iter(
        (
            ("ends", list(step.ends)),
            ("thinking", step.thinking),
            ("untestable", called.untestable),
            ("fault", called.fetched.fault),
            # Behind a gateway nobody counted: the script says what the answer was cut by.
            ("limit", _limit(sent) if called.behind is None else None),
            ("excused", list(step.excused) or None),
            ("calls", None if called.behind is None or called.untestable else step.calls),
        )
    )
    return {name: value for name, value in facts if value not in (None, "")}


def _limit(sent: Any) -> int | None:
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    found = [sent[name] for name in names if name in sent] if isinstance(sent, Mapping) else []
    return found[0] if found and isinstance(found[0], int) else None
