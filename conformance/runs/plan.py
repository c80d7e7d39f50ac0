"""What a run will send: which scenarios and steps, on which API, and at what cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from conformance.scenarios import Scenario, Step

SANITY: Final = 3  # requests per API: twice at first, once at last
_LIMITS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")


@dataclass(frozen=True, slots=True)
class Visit:
    """One scenario on one API."""

    scenario: Scenario
    dialect: str
    steps: tuple[Step, ...]
    round: int = 1

    @property
    def name(self) -> str:
        again = f"-{self.round}" if self.round > 1 else ""
        return f"{self.scenario.name}{again}"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A scenario, or a step of one, that is not run, and why."""

    name: str
    dialect: str
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The visits to one API, in order, and what is left out."""

    dialect: str
    visits: tuple[Visit, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def requests(self) -> int:
        steps = [step for visit in self.visits for step in visit.steps]
        return SANITY + len(steps) + sum(len(step.beside) for step in steps)


def plan(
    scenarios: Sequence[Scenario],
    dialect: str,
    *,
    without: frozenset[str] = frozenset(),
    ignored: frozenset[str] = frozenset(),
    promises: Iterable[str] = (),
    repeat: int = 1,
    gateway: bool = False,
) -> Plan:
    """What is to be sent to one API of a target.

    It lacks `without` (the user says), does not look at `ignored` (the run found out), and keeps
    `promises` (its profile says). A gateway is sent scenarios of its own.
    """
    lacks = {
        **dict.fromkeys(ignored, "which the target does not look at"),
        **dict.fromkeys(without, "which --without leaves out"),
    }
    kept = frozenset(promises)
    visits: list[Visit] = []
    left_out: list[LeftOut] = []
    for scenario in scenarios:
        steps = scenario.steps_for(dialect)
        if not steps or scenario.is_for_gateways is not gateway:
            continue
        if why := _why(scenario, lacks, kept):
            left_out.append(LeftOut(scenario.name, dialect, why))
            continue
        taken = tuple(step for step in steps if not _why(step, lacks, kept))
        dropped = (s for s in steps if s not in taken)
        left_out += [
            LeftOut(f"{scenario.name}/{s.role}", dialect, _why(s, lacks, kept)) for s in dropped
        ]
        if taken:
            visits.append(Visit(scenario, dialect, taken))
    rounds = [Visit(v.scenario, dialect, v.steps, n) for n in range(1, repeat + 1) for v in visits]
    return Plan(dialect, tuple(rounds), tuple(left_out))


def _why(one: Scenario | Step, lacks: Mapping[str, str], promises: frozenset[str]) -> str:
    lacking = [need for need in one.needs if need in lacks]
    if lacking:
        return f"it needs {lacking[0]}, {lacks[lacking[0]]}"
    missing = [promise for promise in one.promises if promise not in promises]
    return f"the profile does not promise {', '.join(missing)}" if missing else ""


def priced(plan: Plan, max_tokens: int) -> Iterator[tuple[str, str, int]]:
    """Name, request line and cap on output tokens of every request."""
    yield "sanity", f"{SANITY} x POST", SANITY * max_tokens
    for visit in plan.visits:
        for step in visit.steps:
            line = f"{step.method} {step.path_for(plan.dialect)}"
            known = {"model": "", "turns": [], "response": "", "limit": max_tokens}
            body = step.body(plan.dialect, {**known, **visit.scenario.values})
            yield f"{visit.name}/{step.role}", line, _cap(body)
            if others := len(step.beside):
                yield (
                    f"{visit.name}/{step.role} (beside)",
                    f"{others} x {line}",
                    others * _cap(body),
                )


def _cap(body: Any) -> int:
    caps = [body[name] for name in _LIMITS if isinstance(body.get(name), int)]
    return max(caps, default=0)
