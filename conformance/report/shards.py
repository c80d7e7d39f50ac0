"""Reports in JSON of several runs, such as the shards of one check, as one report.

Rule 1: streams, errors and notes follow each other; groups are made again over all of them.
Rule 2: a finding that the baseline of its own run excused stays excused. An entry of the baseline
is stale where it is stale in every run: each sees a part of the recordings.
Rule 3: figures of a soak belong to one run and are not merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from conformance.core.errors import Place, UsageError
from conformance.judging.result import (
    AppliedBaseline,
    FindingExcuse,
    Report,
    StreamResult,
    merge_reports,
)
from conformance.systems.saved_reports import SavedReport, read_saved_report


class _ShardExcuse(msgspec.Struct, frozen=True):
    file: str
    exchange: int
    view: str
    rule: str
    finding: str
    reason: str
    entry: str


class _ShardReport(SavedReport, frozen=True, kw_only=True):
    streams: tuple[StreamResult, ...]
    errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    expected: tuple[_ShardExcuse, ...] = ()
    stale: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()
    soak: dict[str, Any] | None = None


def read_shards(paths: Sequence[Path]) -> Report:
    """One report over several files. Raises UsageError and SpecError for other files."""
    shards = [_read_shard(path) for path in paths]
    merged = merge_reports(map(_plain_report, shards))
    return replace(merged, baseline=_merged_baseline(shards))


def _read_shard(path: Path) -> _ShardReport:
    shard = read_saved_report(path, _ShardReport)
    if shard.soak is not None:
        raise UsageError("the figures of a soak cannot be merged", place=Place(str(path)))
    return shard


def _plain_report(shard: _ShardReport) -> Report:
    return Report(shard.streams, shard.errors, shard.notes, passed_over=shard.passed_over)


def _merged_baseline(shards: Iterable[_ShardReport]) -> AppliedBaseline | None:
    """None where no run had one, as far as its report shows."""
    known = [each for each in shards if each.expected or each.stale or each.repaired]
    if not known:
        return None
    excuses = {
        (each.file, each.exchange, each.view, each.rule, each.finding): FindingExcuse(
            each.reason, each.entry
        )
        for shard in known
        for each in shard.expected
    }
    stale = _in_all([shard.stale for shard in known])
    return AppliedBaseline("", excuses, stale, stale, _in_all([shard.repaired for shard in known]))


def _in_all(lines: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    common = reduce(set.intersection, (set(each) for each in lines[1:]), set(lines[0]))
    return tuple(line for line in lines[0] if line in common)
