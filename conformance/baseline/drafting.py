"""A baseline from a run: one entry for every violation, reasons of surviving entries kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Final

from msgspec import Struct

from conformance.baseline.addresses import ExchangeSubject, report_subjects, unique_addresses
from conformance.baseline.applying import RunIndex
from conformance.baseline.entries import Baseline, BaselineEntry, is_reason
from conformance.core.errors import Place, UsageError
from conformance.judging.group_id import group_id
from conformance.judging.result import Report, finding_key

_NEW: Final = Place("new entry")


class BaselineChange(Struct, frozen=True):
    """How a drafted baseline differs from the one before."""

    baseline: Baseline
    added: tuple[BaselineEntry, ...] = ()
    dropped: tuple[BaselineEntry, ...] = ()


def draft_baseline(
    report: Report, before: Baseline, *, reason: str = "", pin: bool = False
) -> BaselineChange:
    """The baseline under which this run has only expected violations.

    Entries of `before` that still describe the run stay as they are; `reason` is that of all new
    ones. With `pin`, new entries hold the ids of the groups. Raises UsageError where a new entry
    needs a reason, and where two recordings cannot be distinguished.
    """
    run = RunIndex.of(report, before.target)
    kept = {entry for entry in before.entries if not list(run.wrong(entry))}
    covered = {key for entry in kept if entry.is_pattern for key, _ in run.excused(entry)}
    held: dict[tuple[str, str, str], set[str]] = {}
    for entry in kept:
        held.setdefault(entry.key, set()).add(entry.finding)
    found = report_subjects(report, before.target)
    names = unique_addresses(found)
    added = [
        BaselineEntry(
            rule, each.target, names[each.file, each.exchange], reason, _NEW, finding=finding
        )
        for each in found
        for rule in each.failing
        if not covered.issuperset(finding_key(*found) for found in each.findings(rule))
        for finding in _missing_findings(each, rule, held, pin=pin)
    ]
    if added and not is_reason(reason):
        what = "1 new entry needs" if len(added) == 1 else f"{len(added)} new entries need"
        first = f"{added[0].rule} in {added[0].target} {added[0].exchange}"
        raise UsageError(f"{what} a reason; the first is {first}", hint="give it with --reason")
    dropped = tuple(entry for entry in before.entries if entry not in kept)
    order = attrgetter("target", "rule", "exchange", "finding")
    whole = sorted((*kept, *added), key=order)
    return BaselineChange(Baseline(before.file, tuple(whole), before.target), tuple(added), dropped)


def prune_baseline(report: Report, before: Baseline) -> BaselineChange:
    """The baseline without entries of which nothing fails any more; nothing is added.

    What the run did not judge stays.
    """
    run = RunIndex.of(report, before.target)
    kept = tuple(entry for entry in before.entries if not run.is_repaired(entry))
    dropped = tuple(entry for entry in before.entries if run.is_repaired(entry))
    return BaselineChange(Baseline(before.file, kept, before.target), (), dropped)


def _missing_findings(
    subject: ExchangeSubject, rule: str, held: Mapping[tuple[str, str, str], set[str]], *, pin: bool
) -> Iterator[str]:
    """Groups for which an entry is missing; an empty one where it need not be pinned."""
    keys = ((rule, subject.target, name) for name in subject.names)
    pinned = set().union(*(held.get(key, ()) for key in keys))
    if not (pinned or pin):
        yield ""
    elif "" not in pinned:  # a pinned entry may only be joined by another pinned one
        found = (finding for _, finding in subject.findings(rule) if finding.id not in pinned)
        yield from sorted({group_id(finding) for finding in found} - pinned)
