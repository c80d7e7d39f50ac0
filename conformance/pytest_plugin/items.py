"""Items of a `*.conformance.yaml` file: what runs, what is shown if it fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from conformance.core.errors import ConformanceError
from conformance.judging.result import StreamResult
from conformance.pytest_plugin.verdicts import UNCLEAR, FileVerdicts, ItemOutcome, finding_lines

_MILDER: Final = ("xfailed", "passed", "skipped")


class ItemFailure(Exception):  # noqa: N818  # it is reported as a failure, not as an error
    """An item fails: what to show."""

    def __init__(self, outcome: ItemOutcome, stream: StreamResult | None = None) -> None:
        super().__init__(outcome.why)
        self.outcome = outcome
        self.stream = stream


class SpecItem(pytest.Item):
    """An item that is in a `*.conformance.yaml` file."""

    line: int
    conformance_outcome: ItemOutcome | None = None  # of this run; the report hook reads it

    def judge(self) -> tuple[ItemOutcome, StreamResult | None]:
        raise NotImplementedError

    def runtest(self) -> None:
        outcome, stream = self.judge()
        self.conformance_outcome = outcome
        if outcome.kind == "failed":
            raise ItemFailure(outcome, stream)
        if outcome.kind == "xfailed":
            pytest.xfail(outcome.why)
        if outcome.kind == "skipped":
            pytest.skip(outcome.why)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        error = excinfo.value
        if isinstance(error, ItemFailure):
            return FailurePage(error, str(self.path), self.line)
        if isinstance(error, ConformanceError):
            return str(error)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        return self.path, self.line - 1 if self.line else None, self.name


class RuleItem(SpecItem):
    parent: ExchangeNode

    @property
    def line(self) -> int:  # type: ignore[override]  # of the exchange; thousands share it
        return self.parent.line

    def judge(self) -> tuple[ItemOutcome, StreamResult]:
        stream = self.parent.stream
        return self.parent.verdicts.outcome(stream, self.name), stream

    def counted_with(self, outcome: ItemOutcome) -> int | None:
        """How many rules of the exchange are skipped with this one; None where one counts already.

        What nothing exercises is one gap of the recording, however many rules would look at it.
        """
        if outcome.word not in UNCLEAR:
            return 0
        parent = self.parent
        if outcome.word in parent.counted:
            return None
        parent.counted.add(outcome.word)
        return sum(parent.stream.verdicts.get(rule) == outcome.word for rule in parent.rules) - 1


class ExchangeOfCassette:
    """The fields of a node of a recorded exchange."""

    def __init__(
        self, *, verdicts: FileVerdicts, stream: StreamResult, line: int, **rest: Any
    ) -> None:
        super().__init__(**rest)
        self.verdicts, self.stream, self.line = verdicts, stream, line


class ExchangeNode(ExchangeOfCassette, pytest.Collector):
    """One exchange of one recording, with an item for each rule.

    `counted` are verdicts short of a pass for which one rule counts in the summary already.
    """

    def __init__(self, **rest: Any) -> None:
        super().__init__(**rest)
        self.counted: set[str] = set()

    @property
    def rules(self) -> list[str]:
        return list(self.verdicts.rules(self.stream))

    def collect(self) -> Iterator[pytest.Item]:
        for rule in self.rules:
            yield RuleItem.from_parent(self, name=rule)


class ExchangeItem(ExchangeOfCassette, SpecItem):
    """All rules of one exchange at once."""

    def judge(self) -> tuple[ItemOutcome, StreamResult]:
        if self.verdicts.passes(self.stream):
            return ItemOutcome("passed", "PASS"), self.stream
        return exchange_outcome(self.verdicts, self.stream), self.stream


class OutcomeItem(SpecItem):
    """An item whose outcome is that of no one exchange; `find` gives it."""

    def __init__(self, *, find: Callable[[], ItemOutcome], line: int = 0, **rest: Any) -> None:
        super().__init__(**rest)
        self._find, self.line = find, line

    def judge(self) -> tuple[ItemOutcome, None]:
        return self._find(), None


def stale_item(
    parent: pytest.Collector, stale_entries: Callable[[], Sequence[str] | ItemOutcome]
) -> pytest.Item:
    """An item that fails where a baseline no longer describes the run.

    `stale_entries` gives them, or the outcome where they are not known.
    """

    def find() -> ItemOutcome:
        stale = stale_entries()
        if isinstance(stale, ItemOutcome):
            return stale
        if stale:
            return ItemOutcome("failed", "STALE", "; ".join(stale))
        return ItemOutcome("passed", "PASS")

    item: pytest.Item = OutcomeItem.from_parent(parent, name="expected-failures", find=find)
    return item


class FailurePage:
    """A failure for people: our own report. pytest wants `toterminal` and `reprcrash` of it."""

    def __init__(self, failure: ItemFailure, path: str, line: int) -> None:
        self._outcome, self._stream = failure.outcome, failure.stream
        near = Path(path).is_relative_to(Path.cwd())
        shown = Path(path).relative_to(Path.cwd()) if near else path
        self._place = f"{shown}:{line}" if line else ""
        # What pytest's summary and JUnit files read.
        self.reprcrash = SimpleNamespace(path=path, lineno=line, message=failure.outcome.why)

    def page_lines(self, *, colour: bool) -> Iterator[str]:
        if self._stream is not None and self._outcome.findings:
            yield from finding_lines(self._stream, self._outcome.findings, colour=colour)
        else:
            yield self._outcome.why
        if self._place:
            yield f"  asked     {self._place}"

    def toterminal(self, tw: Any) -> None:
        for line in self.page_lines(colour=bool(tw.hasmarkup)):
            tw.line(line)

    def __str__(self) -> str:
        return "\n".join(self.page_lines(colour=False))


def exchange_outcome(
    verdicts: FileVerdicts,
    stream: StreamResult,
    *,
    only: Collection[str] | None = None,
    but: Collection[str] = (),
) -> ItemOutcome:
    """What becomes of an exchange: the worst that any rule says of it, or any of `only`.

    Rules in `but` are left out. All that fails is shown.
    """
    rules = [rule for rule in verdicts.rules(stream) if only is None or rule in only]
    outcomes = [verdicts.outcome(stream, rule) for rule in rules if rule not in but]
    failed = [each for each in outcomes if each.kind == "failed"]
    if failed:
        findings = tuple(finding for each in failed for finding in each.findings)
        more = f" (and {len(failed) - 1} more)" if failed[1:] else ""
        return ItemOutcome("failed", "FAIL", failed[0].why + more, findings)
    nothing = ItemOutcome("skipped", "NOTHING", "no rule applies")
    return min(outcomes, key=lambda each: _MILDER.index(each.kind), default=nothing)
