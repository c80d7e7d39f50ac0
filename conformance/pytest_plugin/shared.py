"""A baseline for all files of a run: `--conformance-expected-failures`.

An entry describes an exchange of one file and says nothing of the others, so what is stale is told
once, for all files together. Of targets that this run did not look at, nothing can be said.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from conformance.baseline import Baseline, apply, load
from conformance.baseline.addresses import subjects
from conformance.judging.result import Report, merge
from conformance.pytest_plugin.options import near, value


class Ledger:
    """The baseline, and everything that was judged under it while files were collected."""

    def __init__(self, file: Path) -> None:
        self.baseline = load(file)
        self._reports: list[Report] = []

    @property
    def has_reports(self) -> bool:
        return bool(self._reports)

    def add(self, report: Report) -> None:
        self._reports.append(report)

    def stale(self) -> tuple[str, ...]:
        """Entries that no longer describe the run, one line each."""
        return stale_in(merge(self._reports), self.baseline)


_LEDGER: Final[pytest.StashKey[Ledger]] = pytest.StashKey()


def ledger_of(config: pytest.Config) -> Ledger | None:
    """The run's ledger; None where nobody named a baseline. Raises ConformanceError."""
    named = value(config, "expected-failures")
    if not named:
        return None
    if _LEDGER not in config.stash:
        # A path in the configuration file means the same wherever pytest is started.
        given = config.getoption("conformance_expected_failures")
        base = config.invocation_params.dir if given else config.rootpath
        config.stash[_LEDGER] = Ledger(near(base / named, config))
    return config.stash[_LEDGER]


def pending(config: pytest.Config) -> Ledger | None:
    """The ledger, if files were judged under it."""
    ledger = config.stash.get(_LEDGER, None)
    return ledger if ledger and ledger.has_reports else None


def stale_in(report: Report, baseline: Baseline) -> tuple[str, ...]:
    """Stale entries of a baseline that other files share."""
    checked = {subject.target for subject in subjects(report, baseline.target)}
    concerned = tuple(entry for entry in baseline.entries if entry.target in checked)
    applied = apply(report, replace(baseline, entries=concerned)).baseline
    return applied.stale if applied else ()
