"""What a soak keeps of its answers while it goes on: merged results, counts, latencies.

Rule 1: memory hangs on how many kinds of answers and findings there are, not on how many answers.
Rule 2: the first stream that has just these groups of findings is kept as it is, so that it shows
which of them follow which; all others of one step of a scenario are one result, which says how
many they are and how many have which group.
Rule 3: a latency is counted in steps of one percent.
"""

from __future__ import annotations

from collections import Counter
from math import ceil, log
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.judging.group_id import group_id
from conformance.judging.result import MergedStreams, StreamResult
from conformance.judging.soak_figures import Latency, SoakFailure
from conformance.rules.verdicts import Verdict, combine

_FIRED: Final = frozenset({Verdict.PASS, Verdict.FAIL, Verdict.ERROR})
_MOST_KEPT: Final = 200  # streams of one step
_MOST_NOTES: Final = 50  # different ones of one step
_MOST_KINDS: Final = 1000  # of failures
_STEP: Final = log(1.01)
_LEAST: Final = 1e-3  # milliseconds

StepKey = tuple[str, str, str, str, str]  # dialect, scenario, role, hop, view


class LatencyHistogram:
    """Latencies, each within half a percent of what it was."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def add(self, ms: float) -> None:
        self._counts[round(log(max(ms, _LEAST)) / _STEP)] += 1

    def latency(self) -> Latency | None:
        """The median and the 99th percentile (nearest rank); None where nothing was added."""
        if not self._counts:
            return None
        return Latency(self._counts.total(), self._quantile(0.5), self._quantile(0.99))

    def _quantile(self, share: float) -> float:
        left = ceil(share * self._counts.total())
        for step in sorted(self._counts):
            left -= self._counts[step]
            if left <= 0:
                break
        return round(1.01**step, 3)


class FailureCount:
    """How many answers failed in which way."""

    def __init__(self) -> None:
        self._kinds: Counter[str] = Counter()

    def add(self, kind: str) -> None:
        is_known = kind in self._kinds or len(self._kinds) < _MOST_KINDS
        self._kinds[kind if is_known else "other"] += 1

    def failures(self) -> tuple[SoakFailure, ...]:
        return tuple(SoakFailure(*each) for each in self._kinds.most_common())


class _StepResults(Struct):
    """The results of one step: the first one, streams that are kept, and sums over the rest."""

    first: StreamResult
    kept: list[StreamResult] = field(default_factory=list)
    groups: set[str] = field(default_factory=set)
    together: set[frozenset[str]] = field(default_factory=set)
    streams: int = 0
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    judged: Counter[str] = field(default_factory=Counter)
    having: Counter[str] = field(default_factory=Counter)
    notes: dict[str, None] = field(default_factory=dict)

    def add(self, result: StreamResult) -> bool:
        """Takes a result; whether it is kept as it is."""
        groups = frozenset(group_id(finding) for finding in result.findings)
        if groups and groups not in self.together and len(self.kept) < _MOST_KEPT:
            self.groups |= groups
            self.together.add(groups)
            self.kept.append(result)
            return True
        self.streams += 1
        self.having.update(groups)
        known = {finding.rule for finding in result.findings} if groups <= self.groups else set()
        for rule, verdict in result.verdicts.items():
            if verdict in _FIRED:
                self.judged[rule] += 1
            # A violation is in the stream that was kept, with its finding.
            if rule not in known:
                self._merge(rule, verdict, result.reasons.get(rule, ""))
        for note in result.notes:
            if len(self.notes) < _MOST_NOTES:
                self.notes[note] = None
        return False

    def _merge(self, rule: str, verdict: Verdict, reason: str) -> None:
        merged = combine([verdict, self.verdicts.get(rule, verdict)])
        if merged is not self.verdicts.get(rule):
            self.verdicts[rule] = merged
            self.reasons.pop(rule, None)
            if reason:
                self.reasons[rule] = reason

    def merged(self) -> StreamResult:
        first = self.first
        return replace(
            first,
            file=f"{first.dialect}/{first.scenario}",
            verdicts=dict(self.verdicts),
            reasons=dict(self.reasons),
            findings=(),
            changes=(),
            notes=tuple(self.notes),
            merged=MergedStreams(self.streams, dict(self.judged), dict(self.having)),
            error=None,
        )


class ResultMerger:
    """Results of streams as they come, merged by step."""

    def __init__(self) -> None:
        self._steps: dict[StepKey, _StepResults] = {}

    def add(self, result: StreamResult) -> bool:
        """Takes the result of a step of a scenario; whether it is kept as it is."""
        key = (result.dialect, result.scenario, result.role, result.hop, result.view)
        return self._steps.setdefault(key, _StepResults(result)).add(result)

    def results(self, dialect: str) -> list[StreamResult]:
        """Of one API: streams that were kept, and for each step all others as one."""
        found: list[StreamResult] = []
        for key, step in self._steps.items():
            if key[0] == dialect:
                found += [*step.kept, *([step.merged()] if step.streams else [])]
        return found
