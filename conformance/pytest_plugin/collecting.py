"""`*.conformance.yaml` files as pytest sees them: files, exchanges, rules.

One item per rule and exchange, or per exchange where the file says `items: exchange`. Recordings
are judged while they are collected (offline, about as long as reading them takes), so that there
are items for exactly those rules that had something to judge. A live target gets its requests
when its first item runs.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.baseline.addresses import file_stem
from conformance.baseline.entries import Baseline, load_baseline
from conformance.cassette import open_recording
from conformance.core.errors import ConformanceError
from conformance.judging.result import Report, StreamResult
from conformance.pytest_plugin.items import ExchangeItem, ExchangeNode, OutcomeItem, stale_item
from conformance.pytest_plugin.options import display_path, option_value, trusted
from conformance.pytest_plugin.project_defaults import project_suites
from conformance.pytest_plugin.rule_examples import example_items, own_suites
from conformance.pytest_plugin.spec import ListedRecording, read_spec
from conformance.pytest_plugin.verdicts import (
    FileVerdicts,
    ItemOutcome,
    SharedBaseline,
    shared_baseline,
)
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.parallel import run_parallel

FileResults = list[StreamResult] | str
"""Results of a recording, or in one line why there are none."""


class SpecCollection:
    """One file on its way to items. Raises ConformanceError for a mistake in it."""

    def __init__(self, file: pytest.File) -> None:
        self.file = file
        self.config = file.config
        self.spec = read_spec(file.path, project_suites(file.config.rootpath))

    @property
    def is_offline(self) -> bool:
        """Whether recordings are judged, and neither a client nor a server."""
        asks_client = bool(self.spec.cassettes) and option_value(self.config, "client") is not None
        return self.spec.live is None and not asks_client

    def file_verdicts(self, report: Report, baseline: Baseline | None) -> FileVerdicts:
        """The report, judged as strictly as the run says."""
        return FileVerdicts(
            report,
            strict=bool(option_value(self.config, "strict")),
            require_exercised=bool(option_value(self.config, "require-exercised")),
            baseline=baseline,
        )

    def choices(self) -> CheckChoices:
        """Dialect and profile: the command line's, then the file's."""
        profile = self.config.getoption("conformance_profile") or self.spec.profile
        profile = profile or option_value(self.config, "profile")
        return CheckChoices(self.spec.dialect, profile, trusted=trusted(self.config))

    def expected_failures(self) -> tuple[Baseline | None, SharedBaseline | None]:
        """Return the expected failures: by the file's own baseline, else by that of the run."""
        if self.spec.expected_failures is not None:
            return load_baseline(self.path_of(self.spec.expected_failures)), None
        shared = shared_baseline(self.config)
        return (shared.baseline, shared) if shared else (None, None)

    def fixed_item(self, name: str, outcome: ItemOutcome, line: int) -> pytest.Item:
        item: pytest.Item = OutcomeItem.from_parent(
            self.file, name=name, find=lambda: outcome, line=line
        )
        return item

    def example_nodes(self) -> Iterator[pytest.Item]:
        """An item for each example in the rules of one's own that the file names."""
        if not self.spec.own_suites:
            return iter(())
        chosen = frozenset(rule.id for rule in self.spec.rulebook.rules)
        return example_items(self.file, own_suites(self.spec.rulebook.suites), chosen)

    def offline_nodes(self) -> Iterator[pytest.Item | pytest.Collector]:
        """A node for each exchange of the recordings, judged here."""
        listed = self.spec.cassettes
        baseline, shared = self.expected_failures()
        paths = [self.path_of(each.path) for each in listed]
        judged = list(run_parallel(self._judge_file, iter(paths), None))
        report = Report(tuple(r for each in judged if not isinstance(each, str) for r in each))
        verdicts = self.file_verdicts(report, baseline)
        for each, found, name in zip(listed, judged, short_names(listed), strict=True):
            if isinstance(found, str):
                yield self.fixed_item(name, ItemOutcome("failed", "ERROR", found), each.line)
            else:
                yield from self._exchange_nodes(verdicts, found, name, each.line)
        if shared is not None:
            shared.reports.append(report)
        elif baseline is not None:
            yield stale_item(self.file, lambda: verdicts.stale)

    def _judge_file(self, path: Path) -> FileResults:
        try:
            recording = open_recording(path, dialect=self.spec.dialect)
            return check_recording(recording, self.spec.rulebook, self.choices())
        except ConformanceError as err:
            return str(err) if err.place else f"{path}: {err}"

    def _exchange_nodes(
        self, verdicts: FileVerdicts, results: Sequence[StreamResult], file_name: str, line: int
    ) -> Iterator[pytest.Item | pytest.Collector]:
        """A node per exchange and view; an item that fails where no rule judges any of them."""
        if not any(result.verdicts for result in results):
            outcome = ItemOutcome("failed", "NOTHING", f"no rule judges {results[0].dialect}")
            yield self.fixed_item(file_name, outcome, line)
            return
        kind: Any = ExchangeItem if self.spec.items == "exchange" else ExchangeNode
        for result in results:
            called = f"{file_name}#{result.exchange}" if len(results) > 1 else file_name
            name = called if result.view == "wire" else f"{called}@{result.view}"
            more = {"verdicts": verdicts, "stream": result, "line": line}
            yield kind.from_parent(self.file, name=name, **more)

    def path_of(self, path: Path) -> Path:
        """Relative below where pytest runs: no other reader can use whole paths."""
        return display_path(path.parent, self.config) / path.name


def short_names(listed: Sequence[ListedRecording]) -> list[str]:
    """Short names; where several files share one, as much of their paths as distinguishes them."""
    paths = [each.path for each in listed]
    short = [file_stem(path.name) for path in paths]
    taken = Counter(short)
    several = [path.parent for path, name in zip(paths, short, strict=True) if taken[name] > 1]
    common = Path(os.path.commonpath(several)) if several else Path()
    return [
        name if taken[name] == 1 else (path.parent / name).relative_to(common).as_posix()
        for path, name in zip(paths, short, strict=True)
    ]
