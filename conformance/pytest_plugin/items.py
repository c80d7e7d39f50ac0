"""Items of a `*.conformance.yaml` file: what runs, what is shown if it fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import pytest

from conformance.core.errors import ConformanceError
from conformance.judging.result import StreamResult
from conformance.pytest_plugin.verdicts import Account, Shown, Told


class Failed(Exception):  # noqa: N818  # it is told as a failure, nobody erred here
    """An item fails: what to show."""

    def __init__(self, told: Told, stream: StreamResult | None = None) -> None:
        super().__init__(told.why)
        self.told = told
        self.stream = stream


class ExchangeNode(pytest.Collector):
    """One exchange of one recording, with an item for each rule."""

    def __init__(self, *, account: Account, stream: StreamResult, line: int, **rest: Any) -> None:
        super().__init__(**rest)
        self.account = account
        self.stream = stream
        self.line = line

    def collect(self) -> Iterator[pytest.Item]:
        for rule in self.account.rules(self.stream):
            yield RuleItem.from_parent(self, name=rule)


class SpecItem(pytest.Item):
    """An item that stands in a `*.conformance.yaml` file."""

    line: int
    told: Told | None = None

    def judge(self) -> tuple[Told, StreamResult | None]:
        """What becomes of it."""
        raise NotImplementedError

    def runtest(self) -> None:
        told, stream = self.judge()
        self.told = told
        if told.outcome == "failed":
            raise Failed(told, stream)
        if told.outcome == "xfailed":
            pytest.xfail(told.why)
        if told.outcome == "skipped":
            pytest.skip(told.why)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        error = excinfo.value
        if isinstance(error, Failed):
            return Page(error, str(self.path), self.line)
        if isinstance(error, ConformanceError):
            return str(error)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        return self.path, self.line - 1 if self.line else None, self.name


class RuleItem(SpecItem):
    """One rule in one exchange."""

    parent: ExchangeNode

    @property
    def line(self) -> int:  # type: ignore[override]  # of the exchange; thousands share it
        return self.parent.line

    def judge(self) -> tuple[Told, StreamResult]:
        return self.parent.account.told(self.parent.stream, self.name), self.parent.stream


class WholeItem(SpecItem):
    """All rules of one exchange at once."""

    def __init__(self, *, account: Account, stream: StreamResult, line: int, **rest: Any) -> None:
        super().__init__(**rest)
        self.account, self.stream, self.line = account, stream, line

    def judge(self) -> tuple[Told, StreamResult]:
        if self.account.passes(self.stream):
            return Told("passed", "PASS"), self.stream
        return whole(self.account, self.stream), self.stream


class Fixed(SpecItem):
    """An item whose outcome is known."""

    def __init__(self, *, told: Told, line: int, **rest: Any) -> None:
        super().__init__(**rest)
        self.fixed, self.line = told, line

    def judge(self) -> tuple[Told, None]:
        return self.fixed, None


class Page:
    """A failure for people: our own report. pytest wants `toterminal` and `reprcrash` of it."""

    def __init__(self, failed: Failed, path: str, line: int) -> None:
        self._failed = failed
        self._where = f"{path}:{line}" if line else ""
        self.reprcrash = _Crash(path, line, failed.told.why)

    def lines(self, *, colour: bool) -> Iterator[str]:
        told, stream = self._failed.told, self._failed.stream
        if stream is not None and told.findings:
            yield from Shown(stream, told.findings).lines(colour=colour)
        else:
            yield told.why
        if self._where:
            yield f"  asked     {self._where}"

    def toterminal(self, tw: Any) -> None:
        for line in self.lines(colour=bool(tw.hasmarkup)):
            tw.line(line)

    def __str__(self) -> str:
        return "\n".join(self.lines(colour=False))


class _Crash:
    """What pytest's summary and JUnit files read."""

    def __init__(self, path: str, lineno: int, message: str) -> None:
        self.path, self.lineno, self.message = path, lineno, message


def whole(
    account: Account,
    stream: StreamResult,
    *,
    only: Collection[str] | None = None,
    but: Collection[str] = (),
) -> Told:
    """What becomes of an exchange: the worst that any rule says of it, or any of `only`.

    Rules in `but` are left out. All that fails is shown.
    """
    rules = [rule for rule in account.rules(stream) if only is None or rule in only]
    told = [account.told(stream, rule) for rule in rules if rule not in but]
    failed = [each for each in told if each.outcome == "failed"]
    if failed:
        findings = tuple(finding for each in failed for finding in each.findings)
        more = f" (and {len(failed) - 1} more)" if failed[1:] else ""
        return Told("failed", "FAIL", failed[0].why + more, findings)
    for outcome in ("xfailed", "passed", "skipped"):
        for each in told:
            if each.outcome == outcome:
                return each
    return Told("skipped", "NOTHING", "no rule applies")


class StaleItem(SpecItem):
    """Fails where a baseline no longer describes the run."""

    line = 0

    def __init__(self, *, stale: Callable[[], Sequence[str] | Told], **rest: Any) -> None:
        super().__init__(**rest)
        self._stale = stale

    def judge(self) -> tuple[Told, None]:
        stale = self._stale()
        if isinstance(stale, Told):
            return stale, None
        return (
            Told("failed", "STALE", "; ".join(stale)) if stale else Told("passed", "PASS")
        ), None


def stale_item(parent: Any, stale: Callable[[], Sequence[str] | Told]) -> pytest.Item:
    """The item of a baseline; `stale` gives the entries that are, or why they are not known."""
    return StaleItem.from_parent(parent, name="expected-failures", stale=stale)
