"""Rules made ready for one profile: immutable once built, shared by exchanges and threads.

Rule 1: dispatch is by (layer, type). Tables are made on first sight of a type; their number is
capped, because a hostile server invents types.
Rule 2: whatever does not hang on the exchange is worked out here, once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from conformance.core.events import Ending, Event, Layer
from conformance.rules.applies import Terms, profile_excludes, terms
from conformance.rules.model import Alias, Rule
from conformance.rules.monitors import Maker, maker
from conformance.rules.monitors.base import Monitor, Slicer, Violation
from conformance.rules.paths import MISSING, Getter, getter
from conformance.rules.patterns import Asked, Test, compile_value
from conformance.rules.repetition import is_related, is_steady
from conformance.rules.verdicts import Verdict

MOST_TYPES: Final = 1024

Conditions = tuple[tuple[Getter, Test], ...]
Holds = Callable[[Mapping[str, Any], Asked], bool]
Columns = tuple[str, ...]


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """What came of one rule: verdict, the reason where it is neither PASS nor FAIL, violations."""

    rule: Rule
    verdict: Verdict
    reason: str = ""
    violations: tuple[Violation, ...] = ()


@dataclass(frozen=True, slots=True)
class Named:
    """One name of one rule, compiled: which types it may have and which conditions must hold."""

    name: str
    alias: Alias
    is_type: Callable[[str, Asked], bool]
    conditions: Conditions
    holds: Holds  # all of the conditions
    steady: dict[Columns, tuple[bool, ...]]  # which conditions give one answer whatever they hold


@dataclass(frozen=True, slots=True)
class Plan:
    """A rule made ready for one profile."""

    rule: Rule
    names: tuple[Named, ...]
    make: Maker
    terms: Terms
    alike: dict[Columns, bool]  # whether the columns leave the slice alone
    excluded: Outcome | None = None  # where the profile rules it out
    unheard: Outcome | None = None  # what comes of it if no event concerns it, where that is fixed
    wakes_on_type: bool = False  # an event concerns it by its type alone


@dataclass(frozen=True, slots=True)
class Wake:
    """What one type of event means to one plan."""

    plan: int
    wakes_on_type: bool
    always: frozenset[str]
    conditional: tuple[Named, ...]
    combined: dict[tuple[bool, ...], frozenset[str]]


class RuleSet:
    """Rules compiled with a profile's knobs; `promises` are among them, by name."""

    def __init__(self, rules: Sequence[Rule], knobs: Mapping[str, Any]) -> None:
        self.knobs = knobs
        self.plans = tuple(_plan(rule, knobs) for rule in rules)
        self._wakes: dict[tuple[Layer, str], tuple[Wake, ...]] = {}

    def wakes(self, event: Event, asked: Asked) -> tuple[Wake, ...]:
        """Which plans an event may concern."""
        key = (event.layer, event.type)
        found = self._wakes.get(key)
        if found is None:
            found = tuple(self._wakes_for(event, asked))
            if len(self._wakes) < MOST_TYPES:
                self._wakes[key] = found
        return found

    def steady(self, named: Named, columns: Columns) -> tuple[bool, ...]:
        """Which of a name's conditions give the same answer whatever the columns hold."""
        found = named.steady.get(columns)
        if found is None:
            conditions = named.alias.conditions
            found = tuple(is_steady(p, pattern, columns, self.knobs) for p, pattern in conditions)
            named.steady[columns] = found
        return found

    def alike(self, plan: Plan, columns: Columns) -> bool:
        """Whether events that differ in the columns alone all belong to the same slices."""
        found = plan.alike.get(columns)
        if found is None:
            found = not any(is_related(path, columns) for path in plan.rule.slice)
            plan.alike[columns] = found
        return found

    def _wakes_for(self, event: Event, asked: Asked) -> list[Wake]:
        found: list[Wake] = []
        for position, plan in enumerate(self.plans):
            if plan.excluded is not None:
                continue
            named = [
                n
                for n in plan.names
                if n.alias.layer == event.layer and n.is_type(event.type, asked)
            ]
            if named:
                always = frozenset(n.name for n in named if not n.conditions)
                conditional = tuple(n for n in named if n.conditions)
                found.append(Wake(position, plan.wakes_on_type, always, conditional, {}))
        return found


