"""A scenario as requests to record: each step in turn, built on what came before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from conformance.core.errors import UsageError
from conformance.core.events import Exchange
from conformance.runs.visit import NothingToCarryOnError, Way, asked, known_to
from conformance.scenarios import Scenario
from conformance.targets.recording import Asking, Questions


def asked_of(
    scenario: Scenario,
    dialect: str,
    way: Way,
    headers: Mapping[str, str] | None = None,
    *,
    tell: Callable[[str], None] = lambda _: None,
) -> Questions:
    """The requests of a scenario in one API, with `headers` of the user's own.

    `tell` hears of a step that cannot be taken. Raises UsageError for a scenario that is not
    written for the API, or for gateways only.
    """
    if scenario.is_for_gateways:
        raise UsageError(f"scenario {scenario.name} is for gateways", hint="see run --gateway")
    if not scenario.steps_for(dialect):
        raise UsageError(f"scenario {scenario.name} has no request for {dialect}")
    return _asked(scenario, dialect, way, headers or {}, tell)


def _asked(
    scenario: Scenario,
    dialect: str,
    way: Way,
    headers: Mapping[str, str],
    tell: Callable[[str], None],
) -> Questions:
    taken: dict[str, Exchange] = {}
    for step in scenario.steps_for(dialect):
        try:
            known = known_to(step, taken.get, dialect, way)
        except NothingToCarryOnError as err:
            tell(f"{scenario.name}/{step.role} was left out: {err}")
            continue
        request = asked(step, dialect, {**scenario.values, **known}, way)
        before = taken.get(step.carry.role) if step.carry else None
        heard = yield Asking(
            path=request.path,
            body=request.json,
            method=request.method,
            headers=tuple({**dict(request.headers), **headers}.items()),
            after=before.number if before else None,
            scenario=scenario.name,
            role=step.role,
        )
        taken[step.role] = replace(heard, request=request)
