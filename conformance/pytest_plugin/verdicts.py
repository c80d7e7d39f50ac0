"""What a verdict means for a test run: fails, is expected to fail, passes, or is only reported.

Rule 1: what fails here is what makes `conformance check` exit 1, no more and no less; a rule is a
gap only if nothing in the whole file exercises it.
Rule 2: nothing looks green that was not: a violated SHOULD, a VACUOUS and an UNTESTABLE rule are
reported as skipped, with their reason.
Rule 3: one baseline may serve all files of a run (`--conformance-expected-failures`). An entry
describes an exchange of one file and says nothing of the others, so what is stale is reported once,
for all files together. It holds for the targets of this run only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import pytest
from msgspec import Struct, field
from msgspec.structs import replace

from conformance.baseline.addresses import report_subjects
from conformance.baseline.applying import apply_baseline
from conformance.baseline.entries import Baseline, load_baseline
from conformance.core.excerpts import redacted
from conformance.judging.result import Finding, Report, StreamResult, merge_reports, silenced_rules
from conformance.pytest_plugin.options import display_path, option_value
from conformance.report.printable import Paint
from conformance.report.redacted import redact_report
from conformance.report.text import TextPage, finding_block
from conformance.report.wording import finding_place, finding_sentence
from conformance.rules.verdicts import GAPS, Level, Verdict

UNCLEAR: Final = GAPS | {Verdict.INCONCLUSIVE}
_BAD: Final = frozenset({Verdict.FAIL, Verdict.ERROR})
_BINDING: Final = frozenset({Level.MUST})
_STRICT: Final = frozenset({Level.MUST, Level.SHOULD})


class ItemOutcome(Struct, frozen=True):
    """The outcome of one item: `why` is one line, `findings` are shown in full if it fails."""

    kind: Literal["passed", "failed", "xfailed", "skipped"]
    word: str
    why: str = ""
    findings: tuple[Finding, ...] = ()


@dataclass
class FileVerdicts:
    """Everything that was judged for one file, and how strictly."""

    report: Report
    strict: bool = False
    require_exercised: bool = False
    baseline: Baseline | None = None

    def __post_init__(self) -> None:
        if self.baseline is not None:
            self.report = apply_baseline(self.report, self.baseline)

    @cached_property
    def _verdicts(self) -> Mapping[str, Verdict]:
        return self.report.verdicts

    @cached_property
    def _found_rules(self) -> frozenset[tuple[str, str]]:
        """Files and their rules with findings: a scenario's is broken in another exchange."""
        return frozenset((s.file, f.rule) for s in self.report.streams for f in s.findings)

    def rules(self, stream: StreamResult) -> Iterator[str]:
        """Rules with something to report on this exchange, in their order."""
        found = {finding.rule for finding in stream.findings}
        silenced = silenced_rules(stream)
        for rule, verdict in stream.verdicts.items():
            if rule in silenced:
                is_reported = True
            elif verdict is Verdict.FAIL:
                is_reported = rule in found or (stream.file, rule) not in self._found_rules
            else:
                is_reported = rule in found or verdict is not Verdict.NOT_APPLICABLE
            if is_reported:
                yield rule
        yield from sorted(found - stream.verdicts.keys())

    def passes(self, stream: StreamResult) -> bool:
        """Whether nothing but passing has to be reported of an exchange; quick, for thousands."""
        verdicts = set(stream.verdicts.values())
        if stream.findings or Verdict.PASS not in verdicts or silenced_rules(stream):
            return False
        return verdicts.isdisjoint(_BAD | UNCLEAR if self.require_exercised else _BAD)

    def outcome(self, stream: StreamResult, rule: str) -> ItemOutcome:
        found = tuple(finding for finding in stream.findings if finding.rule == rule)
        verdict = stream.verdicts.get(rule, Verdict.FAIL)
        if verdict is Verdict.ERROR or found or verdict is Verdict.FAIL:
            return self._violation(stream, rule, verdict, found)
        silenced = silenced_rules(stream).get(rule)
        if silenced is not None:
            why = f"{verdict} {rule}: silenced by {redacted(silenced)}"
            if self.require_exercised:
                return ItemOutcome("failed", verdict, f"{why} (--conformance-require-exercised)")
            return ItemOutcome("skipped", verdict, why)
        if verdict is Verdict.PASS:
            return ItemOutcome("passed", verdict)
        reason = redacted(stream.reasons.get(rule, ""))
        why = f"{verdict} {rule}: {reason}" if reason else f"{verdict} {rule}"
        if self.require_exercised and self._verdicts[rule] in UNCLEAR and verdict in UNCLEAR:
            return ItemOutcome("failed", verdict, f"{why} (--conformance-require-exercised)")
        return ItemOutcome("skipped", verdict, why)

    def _violation(
        self, stream: StreamResult, rule: str, verdict: Verdict, found: Sequence[Finding]
    ) -> ItemOutcome:
        if not found:
            reason = redacted(stream.reasons.get(rule, ""))
            return ItemOutcome("failed", verdict, f"{verdict} {rule}: {reason}")
        excused = [excuse for f in found if (excuse := self.report.excuse(stream, f))]
        if verdict is not Verdict.ERROR and len(excused) == len(found):
            first = excused[0]
            return ItemOutcome("xfailed", "XFAIL", f"{rule}: {first.reason} ({first.entry})")
        fresh = tuple(f for f in found if self.report.excuse(stream, f) is None) or tuple(found)
        level = min((f.level for f in fresh), key=list(Level).index)
        why = f"{verdict} {level} {rule}: {_finding_line(stream, fresh[0])}"
        binding = _STRICT if self.strict else _BINDING
        if verdict is Verdict.ERROR or self.baseline is not None or level in binding:
            return ItemOutcome("failed", verdict, why, fresh)
        return ItemOutcome("skipped", level, why, fresh)

    @property
    def stale(self) -> tuple[str, ...]:
        """Entries of the baseline that no longer describe the run."""
        return self.report.baseline.stale if self.report.baseline else ()


