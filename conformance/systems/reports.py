"""Reports in JSON, read again: verdicts of runs on a requirement, and the places of findings."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import msgspec

from conformance.rules.verdicts import Verdict, combine
from conformance.systems.saved_reports import SavedReport, read_saved_report
from conformance.systems.tables import Requirement

_VIEWS: Final = {"server": "wire", "client": "client"}


class ReportFinding(msgspec.Struct, frozen=True):
    rule: str = ""
    id: str = ""
    group: str = ""


class ReportStream(msgspec.Struct, frozen=True):
    """One exchange of a report, as far as anybody reads it."""

    verdicts: dict[str, Verdict] = {}
    findings: tuple[ReportFinding, ...] = ()
    file: str = ""
    scenario: str = ""
    role: str = ""
    view: str = "wire"


class _RequirementReport(SavedReport, frozen=True):
    streams: tuple[ReportStream, ...]


def read_streams(path: Path) -> tuple[ReportStream, ...]:
    """The exchanges of a report. UsageError: it cannot be read; SpecError: it is no report."""
    return read_saved_report(path, _RequirementReport).streams


def verdict_of(requirement: Requirement, streams: Iterable[ReportStream]) -> Verdict | None:
    """The worst verdict of its rules over the exchanges that concern it; None: no rule came up."""
    view = _VIEWS.get(requirement.side)
    found = [
        stream.verdicts[rule]
        for stream in streams
        if view in (None, stream.view) and _is_concerned(requirement, stream)
        for rule in requirement.rules
        if rule in stream.verdicts
    ]
    return combine(found) if found else None


def glob_covers(glob: str, exchange: str) -> bool:
    """Whether a glob, or a name with every role under it, fits `scenario/role`."""
    return fnmatchcase(exchange, glob) or fnmatchcase(exchange, f"{glob}/*")


def _is_concerned(requirement: Requirement, stream: ReportStream) -> bool:
    exchange = f"{stream.scenario}/{stream.role}"
    globs = requirement.scenarios
    return not globs or any(glob_covers(glob, exchange) for glob in globs)
