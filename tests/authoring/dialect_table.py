"""Writes docs/dialects.md: what is judged in each dialect, counted over the shipped cassettes.

python -m tests.authoring.dialect_table
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from conformance.dialects import SUPPORTED
from conformance.judging.result import StreamResult
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "dialects.md"
_SPOKE: Final = frozenset({Verdict.PASS, Verdict.FAIL})
_HEAD: Final = """\
# Dialects

How many rules judge each dialect: the numbers count rules that gave PASS or FAIL on its shipped
cassettes. A rule may be in several columns. The second table gives the reason for each `-`.
`conformance check -v FILE` lists the verdicts for a recording. [Profiles](profiles.md) show how
each system uses a dialect.

This page is written by `python -m tests.authoring.dialect_table`.
"""


@dataclass(frozen=True, slots=True)
class Column:
    """One kind of thing that is judged: patterns of rule ids, and whose answers count."""

    name: str
    says: str
    rules: tuple[str, ...]
    framing: str = ""

    def holds(self, rule: str) -> bool:
        return any(fnmatchcase(rule, pattern) for pattern in self.rules)


@cache
def _table() -> Mapping[str, Any]:
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    table: Mapping[str, Any] = yaml.safe_load(text)
    return table


@cache
def columns() -> tuple[Column, ...]:
    return tuple(Column(**{**each, "rules": tuple(each["rules"])}) for each in _table()["columns"])


def reasons() -> Mapping[str, Mapping[str, str]]:
    """Dialect -> column -> why nothing is judged there."""
    found: Mapping[str, Mapping[str, str]] = _table()["reasons"]
    return found


@cache
def judged() -> tuple[StreamResult, ...]:
    """Every shipped cassette but the mutants."""
    return check_paths([ROOT / "cassettes"]).streams


def counts(streams: Iterable[StreamResult]) -> Mapping[str, Mapping[str, int]]:
    """Dialect -> column -> rules that spoke."""
    spoke: dict[tuple[str, str], set[str]] = {}
    for stream in streams:
        rules = {rule for rule, verdict in stream.verdicts.items() if verdict in _SPOKE}
        for column in columns():
            if column.framing in ("", stream.framing):
                place = spoke.setdefault((stream.dialect, column.name), set())
                place |= {rule for rule in rules if column.holds(rule)}
    return {
        dialect: {each.name: len(spoke.get((dialect, each.name), ())) for each in columns()}
        for dialect in SUPPORTED
    }


def page(found: Mapping[str, Mapping[str, int]]) -> str:
    """The whole page."""
    rows = [_HEAD, *_counted(found), "", *_kinds(), "", *_unjudged(found)]
    return "\n".join(rows).rstrip() + "\n"


def _counted(found: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    yield _row(["dialect", "framing", *(each.name for each in columns())])
    yield _row(["---"] * (len(columns()) + 2))
    for dialect, cells in found.items():
        numbers = (str(number or "-") for number in cells.values())
        yield _row([f"`{dialect}`", SUPPORTED[dialect].framing, *numbers])


def _kinds() -> Iterator[str]:
    yield from (f"- *{each.name}*: {each.says}" for each in columns())


def _unjudged(found: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    yield "## What is not judged, and why"
    yield ""
    yield _row(["dialect", "what", "why"])
    yield _row(["---"] * 3)
    for dialect, cells in found.items():
        for name in (name for name, number in cells.items() if not number):
            yield _row([f"`{dialect}`", name, reasons().get(dialect, {}).get(name, "")])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page(counts(judged())), encoding="utf-8")
