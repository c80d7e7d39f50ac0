"""`conformance list --system NAME`: what a system's documents ask for, and what runs said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from conformance.cli.table import Row, cell, table
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.systems import System, read_streams, verdict_of

_COLUMNS: Final = ("verdict", "id", "side", "says")


def rows(system: System, reports: Iterable[Path]) -> Iterator[Row]:
    """A row for each requirement, with its verdict over all reports, None where they have none."""
    streams = [stream for path in reports for stream in read_streams(path)]
    for each in system.requirements:
        verdict = verdict_of(each, streams)
        yield {
            "id": each.id,
            "says": each.says,
            "side": each.side,
            "source": f"{system.documents[each.source.document]}: {each.source.at}",
            "rules": list(each.rules),
            "reason": each.reason or None,
            "verdict": str(verdict) if verdict else None,
        }


def text(rows: Sequence[Row]) -> str:
    """The rows as lines, and how many there are of each verdict."""
    cells = [[*(cell(row[key]) for key in _COLUMNS), _judged(row)] for row in rows]
    judged = [row for row in rows if row["rules"]]
    verdicts = Counter(row["verdict"] or "without a verdict" for row in judged)
    told = [f"{number} {verdict}" for verdict, number in sorted(verdicts.items())]
    told.append(f"{len(rows) - len(judged)} not judged")
    return "\n".join([*table(cells), f"{count(len(rows), 'requirement')}: {', '.join(told)}"])


def _judged(row: Row) -> str:
    rules: list[str] = row["rules"]
    return visible(", ".join(rules)) or f"not judged: {visible(row['reason'])}"
