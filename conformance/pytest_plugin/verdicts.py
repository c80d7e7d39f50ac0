"""What a verdict means for a test run: fails, is expected to fail, passes, or is told aside.

Rule 1: what fails here is what makes `conformance check` exit 1, no more and no less; a rule is a
gap only if nothing in the whole file exercises it.
Rule 2: nothing looks green that was not: a violated SHOULD, a VACUOUS and an UNTESTABLE rule are
told as skipped, with their reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Final, Literal

from conformance.baseline import Baseline, apply
from conformance.judging.result import Excuse, Finding, Report, StreamResult
from conformance.report.colour import Paint
from conformance.report.redacted import cleaner, redacted
from conformance.report.text import Page, block
from conformance.report.wording import place, sentence
from conformance.rules.verdicts import GAPS, Level, Verdict

UNCLEAR: Final = GAPS | {Verdict.INCONCLUSIVE}
_BAD: Final = frozenset({Verdict.FAIL, Verdict.ERROR})
_BINDING: Final = frozenset({Level.MUST})
_STRICT: Final = frozenset({Level.MUST, Level.SHOULD})


@dataclass(frozen=True, slots=True)
class Told:
    """What becomes of one item: `why` is one line, `findings` are shown in full if it fails."""

    outcome: Literal["passed", "failed", "xfailed", "skipped"]
    word: str
    why: str = ""
    findings: tuple[Finding, ...] = ()


@dataclass
class Account:
    """Everything that was judged for one file, and how strictly."""

    report: Report
    strict: bool = False
    require_exercised: bool = False
    baseline: Baseline | None = None

    def __post_init__(self) -> None:
        if self.baseline is not None:
            self.report = apply(self.report, self.baseline)

    @cached_property
    def _verdicts(self) -> Mapping[str, Verdict]:
        return self.report.verdicts

    @cached_property
    def _broken(self) -> Mapping[tuple[str, str], bool]:
        """Rules with findings, by file: a scenario's rule is broken in another exchange."""
        streams = self.report.streams
        return {(s.file, f.rule): True for s in streams for f in s.findings}

    def rules(self, stream: StreamResult) -> Iterator[str]:
        """Rules that have something to tell of this exchange, in their order."""
        found = {finding.rule for finding in stream.findings}
        for rule, verdict in stream.verdicts.items():
            if rule in found or self._is_told(stream, rule, verdict):
                yield rule
        yield from sorted(found - stream.verdicts.keys())

    def _is_told(self, stream: StreamResult, rule: str, verdict: Verdict) -> bool:
        if verdict is Verdict.FAIL:
            return (stream.file, rule) not in self._broken
        return verdict is not Verdict.NOT_APPLICABLE

    def passes(self, stream: StreamResult) -> bool:
        """Whether nothing but passing has to be told of an exchange; quick, for thousands."""
        verdicts = set(stream.verdicts.values())
        if stream.findings or Verdict.PASS not in verdicts:
            return False
        return verdicts.isdisjoint(_BAD | UNCLEAR if self.require_exercised else _BAD)

    def told(self, stream: StreamResult, rule: str) -> Told:
        """What becomes of one rule in one exchange."""
        found = tuple(finding for finding in stream.findings if finding.rule == rule)
        verdict = stream.verdicts.get(rule, Verdict.FAIL)
        if verdict is Verdict.ERROR or found or verdict is Verdict.FAIL:
            return self._violated(stream, rule, verdict, found)
        if verdict is Verdict.PASS:
            return Told("passed", verdict)
        reason = _clean()(stream.reasons.get(rule, ""))
        why = f"{verdict} {rule}: {reason}" if reason else f"{verdict} {rule}"
        if self.require_exercised and self._verdicts[rule] in UNCLEAR and verdict in UNCLEAR:
            return Told("failed", verdict, f"{why} (--conformance-require-exercised)")
        return Told("skipped", verdict, why)

    def _violated(
        self, stream: StreamResult, rule: str, verdict: Verdict, found: Sequence[Finding]
    ) -> Told:
        if not found:
            reason = _clean()(stream.reasons.get(rule, ""))
            return Told("failed", verdict, f"{verdict} {rule}: {reason}")
        excused = [excuse for f in found if (excuse := self.report.excuse(stream, f))]
        if verdict is not Verdict.ERROR and len(excused) == len(found):
            first = excused[0]
            return Told("xfailed", "XFAIL", f"{rule}: {first.reason} ({first.entry})")
        fresh = tuple(f for f in found if self.report.excuse(stream, f) is None) or tuple(found)
        level = min((f.level for f in fresh), key=list(Level).index)
        why = f"{verdict} {level} {rule}: {_line(stream, fresh[0])}"
        binding = _STRICT if self.strict else _BINDING
        if verdict is Verdict.ERROR or self.baseline is not None or level in binding:
            return Told("failed", verdict, why, fresh)
        return Told("skipped", level, why, fresh)

    @property
    def stale(self) -> tuple[str, ...]:
        """Entries of the baseline that no longer describe the run."""
        return self.report.baseline.stale if self.report.baseline else ()


@dataclass(frozen=True, slots=True)
class Shown:
    """Findings of one exchange, for people."""

    stream: StreamResult
    findings: Sequence[Finding]
    excuses: Mapping[str, Excuse] = field(default_factory=dict)

    def lines(self, *, colour: bool) -> Iterator[str]:
        """Each finding in full, without secrets."""
        page = Page(Paint(colour))
        told = StreamResult(
            **{name: getattr(self.stream, name) for name in _PLAIN},
            verdicts={},
            findings=tuple(self.findings),
        )
        (clean,) = redacted(Report((told,))).streams
        for finding in clean.findings:
            yield from block(page, self.stream.file, finding)


_PLAIN: Final = ("file", "exchange", "dialect", "profile", "named")


@cache
def _clean() -> Callable[[str], str]:
    """One for the process: thousands of exchanges give the same few reasons."""
    return cleaner()


def _line(stream: StreamResult, finding: Finding) -> str:
    told = StreamResult(stream.file, 1, "", "", named=True, verdicts={}, findings=(finding,))
    (clean,) = redacted(Report((told,))).streams
    return f"{place(stream.file, finding)}: {sentence(clean.findings[0])}"
