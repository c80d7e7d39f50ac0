"""Items of a live target, a server or a client: its run starts when the first of them runs.

There is an item for every rule that could judge a place, since results are not known before, and
one, `everything else`, for what has no item of its own: nothing that is found gets lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final

import pytest
from msgspec import Struct

from conformance.baseline.entries import Baseline
from conformance.core.errors import ConformanceError
from conformance.judging.result import Report, StreamResult
from conformance.pytest_plugin.collecting import SpecCollection
from conformance.pytest_plugin.items import SpecItem, exchange_outcome, stale_item
from conformance.pytest_plugin.verdicts import FileVerdicts, ItemOutcome, stale_entries

PlaceRules = Mapping[str, tuple[str, ...]]
"""Where something may be found, by name, and which rules could judge it."""

_ORDER: Final = ("failed", "xfailed", "skipped", "passed")


class LiveTarget(Struct, frozen=True):
    """How to ask, where something may be found, and the name of the place of a result.

    The report's errors are what kept a request from being answered.
    """

    run: Callable[[], Report]
    place_of: Callable[[StreamResult], str]
    places: PlaceRules
    line: int


class TargetRun:
    """One file run on one target, once in a process."""

    def __init__(
        self, collection: SpecCollection, target: LiveTarget, baseline: Baseline | None
    ) -> None:
        self.target = target
        self._collection, self._baseline = collection, baseline
        self._has_failed_item = False

    @cached_property
    def _judged_file(self) -> FileVerdicts | ConformanceError:
        try:
            report = self.target.run()
        except ConformanceError as err:
            return err
        return self._collection.file_verdicts(report, self._baseline)

    def verdicts(self) -> FileVerdicts | ItemOutcome:
        """What was judged; where nothing was, the first to ask fails and the others are skipped."""
        if isinstance(self._judged_file, FileVerdicts):
            return self._judged_file
        kind: Any = "skipped" if self._has_failed_item else "failed"
        self._has_failed_item = True
        return ItemOutcome(kind, "ERROR", str(self._judged_file))

    def stale_entries(self, *, is_shared: bool) -> tuple[str, ...] | ItemOutcome:
        """Entries of the baseline that no longer describe the run."""
        verdicts = self.verdicts()
        if isinstance(verdicts, ItemOutcome) or self._baseline is None:
            return verdicts if isinstance(verdicts, ItemOutcome) else ()
        return stale_entries(verdicts.report, self._baseline) if is_shared else verdicts.stale

    @cached_property
    def streams(self) -> Mapping[str, list[StreamResult]]:
        found: dict[str, list[StreamResult]] = {}
        for each in (
            self._judged_file.report.streams if isinstance(self._judged_file, FileVerdicts) else ()
        ):
            found.setdefault(self.target.place_of(each), []).append(each)
        return found


class PlaceNode(pytest.Collector):
    """One place: a step of a scenario, or a recording."""

    def __init__(self, *, run: TargetRun, **rest: Any) -> None:
        super().__init__(**rest)
        self.run = run

    def collect(self) -> Iterator[pytest.Item]:
        for rule in self.run.target.places[self.name]:
            yield PlaceRuleItem.from_parent(self, name=rule, run=self.run)


class LiveItem(SpecItem):
    """An item of a live target, whose run starts with the first of them."""

    def __init__(self, *, run: TargetRun, **rest: Any) -> None:
        super().__init__(**rest)
        self.run = run

    @property
    def line(self) -> int:  # type: ignore[override]  # of the file's key; thousands share it
        return self.run.target.line

    def judge(self) -> tuple[ItemOutcome, StreamResult | None]:
        verdicts = self.run.verdicts()
        if isinstance(verdicts, ItemOutcome):
            return verdicts, None
        return self.judge_run(verdicts)

    def judge_run(self, verdicts: FileVerdicts) -> tuple[ItemOutcome, StreamResult | None]:
        """Return the outcome, once the target has answered."""
        raise NotImplementedError


class PlaceRuleItem(LiveItem):
    parent: PlaceNode

    def judge_run(self, verdicts: FileVerdicts) -> tuple[ItemOutcome, StreamResult | None]:
        streams = self.run.streams.get(self.parent.name, [])
        judged = [each for each in streams if _is_judged_by(each, self.name)]
        return _worst_outcome(
            [(verdicts.outcome(each, self.name), each) for each in judged], streams
        )


class PlaceItem(LiveItem):
    """All rules of one place at once."""

    def judge_run(self, verdicts: FileVerdicts) -> tuple[ItemOutcome, StreamResult | None]:
        streams = self.run.streams.get(self.name, [])
        rules = self.run.target.places[self.name]
        found = [(exchange_outcome(verdicts, each, only=rules), each) for each in streams]
        return _worst_outcome(found, streams)


class RemainingItem(LiveItem):
    """Whatever has no item of its own: first and last requests, rules across places, silence."""

    def judge_run(self, verdicts: FileVerdicts) -> tuple[ItemOutcome, StreamResult | None]:
        if verdicts.report.errors:
            return ItemOutcome("failed", "ERROR", "; ".join(verdicts.report.errors)), None
        for place, streams in self.run.streams.items():
            for stream in streams:
                judged = self.run.target.places.get(place, ())
                outcome = exchange_outcome(verdicts, stream, but=judged)
                if outcome.kind == "failed":
                    return outcome, stream
        return ItemOutcome("passed", "PASS"), None


def target_nodes(
    collection: SpecCollection, target: LiveTarget
) -> Iterator[pytest.Item | pytest.Collector]:
    """A node for each place, and one for everything else."""
    file = collection.file
    if collection.config.pluginmanager.hasplugin("xdist"):
        file.add_marker(pytest.mark.xdist_group(f"conformance {file.path}"))
    baseline, shared = collection.expected_failures()
    run = TargetRun(collection, target, baseline)
    kind: Any = PlaceItem if collection.spec.items == "exchange" else PlaceNode
    for name in target.places:
        yield kind.from_parent(file, name=name, run=run)
    yield RemainingItem.from_parent(file, name="everything else", run=run)
    if baseline is not None:
        yield stale_item(file, partial(run.stale_entries, is_shared=shared is not None))


def _worst_outcome(
    found: Sequence[tuple[ItemOutcome, StreamResult]], streams: Sequence[StreamResult]
) -> tuple[ItemOutcome, StreamResult | None]:
    if found:
        return min(found, key=lambda pair: _ORDER.index(pair[0].kind))
    why = "NOT-APPLICABLE" if streams else "not run: the target or its profile leaves it out"
    return ItemOutcome("skipped", "NOT-APPLICABLE", why), None


def _is_judged_by(stream: StreamResult, rule: str) -> bool:
    """Whether a rule has anything to say of an exchange."""
    if any(finding.rule == rule for finding in stream.findings):
        return True
    return stream.verdicts.get(rule, "NOT-APPLICABLE") != "NOT-APPLICABLE"
