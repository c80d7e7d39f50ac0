"""Items of a target that has to be asked, a server or a client: when the first of them runs.

There is an item for every rule that could judge a place, since nobody knows before what will come
of it, and one, `everything else`, for what has no item of its own: nothing that is found gets lost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.baseline import Baseline
from conformance.core.errors import ConformanceError
from conformance.judging.result import Report, StreamResult
from conformance.pytest_plugin.collecting import Collecting
from conformance.pytest_plugin.items import SpecItem, stale_item, whole
from conformance.pytest_plugin.shared import stale_in
from conformance.pytest_plugin.verdicts import Account, Told

Places = Mapping[str, tuple[str, ...]]
"""Where something may be found, by name, and which rules could judge it."""

_ORDER: Final = ("failed", "xfailed", "skipped", "passed")


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking; `unanswered` are requests that nobody answered, one line each."""

    report: Report
    unanswered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """How to ask, and the name of the place where a result belongs."""

    ask: Callable[[], Asked]
    place_of: Callable[[StreamResult], str]
    line: int


class Run:
    """One file asked of one target, once in a process."""

    def __init__(self, origin: Collecting, target: Target, baseline: Baseline | None) -> None:
        self._origin, self._target, self._baseline = origin, target, baseline
        self.line = target.line
        self._is_told = False

    @cached_property
    def _asked(self) -> Asked | ConformanceError:
        try:
            return self._target.ask()
        except ConformanceError as err:
            return err

    @cached_property
    def _account(self) -> Account:
        assert isinstance(self._asked, Asked)
        return self._origin.account(self._asked.report, self._baseline)

    def account(self) -> Account | Told:
        """What was judged; where nothing was, the first to ask fails and the others are skipped."""
        if not isinstance(self._asked, ConformanceError):
            return self._account
        is_told, self._is_told = self._is_told, True
        return Told("skipped" if is_told else "failed", "ERROR", str(self._asked))

    def stale(self, *, is_shared: bool) -> tuple[str, ...] | Told:
        """Entries of the baseline that no longer describe the run."""
        account = self.account()
        if isinstance(account, Told) or self._baseline is None:
            return account if isinstance(account, Told) else ()
        return stale_in(account.report, self._baseline) if is_shared else account.stale

    @property
    def unanswered(self) -> tuple[str, ...]:
        return self._asked.unanswered if isinstance(self._asked, Asked) else ()

    @cached_property
    def streams(self) -> Mapping[str, list[StreamResult]]:
        """What was judged, by its place."""
        found: dict[str, list[StreamResult]] = {}
        for each in self._account.report.streams:
            found.setdefault(self._target.place_of(each), []).append(each)
        return found


class PlaceNode(pytest.Collector):
    """One place: a step of a scenario, or a recording."""

    def __init__(self, *, run: Run, rules: tuple[str, ...], **rest: Any) -> None:
        super().__init__(**rest)
        self.run, self.rules = run, rules

    def collect(self) -> Iterator[pytest.Item]:
        for rule in self.rules:
            yield PlaceItem.from_parent(self, name=rule)


class PlaceItem(SpecItem):
    """One rule in one place."""

    parent: PlaceNode

    @property
    def line(self) -> int:  # type: ignore[override]  # of the file's key; thousands share it
        return self.parent.run.line

    def judge(self) -> tuple[Told, StreamResult | None]:
        account = self.parent.run.account()
        if isinstance(account, Told):
            return account, None
        streams = self.parent.run.streams.get(self.parent.name, [])
        rule = self.name
        told = [(account.told(each, rule), each) for each in streams if _speaks(each, rule)]
        if not told:
            return Told("skipped", "NOT-APPLICABLE", _silent(streams)), None
        return _worst(told)


class WholePlace(SpecItem):
    """All rules of one place at once."""

    def __init__(self, *, run: Run, rules: tuple[str, ...], **rest: Any) -> None:
        super().__init__(**rest)
        self._run, self._rules, self.line = run, rules, run.line

    def judge(self) -> tuple[Told, StreamResult | None]:
        account = self._run.account()
        if isinstance(account, Told):
            return account, None
        streams = self._run.streams.get(self.name, [])
        told = [(whole(account, each, only=self._rules), each) for each in streams]
        if not told:
            return Told("skipped", "NOT-APPLICABLE", _silent(streams)), None
        return _worst(told)


class RestItem(SpecItem):
    """Whatever has no item of its own: first and last requests, rules across places, silence."""

    def __init__(self, *, run: Run, places: Places, **rest: Any) -> None:
        super().__init__(**rest)
        self._run, self._places, self.line = run, places, run.line

    def judge(self) -> tuple[Told, StreamResult | None]:
        account = self._run.account()
        if isinstance(account, Told):
            return account, None
        silent = (*self._run.unanswered, *account.report.errors)
        if silent:
            return Told("failed", "ERROR", "; ".join(silent)), None
        for place, streams in self._run.streams.items():
            for stream in streams:
                told = whole(account, stream, but=self._places.get(place, ()))
                if told.outcome == "failed":
                    return told, stream
        return Told("passed", "PASS"), None


def nodes(
    origin: Collecting, target: Target, places: Places
) -> Iterator[pytest.Item | pytest.Collector]:
    """A node for each place, and what else there is to tell."""
    file = origin.file
    if origin.config.pluginmanager.hasplugin("xdist"):
        file.add_marker(pytest.mark.xdist_group(f"conformance {file.path}"))
    baseline, ledger = origin.known()
    run = Run(origin, target, baseline)
    kind: Any = WholePlace if origin.spec.items == "exchange" else PlaceNode
    for name, rules in places.items():
        yield kind.from_parent(file, name=name, run=run, rules=rules)
    yield RestItem.from_parent(file, name="everything else", run=run, places=places)
    if baseline is not None:
        yield stale_item(file, partial(run.stale, is_shared=ledger is not None))


def kept(origin: Collecting) -> Path | None:
    """Where recordings of a run are kept, so that findings have a line to point at; or nowhere."""
    cache = getattr(origin.config, "cache", None)
    if cache is None:
        return None
    name = origin.file.path.name.partition(".")[0]
    return Path(cache.mkdir("conformance")) / name / os.environ.get("PYTEST_XDIST_WORKER", "")


def _worst(told: Sequence[tuple[Told, StreamResult]]) -> tuple[Told, StreamResult]:
    return min(told, key=lambda pair: _ORDER.index(pair[0].outcome))


def _speaks(stream: StreamResult, rule: str) -> bool:
    """Whether a rule has anything to say of an exchange."""
    if any(finding.rule == rule for finding in stream.findings):
        return True
    return stream.verdicts.get(rule, "NOT-APPLICABLE") != "NOT-APPLICABLE"


def _silent(streams: list[StreamResult]) -> str:
    return "NOT-APPLICABLE" if streams else "not run: the target or its profile leaves it out"
