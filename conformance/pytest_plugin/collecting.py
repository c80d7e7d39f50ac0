"""`*.conformance.yaml` files as pytest sees them: files, exchanges, rules.

One item per rule and exchange, or per exchange where the file says `items: exchange`. Recordings
are judged while they are collected (offline, about as long as reading them takes), so that there
are items for exactly those rules that had something to judge. A live target is asked when its first
item runs.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conformance.baseline import Baseline, load
from conformance.baseline.addresses import stem
from conformance.cassette import open_recording
from conformance.core.errors import ConformanceError
from conformance.judging.result import Report, StreamResult
from conformance.pytest_plugin.files import SpecFile
from conformance.pytest_plugin.items import ExchangeNode, Fixed, WholeItem, stale_item
from conformance.pytest_plugin.options import near, value
from conformance.pytest_plugin.shared import Ledger, ledger_of
from conformance.pytest_plugin.spec import Items, Listed, read_spec
from conformance.pytest_plugin.verdicts import Account, Told
from conformance.recordings.check import Choices, check_recording
from conformance.recordings.parallel import outcomes

Judged = list[StreamResult] | str
"""Results of a recording, or in one line why there are none."""


class Collecting:
    """One file on its way to items. Raises ConformanceError for a mistake in it."""

    def __init__(self, file: SpecFile) -> None:
        self.file = file
        self.config = file.config
        self.spec = read_spec(file.path)
        self._folders: dict[Path, Path] = {}

    def nodes(self) -> Iterator[pytest.Item | pytest.Collector]:
        client = value(self.config, "client")
        if client is not None:
            from conformance.pytest_plugin import clients  # noqa: PLC0415  # imports HTTP

            yield from clients.collect(self, str(client))
        elif self.spec.live is not None:
            from conformance.pytest_plugin import servers  # noqa: PLC0415  # imports HTTP

            yield from servers.collect(self, self.spec.live)
        else:
            yield from self._offline()

    def account(self, report: Report, baseline: Baseline | None) -> Account:
        """The report, judged as strictly as was asked."""
        return Account(
            report,
            strict=bool(value(self.config, "strict")),
            require_exercised=bool(value(self.config, "require-exercised")),
            baseline=baseline,
        )

    def choices(self) -> Choices:
        """Dialect and profile: the command line's, then the file's."""
        asked = self.config.getoption("conformance_profile") or self.spec.profile
        return Choices(self.spec.dialect, asked or value(self.config, "profile"))

    def known(self) -> tuple[Baseline | None, Ledger | None]:
        """What is expected to fail: by the file's own baseline, else by that of the run."""
        if self.spec.expected_failures is not None:
            return load(self.near(self.spec.expected_failures)), None
        ledger = ledger_of(self.config)
        return (ledger.baseline, ledger) if ledger else (None, None)

    def fixed(self, name: str, told: Told, line: int) -> pytest.Item:
        """An item whose outcome is known."""
        return Fixed.from_parent(self.file, name=name, told=told, line=line)

    def _offline(self) -> Iterator[pytest.Item | pytest.Collector]:
        listed = self.spec.cassettes
        baseline, ledger = self.known()
        paths = [self.near(each.path) for each in listed]
        judged = list(outcomes(self._judged, iter(paths), None))
        report = Report(tuple(result for each in judged for result in _streams(each)))
        account = self.account(report, baseline)
        for each, found, name in zip(listed, judged, names(listed), strict=True):
            if isinstance(found, str):
                yield self.fixed(name, Told("failed", "ERROR", found), each.line)
            else:
                yield from self._exchanges(account, found, _Place(name, each.line, self.spec.items))
        if ledger is not None:
            ledger.add(report)
        elif baseline is not None:
            yield stale_item(self.file, lambda: account.stale)

    def _judged(self, path: Path) -> Judged:
        try:
            recording = open_recording(path, dialect=self.spec.dialect)
            return check_recording(recording, self.spec.rulebook, self.choices())
        except ConformanceError as err:
            return str(err) if err.place else f"{path}: {err}"

    def _exchanges(
        self, account: Account, results: Sequence[StreamResult], place: _Place
    ) -> Iterator[pytest.Item | pytest.Collector]:
        """A node per exchange and view; an item that fails where no rule judges any of them."""
        if not any(result.verdicts for result in results):
            told = Told("failed", "NOTHING", f"no rule judges {results[0].dialect}")
            yield self.fixed(place.name, told, place.line)
            return
        kind: Any = WholeItem if place.items == "exchange" else ExchangeNode
        for result in results:
            known_as = f"{place.name}#{result.exchange}" if len(results) > 1 else place.name
            name = known_as if result.view == "wire" else f"{known_as}@{result.view}"
            more = {"account": account, "stream": result, "line": place.line}
            yield kind.from_parent(self.file, name=name, **more)

    def near(self, path: Path) -> Path:
        """Relative where it lies below: paths of a machine help nobody else who reads a report."""
        folder = self._folders.get(path.parent)
        if folder is None:  # thousands lie in one
            folder = self._folders[path.parent] = near(path.parent, self.config)
        return folder / path.name


@dataclass(frozen=True, slots=True)
class _Place:
    """Under which name, for which line of the file, and in which grain items are made."""

    name: str
    line: int
    items: Items


def _streams(judged: Judged) -> Iterable[StreamResult]:
    return () if isinstance(judged, str) else judged


def names(listed: Sequence[Listed]) -> list[str]:
    """Short names; where several files share one, as much of their paths as tells them apart."""
    paths = [each.path for each in listed]
    short = [stem(path.name) for path in paths]
    taken = Counter(short)
    several = [path.parent for path, name in zip(paths, short, strict=True) if taken[name] > 1]
    common = Path(os.path.commonpath(several)) if several else Path()
    return [
        name if taken[name] == 1 else (path.parent / name).relative_to(common).as_posix()
        for path, name in zip(paths, short, strict=True)
    ]
