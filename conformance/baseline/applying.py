"""What a baseline says of a run: which violations were expected, which entries are stale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.baseline.addresses import ExchangeSubject, report_subjects
from conformance.baseline.entries import Baseline, BaselineEntry, fits
from conformance.judging.group_id import group_id
from conformance.judging.ledger import Ledger
from conformance.judging.result import (
    AppliedBaseline,
    FindingExcuse,
    FindingKey,
    Report,
    StreamResult,
    finding_key,
)
from conformance.judging.suites import shipped_suites
from conformance.rules.node import nearest
from conformance.rules.verdicts import Verdict

# Other verdicts that an intermittent violation may have; the rest do not depend on chance.
_CHANCE: Final = frozenset({Verdict.PASS, Verdict.VACUOUS, Verdict.INCONCLUSIVE})

# Verdicts that may come along with a PASS if an entry was repaired; others leave it open.
_REPAIRED: Final = frozenset({Verdict.PASS, Verdict.VACUOUS, Verdict.NOT_APPLICABLE})
_NOTHING_FITS: Final = "fits no violation now: take the entry out"


def apply_baseline(report: Report, baseline: Baseline, *, today: date | None = None) -> Report:
    """The report with what the baseline says of it. `today` is in UTC unless it is given."""
    run = RunIndex.of(report, baseline.target)
    day = today or datetime.now(UTC).date()
    excuses: dict[FindingKey, FindingExcuse] = {}
    stale: list[str] = []
    by_fault: dict[tuple[str, str], list[str]] = {}
    repaired = tuple(
        f"{each.place}: {each.rule} in {each.target} {each.exchange}"
        for each in baseline.entries
        if run.is_repaired(each)
    )
    for entry in baseline.entries:
        wrong = list(run.wrong(entry))
        if entry.until is not None and entry.until < day:
            wrong.insert(0, f"was expected until {entry.until} only")
        head = f"{entry.place}: {entry.rule} in {entry.target} {entry.exchange}"
        for why in wrong:
            stale.append(f"{head} {why}")
            by_fault.setdefault((entry.rule, why), []).append(stale[-1])
        if not wrong:
            excuses.update(run.excused(entry))
    groups = tuple(
        f"{first} (and {len(others)} more like it)" if others else first
        for first, *others in by_fault.values()
    )
    applied = AppliedBaseline(baseline.file, excuses, tuple(stale), groups, repaired)
    streams = tuple(_with_remarks(stream, excuses) for stream in report.streams)
    return replace(report, streams=streams, baseline=applied)


def _with_remarks(
    stream: StreamResult, excuses: Mapping[FindingKey, FindingExcuse]
) -> StreamResult:
    """The result, whose ledger says which violations were expected."""
    expected = {
        found.rule: excuses[at]
        for found in stream.findings
        if (at := finding_key(stream, found)) in excuses
    }
    ledger = Ledger(stream)
    for rule, excuse in expected.items():
        ledger.remark(rule, f"expected, {excuse.reason} ({excuse.entry})", "baseline")
    return ledger.result() if expected else stream


class RunIndex(Struct, frozen=True):
    """The exchanges of a run by target and name, and the rules that judged them."""

    index: Mapping[tuple[str, str], Sequence[ExchangeSubject]]
    rules: frozenset[str]

    @classmethod
    def of(cls, report: Report, target: str) -> RunIndex:
        index: dict[tuple[str, str], list[ExchangeSubject]] = {}
        for subject in report_subjects(report, target):
            for name in subject.names:
                index.setdefault((subject.target, name), []).append(subject)
        rules = (rule for stream in report.streams for rule in stream.verdicts)
        return cls(index, frozenset(rules))

    def wrong(self, entry: BaselineEntry) -> Iterator[str]:
        """Why the entry does not describe the run; nothing where it does. Dates do not count."""
        if entry.is_pattern:
            if not (any(self.excused(entry)) or self._passes_by_chance(entry)):
                yield _NOTHING_FITS
            return
        named = self.index.get((entry.target, entry.exchange), ())
        if not named or entry.rule not in self.rules:
            yield self._dead_entry(entry)
        for subject in named if entry.rule in self.rules else ():
            why = _entry_fault(entry, subject)
            if why:
                yield f"{why} ({subject.file})" if len(named) > 1 else why

    def _dead_entry(self, entry: BaselineEntry) -> str:
        targets = {target for target, _ in self.index}
        if entry.rule not in self.rules:
            return _no_rule(entry.rule, self.rules)
        if entry.target not in targets:
            return _unknown_name("names a target that was not checked", entry.target, targets)
        names = {name for target, name in self.index if target == entry.target}
        return _unknown_name("names an exchange that was not checked", entry.exchange, names)

    def excused(self, entry: BaselineEntry) -> Iterator[tuple[FindingKey, FindingExcuse]]:
        excuse = FindingExcuse(entry.reason, str(entry.place))
        for subject in self._entry_subjects(entry):
            for rule in self._entry_rules(entry):
                for view, finding in subject.findings(rule):
                    if entry.finding in ("", finding.id, group_id(finding)):
                        yield finding_key(view, finding), excuse

    def is_repaired(self, entry: BaselineEntry) -> bool:
        """Whether what the entry expects was judged, and passes now."""
        judged = {
            verdict
            for subject in self._entry_subjects(entry)
            for rule in self._entry_rules(entry)
            if (verdict := subject.verdict(rule)) is not None
        }
        return not entry.flaky and Verdict.PASS in judged and judged <= _REPAIRED

    def _passes_by_chance(self, entry: BaselineEntry) -> bool:
        return bool(entry.flaky and any(self._entry_subjects(entry)) and self._entry_rules(entry))

    def _entry_subjects(self, entry: BaselineEntry) -> list[ExchangeSubject]:
        """The exchanges that the entry names or fits, each once."""
        if not entry.is_pattern:
            return list(self.index.get((entry.target, entry.exchange), ()))
        found = {
            (subject.file, subject.exchange): subject
            for (target, name), subjects in self.index.items()
            if fits(entry.target, target) and fits(entry.exchange, name)
            for subject in subjects
        }
        return list(found.values())

    def _entry_rules(self, entry: BaselineEntry) -> list[str]:
        if not entry.is_pattern:
            return [entry.rule]
        return [rule for rule in sorted(self.rules) if fits(entry.rule, rule)]


def _entry_fault(entry: BaselineEntry, subject: ExchangeSubject) -> str:
    verdict = subject.verdict(entry.rule)
    if verdict is None:
        return "is no rule for that dialect"
    if entry.flaky and verdict in _CHANCE:
        return ""
    if verdict is not Verdict.FAIL:
        return "passes now: take the entry out" if verdict is Verdict.PASS else f"is {verdict} now"
    found = [finding for _, finding in subject.findings(entry.rule)]
    if entry.finding and not any(entry.finding in (f.id, group_id(f)) for f in found):
        came = ", ".join(sorted({finding.id for finding in found})[:3])
        return f"has another finding now: {entry.finding} was expected, {came} came"
    return ""


def _no_rule(rule: str, judged: frozenset[str]) -> str:
    shipped = {each.id for suite in shipped_suites() for each in suite.rules}
    if rule in shipped:
        return "names a rule that was not selected, or that judges no dialect of this run"
    return _unknown_name("names a rule that does not exist", rule, shipped | judged)


def _unknown_name(what: str, name: str, known: frozenset[str] | set[str]) -> str:
    near = nearest(name, known)
    return f"{what} ({near})" if near else what