def _plan(rule: Rule, knobs: Mapping[str, Any]) -> Plan:
    names = tuple(_named(name, alias, knobs) for name, alias in rule.aliases.items())
    make, excluded = maker(rule, knobs), profile_excludes(rule, knobs)
    return Plan(
        rule=rule,
        names=names,
        make=make,
        terms=terms(rule, knobs),
        alike={},
        excluded=Outcome(rule, Verdict.NOT_APPLICABLE, excluded) if excluded else None,
        unheard=_unheard(rule, make),
        wakes_on_type=make(_World(broken=False)).wakes_on_type,
    )


def _unheard(rule: Rule, make: Maker) -> Outcome | None:
    """The outcome of a rule that no event concerns; None if it hangs on anything else.

    A monitor is tried in the two worlds that differ most: a clean end of a stream on which every
    layer spoke, and a broken one on which none did.
    """
    worlds: tuple[tuple[Ending, _World], ...]
    worlds = (("eof", _World(broken=False)), ("reset", _World(broken=True)))
    for how, world in worlds:
        monitor = make(world)
        monitor.close(how)
        if monitor.wakes_on_all or monitor.verdict() is not Verdict.VACUOUS:
            return None
    return Outcome(rule, Verdict.VACUOUS, reason(monitor, Verdict.VACUOUS))


class _World:
    """An exchange in which nothing happens."""

    declared: frozenset[str] | None = None
    last = 0
    ms: float | None = None

    def __init__(self, *, broken: bool) -> None:
        self.broken = broken
        self.layers: set[Layer] = set() if broken else {"transport", "wire", "semantic"}

    def asked(self, path: str) -> Any:  # noqa: ARG002  # nothing was
        return MISSING

    def chosen(self, path: str) -> Any:  # noqa: ARG002  # nobody chose anything
        return MISSING

    def found(self, rule: Rule, violation: Violation) -> None:
        """The verdict tells."""

    def slicer(self, paths: tuple[str, ...]) -> Slicer:
        return Slicer(paths)


def _named(name: str, alias: Alias, knobs: Mapping[str, Any]) -> Named:
    conditions = tuple((getter(p), compile_value(v, knobs)) for p, v in alias.conditions)
    return Named(name, alias, _type_test(alias, knobs), conditions, _holds(conditions), {})


def _type_test(alias: Alias, knobs: Mapping[str, Any]) -> Callable[[str, Asked], bool]:
    if types := frozenset(alias.types):
        return lambda kind, _asked: kind in types
    test = compile_value(alias.type, knobs)
    return lambda kind, asked: test(kind, {}, asked)


def _holds(conditions: Conditions) -> Holds:
    """The test for all conditions together; nearly all names have one."""
    if len(conditions) == 1:
        ((get, test),) = conditions
        return lambda data, asked: test(get(data), data, asked)

    def holds(data: Mapping[str, Any], asked: Asked) -> bool:
        for get, test in conditions:  # noqa: SIM110  # a generator costs more than the test
            if not test(get(data), data, asked):
                return False
        return True

    return holds


def reason(monitor: Monitor[Any], verdict: Verdict) -> str:
    """Why a verdict is neither PASS nor FAIL."""
    if verdict is Verdict.ERROR:
        return monitor.error
    if verdict is Verdict.INCONCLUSIVE:
        return monitor.inconclusive
    if verdict is Verdict.VACUOUS:
        wanted = sorted({alias.describe() for alias in monitor.rule.aliases.values()})
        return f"never fired: no {' / '.join(wanted)}"
    return ""
