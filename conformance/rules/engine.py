"""The interpreted engine: events in, verdicts and violations out. It is the oracle.

A `Judge` watches one exchange: it wakes the monitors that name an event's type, tells them when a
frame is complete, and collects verdicts at the end. Faster engines must agree with it.

Rule 1: a monitor is made when the first event concerns it; that none ever did has an outcome of
its own, worked out once (`plans`).
Rule 2: a monitor that fails, by a cap or by a fault of ours, ends with ERROR; the others go on.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final

from conformance.core.events import Ending, Event, Layer
from conformance.rules.applies import Evidence
from conformance.rules.model import Compare, Rule
from conformance.rules.monitors.base import CapReachedError, Monitor, Slicer, Violation
from conformance.rules.monitors.gather import GatherMonitor
from conformance.rules.plans import Columns, Outcome, Plan, RuleSet, Wake, reason
from conformance.rules.repetition import is_related
from conformance.rules.verdicts import Verdict

OVERFLOW: Final = ".overflow"  # a dialect's wire event: it gives no semantic events from here on

Reading = tuple[Monitor[Any], frozenset[str]]  # a monitor, and its names for an event


class Judge:
    """Watches one exchange. Feed it every event in order; call `settle` after each frame."""

    def __init__(self, rules: RuleSet, evidence: Evidence) -> None:
        self.rules = rules
        self.evidence = evidence
        self.broken = False
        self.overflow = False
        self.layers: set[Layer] = set()
        self.declared = evidence.declared
        self.last = 0
        self.ms: float | None = None
        self.fresh: list[tuple[Rule, Violation]] = []
        self._monitors: list[Monitor[Any] | None] = []
        self._silent: list[bool] = []
        self._all: list[Monitor[Any]] = []
        self._woken: list[Monitor[Any]] = []
        self._slicers: dict[tuple[str, ...], Slicer] = {}
        self._start()

    def _start(self) -> None:
        """Makes the monitors that cannot wait for an event of theirs."""
        for plan in self.rules.plans:
            silent = plan.excluded is not None or plan.terms.excludes_early(self.evidence)
            monitor = None if silent or plan.unheard is not None else plan.make(self)
            self._silent.append(silent)
            self._monitors.append(monitor)
            if monitor is not None and monitor.wakes_on_all:
                self._all.append(monitor)

    def _made(self, position: int) -> Monitor[Any]:
        """The monitor of a plan that an event concerns for the first time."""
        monitor = self._monitors[position] = self.rules.plans[position].make(self)
        return monitor

    def asked(self, path: str) -> Any:
        """Value of a request path, or of the response's echo of it, or MISSING."""
        return self.evidence.asked(path)

    def chosen(self, path: str) -> Any:
        """Value of what the user of a client chose, or MISSING."""
        return self.evidence.chosen(path)

    def found(self, rule: Rule, violation: Violation) -> None:
        """A monitor tells of a violation; whoever drives the judge takes it from `fresh`."""
        self.fresh.append((rule, violation))

    def slicer(self, paths: tuple[str, ...]) -> Slicer:
        """The one that all rules with these slice fields share."""
        found = self._slicers.get(paths)
        if found is None:
            found = self._slicers[paths] = Slicer(paths)
        return found

    def read(self, event: Event) -> None:
        """Hands an event to every monitor that names it."""
        self.last = event.number
        self.layers.add(event.layer)
        if event.type == "error" and event.layer == "semantic":
            self.broken = True
        elif event.type.endswith(OVERFLOW) and event.layer == "wire":
            self.overflow = True
        for monitor in self._all:
            self._step(monitor, event, frozenset())
        for wake in self.rules.wakes(event, self):
            woken = self._monitors[wake.plan]
            if not (self._silent[wake.plan] if woken is None else woken.error):
                self._hear(woken, wake, event)

    def _hear(self, woken: Monitor[Any] | None, wake: Wake, event: Event) -> None:
        """Hands an event to a monitor, which is made now if this is the first for it."""
        try:
            names = self._names(wake, event) if wake.conditional else wake.always
            if not names and not (wake if woken is None else woken).wakes_on_type:
                return
            woken = self._made(wake.plan) if woken is None else woken
            woken.step(event, names)
        except Exception as err:  # noqa: BLE001  # one rule must not take the others along
            woken = self._made(wake.plan) if woken is None else woken
            _fail(woken, err)
        if woken.settles:
            self._woken.append(woken)

    def _names(self, wake: Wake, event: Event) -> frozenset[str]:
        """The names of a rule that hold for an event; a value may nest too deep to be compared."""
        held = tuple([named.holds(event.data, self) for named in wake.conditional])
        names = wake.combined.get(held)
        if names is None:
            more = (n.name for n, yes in zip(wake.conditional, held, strict=True) if yes)
            names = wake.combined[held] = wake.always | frozenset(more)
        return names

    def _step(self, monitor: Monitor[Any], event: Event, names: frozenset[str]) -> None:
        if monitor.error:
            return
        try:
            monitor.step(event, names)
        except Exception as err:  # noqa: BLE001  # one rule must not take the others along
            _fail(monitor, err)
        if monitor.settles:
            self._woken.append(monitor)

    def readers(self, event: Event, columns: Collection[str]) -> list[Reading] | None:
        """Who reads more such events, if all of them are still for the columns; else None.

        To be asked once the event itself has been read and its frame has settled.
        """
        found: list[Reading] = []
        places = tuple(columns)
        for monitor in self._all:
            if monitor.error:
                continue
            slices = monitor.rule.slice
            related = any(is_related(path, places) for path in slices)
            if related or not monitor.still(event, frozenset(), places):
                return None
            found.append((monitor, frozenset()))
        for wake in self.rules.wakes(event, self):
            woken = self._monitors[wake.plan]
            if self._silent[wake.plan] if woken is None else woken.error:
                continue
            names = self._steady_names(wake, event, places)
            if names is None:
                return None
            if names or (wake if woken is None else woken).wakes_on_type:
                alike = self.rules.alike(self.rules.plans[wake.plan], places)
                if woken is None or not alike or not woken.still(event, names, places):
                    return None
                if woken.cost(event) and not woken.spreads:
                    return None
                found.append((woken, names))
        return found

    def _steady_names(self, wake: Wake, event: Event, columns: Columns) -> frozenset[str] | None:
        """The names that hold whatever the columns are; None where that is unclear."""
        held = set(wake.always)
        for named in wake.conditional:
            unclear = False
            steady = self.rules.steady(named, columns)
            for is_steady, (get, test) in zip(steady, named.conditions, strict=True):
                if not is_steady:
                    unclear = True
                elif not test(get(event.data), event.data, self):
                    break  # one condition that never holds settles it
            else:
                if unclear:
                    return None
                held.add(named.name)
        return _shared(frozenset(held))

    def settle(self) -> None:
        """The frame is complete: bounds are judged now."""
        for monitor in self._woken:
            try:
                monitor.settle()
            except Exception as err:  # noqa: BLE001  # as in _step
                _fail(monitor, err)
        self._woken.clear()

    def gathered(self) -> list[tuple[Rule, GatherMonitor]]:
        """What this exchange brings to rules that compare exchanges; ask after `close`."""
        return [(m.rule, m) for m in self._monitors if isinstance(m, GatherMonitor)]

    def close(self, how: Ending) -> tuple[Outcome, ...]:
        """Ends the exchange; one outcome per rule, in the order of the rule set."""
        self.settle()
        outcomes: list[Outcome] = []
        for position, plan in enumerate(self.rules.plans):
            monitor = self._monitors[position]
            if monitor is not None and not monitor.error:
                try:
                    monitor.close(how)
                except Exception as err:  # noqa: BLE001  # as in _step
                    _fail(monitor, err)
            outcomes.append(self._outcome(position, plan, monitor))
        return tuple(outcomes)

    def _outcome(self, position: int, plan: Plan, monitor: Monitor[Any] | None) -> Outcome:
        rule = plan.rule
        if plan.excluded is not None:
            return plan.excluded
        refused = plan.terms.refuses(self.evidence)
        if refused is not None:
            return Outcome(rule, *refused)
        if self._silent[position] or isinstance(rule.form, Compare):
            return Outcome(rule, Verdict.NOT_APPLICABLE, "it is judged over several exchanges")
        if self.overflow and any(n.alias.layer == "semantic" for n in plan.names):
            return Outcome(rule, Verdict.ERROR, "the stream opens more than its dialect follows")
        if monitor is None:
            assert plan.unheard is not None
            return plan.unheard
        verdict = monitor.verdict()
        violations = tuple(monitor.violations) if verdict is Verdict.FAIL else ()
        return Outcome(rule, verdict, reason(monitor, verdict), violations)


@lru_cache(maxsize=4096)
def _shared(names: frozenset[str]) -> frozenset[str]:
    """One set for all that hold the same names: thousands of streams may be under way."""
    return names


def _fail(monitor: Monitor[Any], err: Exception) -> None:
    """Ends a monitor with ERROR: it met a cap, or a fault of ours."""
    prefix = "" if isinstance(err, CapReachedError) else f"internal: {type(err).__name__}: "
    monitor.error = f"{prefix}{err}"
    monitor.slices.clear()  # it is asked nothing more, and a cap is there to bound memory
