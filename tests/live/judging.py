"""Findings of a whole run, against a table that lists them all.

The table has one entry per run: what is wrong, in the words of docs/real-targets.md, and which
rules show it where. `all` stands for a list of exchanges that many rules share.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.live.processes import ROOT, TOOL
from tests.tables import read_table

TABLE: Final = Path(__file__).with_name("findings.yaml")
UPSTREAM: Final = "upstream"

Found = frozenset[tuple[str, str, str]]
"""Rule, API and exchange of each violation."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a run reported, and how it ended."""

    code: int
    report: Mapping[str, Any]

    @property
    def found(self) -> Found:
        return frozenset(
            (finding["rule"], stream["dialect"], f"{stream['scenario']}/{stream['role']}")
            for stream in self.report["streams"]
            for finding in stream["findings"]
        )

    @property
    def passed(self) -> frozenset[str]:
        """Rules that were exercised and never broken."""
        streams = self.report["streams"]
        won = {rule for each in streams for rule, how in each["verdicts"].items() if how == "PASS"}
        return frozenset(won - self.rules)

    @property
    def rules(self) -> frozenset[str]:
        return frozenset(rule for rule, _, _ in self.found)


def run(*arguments: str, save: Path) -> Judged:
    """`conformance run`, as a user calls it. Fails where it did not come to a verdict."""
    command = (*TOOL, "run", *arguments, "--save", str(save), "--format", "json")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr[-2000:]
    return Judged(done.returncode, json.loads(done.stdout))


def listed(name: str) -> Found:
    """All findings that the table lists of a run."""
    return frozenset(_entries(_table()[name]))


def faults(name: str) -> Mapping[str, frozenset[str]]:
    """Rules that show each fault of a run."""
    return {
        fault["fault"]: frozenset(rule for rules in _by_api(fault).values() for rule in rules)
        for fault in _table()[name]["faults"]
    }


def _table() -> Mapping[str, Any]:
    found: Mapping[str, Any] = read_table(TABLE)
    return found


def _entries(described: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    groups = described.get("groups", {})
    for fault in described["faults"]:
        for api, rules in _by_api(fault).items():
            for rule, where in rules.items():
                exchanges = groups[where] if isinstance(where, str) else where
                yield from ((rule, api, each) for each in exchanges)


def _by_api(fault: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in fault.items() if key != "fault"}
