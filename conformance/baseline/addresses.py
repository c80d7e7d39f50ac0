"""How an entry addresses an exchange: by its target, and by a name of the exchange there.

The target is what the recording's header says (`name-version`), else the one that the baseline
names for recordings that name none, else the file's name without its suffix.
In its target an exchange is called by scenario and role (`think/plain`), by its number (`2`), and
by the file's name without its suffix (`text`; `text/2` where the file holds several). Of a
gateway's two sides the far one is called so; both have names with their hop
(`think/plain/upstream`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from conformance.core.errors import Place, UsageError
from conformance.judging.result import Finding, Report, StreamResult
from conformance.rules.verdicts import Verdict, combine

_SUFFIX: Final = re.compile(
    r"(?:\.cassette\.jsonl|\.chunks\.txt|\.[a-z]{1,8})(?:\.gz|\.zst)?$", re.IGNORECASE
)


class ExchangeSubject(Struct, frozen=True):
    """One exchange of one file, with all its views. `names` are those it is called by."""

    file: str
    exchange: int
    target: str
    names: tuple[str, ...]
    views: tuple[StreamResult, ...]

    def verdict(self, rule: str) -> Verdict | None:
        """The rule's verdict over the views; None if it judged none."""
        found = [view.verdicts[rule] for view in self.views if rule in view.verdicts]
        return combine(found) if found else None

    def findings(self, rule: str) -> list[tuple[StreamResult, Finding]]:
        """The rule's findings, each with its view."""
        return [(view, each) for view in self.views for each in view.findings if each.rule == rule]

    @property
    def failing(self) -> list[str]:
        """Rules that FAIL here, sorted."""
        rules = {rule for view in self.views for rule in view.verdicts}
        return sorted(rule for rule in rules if self.verdict(rule) is Verdict.FAIL)


def report_subjects(report: Report, target: str) -> tuple[ExchangeSubject, ...]:
    """Every exchange of the run; `target` is for recordings that name none."""
    views: dict[tuple[str, int], list[StreamResult]] = {}
    for stream in report.streams:
        views.setdefault((stream.file, stream.exchange), []).append(stream)
    held = Counter(file for file, _ in views)
    found: list[ExchangeSubject] = []
    for (file, exchange), same in views.items():
        whose = same[0].target or target or file_stem(file)
        names = _exchange_names(same[0], whose, alone=held[file] == 1)
        found.append(ExchangeSubject(file, exchange, whose, names, tuple(same)))
    return tuple(found)


def _exchange_names(stream: StreamResult, target: str, *, alone: bool) -> tuple[str, ...]:
    """What it is called by; what says most to a reader comes first."""
    step = "/".join(filter(None, (stream.scenario, stream.role)))
    sided = f"{step}/{stream.hop}" if step and stream.hop else ""
    step = sided if stream.hop == "upstream" else step
    number, file = str(stream.exchange), file_stem(stream.file)
    of_file = file if alone else f"{file}/{number}"
    rest = (number, of_file) if target == file else (of_file, number)
    names = (step, f"{stream.dialect}/{step}" if step else "", *rest, sided)
    return tuple(dict.fromkeys(name for name in names if name))


def file_stem(file: str) -> str:
    """The file's name without the suffixes that say what it is."""
    name = Path(file).name
    return _SUFFIX.sub("", name) or name


def unique_addresses(found: Sequence[ExchangeSubject]) -> Mapping[tuple[str, int], str]:
    """One name for every failing subject that no other subject of its target has.

    Raises UsageError where two files are called the same in every way.
    """
    taken = Counter((subject.target, name) for subject in found for name in subject.names)
    return {(each.file, each.exchange): _unique_name(each, taken) for each in found if each.failing}


def _unique_name(subject: ExchangeSubject, taken: Mapping[tuple[str, str], int]) -> str:
    own = next((name for name in subject.names if taken[subject.target, name] == 1), None)
    if own is None:
        message = f"another recording of {subject.target!r} is called {subject.names[0]!r}, too"
        raise UsageError(
            message, place=Place(subject.file), hint="give one of them another file name"
        )
    return own
