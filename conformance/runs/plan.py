"""The plan of a run: its scenarios and steps, their APIs, and the cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.dialects import SUPPORTED
from conformance.runs.options import RunOptions
from conformance.scenarios import Scenario, Step

_WHOLE: Final = "it asks for no stream, and over a WebSocket there is nothing else"
SANITY: Final = 3  # requests per API: twice at first, once at last


class ScenarioRun(Struct, frozen=True):
    """One scenario on one API. `wording` 0 is the original text, any other adds a wish to it."""

    scenario: Scenario
    dialect: str
    steps: tuple[Step, ...]
    round: int = 1
    wording: int = 0

    @property
    def name(self) -> str:
        again = f"-{self.round}" if self.round > 1 else ""
        return f"{self.scenario.name}{again}"


class LeftOut(Struct, frozen=True):
    """A scenario, or a step of one, that is not run, and why."""

    name: str
    dialect: str
    why: str


class RequestPlan(Struct, frozen=True):
    """The scenarios for one API, in order, and what is left out."""

    dialect: str
    runs: tuple[ScenarioRun, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def request_count(self) -> int:
        steps = [step for run in self.runs for step in run.steps]
        return SANITY + len(steps) + sum(len(step.beside) for step in steps)


def plan_requests(
    scenarios: Sequence[Scenario],
    dialect: str,
    options: RunOptions,
    promises: Iterable[str] = (),
    ignored: frozenset[str] = frozenset(),
    *,
    gateway: bool = False,
) -> RequestPlan:
    """The scenarios to send to one API of a target.

    By its profile it keeps `promises`; it ignores the fields in `ignored`, as the run found out. A
    gateway has scenarios of its own.
    """
    lacks = {
        **dict.fromkeys(ignored, "which the target ignores"),
        **dict.fromkeys(options.without, "which --without leaves out"),
    }
    kept = frozenset(promises)
    runs: list[ScenarioRun] = []
    left_out: list[LeftOut] = []
    for scenario in scenarios:
        steps = scenario.steps_for(dialect)
        if not steps or scenario.is_for_gateways is not gateway:
            continue
        if why := _why_left_out(scenario, lacks, kept):
            left_out.append(LeftOut(scenario.name, dialect, why))
            continue
        whys = [_why_left_out(step, lacks, kept) for step in steps]
        if options.streams_only:
            wholes = (_why_no_stream(scenario, step, dialect) for step in steps)
            whys = [why or whole for why, whole in zip(whys, wholes, strict=True)]
        judged = list(zip(steps, whys, strict=True))
        left_out += [LeftOut(f"{scenario.name}/{s.role}", dialect, why) for s, why in judged if why]
        taken = tuple(step for step, why in judged if not why)
        if taken:
            runs.append(ScenarioRun(scenario, dialect, taken))
    numbers = range(1, options.repeat + 1)
    rounds = [replace(run, round=number) for number in numbers for run in runs]
    return RequestPlan(dialect, tuple(rounds), tuple(left_out))


def _why_left_out(one: Scenario | Step, lacks: Mapping[str, str], promises: frozenset[str]) -> str:
    lacking = [need for need in one.needs if need in lacks]
    if lacking:
        return f"needs {lacking[0]}, {lacks[lacking[0]]}"
    missing = [promise for promise in one.promises if promise not in promises]
    return f"the profile does not promise {', '.join(missing)}" if missing else ""


def _why_no_stream(scenario: Scenario, step: Step, dialect: str) -> str:
    known = {"model": "", "turns": [], "response": "", "limit": 1, **scenario.values}
    asks = SUPPORTED[dialect].asks_for_stream(step.path_for(dialect), step.body(dialect, known))
    return "" if step.method == "POST" and asks else _WHOLE


def request_costs(plan: RequestPlan, max_tokens: int) -> Iterator[tuple[str, str, int]]:
    """Name, request line and cap on output tokens of every request."""
    yield "sanity", f"{SANITY} x POST", SANITY * max_tokens
    for run in plan.runs:
        for step in run.steps:
            line = f"{step.method} {step.path_for(plan.dialect)}"
            known = {"model": "", "turns": [], "response": "", "limit": max_tokens}
            body = step.body(plan.dialect, {**known, **run.scenario.values})
            cap = _output_cap(body, plan.dialect)
            name = f"{run.name}/{step.role}"
            yield name, line, cap
            if others := len(step.beside):
                yield f"{name} (beside)", f"{others} x {line}", others * cap


def _output_cap(body: Any, dialect: str) -> int:
    form = SUPPORTED[dialect].request
    return (form.limit(body) if form else None) or 0