def finding_lines(
    stream: StreamResult, findings: Sequence[Finding], *, colour: bool
) -> Iterator[str]:
    """Findings of one exchange in full, for people, without secrets."""
    page = TextPage(Paint(colour))
    for finding in _clean_findings(stream, findings):
        yield from finding_block(page, stream, finding)


def _finding_line(stream: StreamResult, finding: Finding) -> str:
    (clean,) = _clean_findings(stream, [finding])
    return f"{finding_place(stream.file, finding)}: {finding_sentence(clean)}"


def _clean_findings(stream: StreamResult, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    only = replace(stream, verdicts={}, reasons={}, events=(), notes=(), findings=tuple(findings))
    (clean,) = redact_report(Report((only,))).streams
    return clean.findings


class SharedBaseline(Struct, frozen=True):
    """The baseline, and everything that was judged under it while files were collected."""

    baseline: Baseline
    reports: list[Report] = field(default_factory=list)

    def stale_entries(self) -> tuple[str, ...]:
        """Entries that no longer describe the run, one line each."""
        return stale_entries(merge_reports(self.reports), self.baseline)


_SHARED_BASELINE: Final[pytest.StashKey[SharedBaseline]] = pytest.StashKey()


def shared_baseline(config: pytest.Config) -> SharedBaseline | None:
    """The baseline of the run; None where none is named. Raises ConformanceError."""
    named = option_value(config, "expected-failures")
    if not named:
        return None
    if _SHARED_BASELINE not in config.stash:
        # A path in the configuration file means the same wherever pytest is started.
        given = config.getoption("conformance_expected_failures")
        base = config.invocation_params.dir if given else config.rootpath
        config.stash[_SHARED_BASELINE] = SharedBaseline(
            load_baseline(display_path(base / named, config))
        )
    return config.stash[_SHARED_BASELINE]


def pending_baseline(config: pytest.Config) -> SharedBaseline | None:
    """The baseline of the run, if files were judged under it."""
    shared = config.stash.get(_SHARED_BASELINE, None)
    return shared if shared and shared.reports else None


def stale_entries(report: Report, baseline: Baseline) -> tuple[str, ...]:
    """Stale entries of a baseline that other files share."""
    checked = {subject.target for subject in report_subjects(report, baseline.target)}
    concerned = tuple(entry for entry in baseline.entries if entry.target in checked)
    applied = apply_baseline(report, replace(baseline, entries=concerned)).baseline
    return applied.stale if applied else ()
