"""`conformance list`: what there is to choose from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from conformance.cli import requirements
from conformance.cli.options import SuiteOption
from conformance.cli.table import Row, cell, table
from conformance.cli.terminal import put
from conformance.core.errors import UsageError
from conformance.dialects import NAMES, SUPPORTED
from conformance.judging.run_rules import ADDED_RULES
from conformance.judging.suites import load_suites
from conformance.profiles.profile import available, load_profile
from conformance.systems import find_system, names


class Kind(StrEnum):
    """What can be listed."""

    RULES = "rules"
    SUITES = "suites"
    PROFILES = "profiles"
    DIALECTS = "dialects"
    SYSTEMS = "systems"


SystemOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="List what a system's documents require; a name or a YAML file."
    ),
]
ReportOption = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="With --system: verdicts of this JSON report; repeatable. Lists only: exits 0.",
    ),
]


def command(
    kind: Annotated[Kind | None, typer.Argument(help="What to list; default: everything.")] = None,
    suite: SuiteOption = None,
    system: SystemOption = None,
    report: ReportOption = None,
    format_: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
) -> None:
    """List rules, suites, profiles, dialects and systems."""
    if format_ not in ("text", "json"):
        raise UsageError(f"format must be text or json, got {format_!r}")
    if system is None and report:
        raise UsageError("--report goes with --system NAME")
    if system is not None:
        if kind or suite:
            raise UsageError("--system goes with --report and --format only")
        rows = list(requirements.rows(find_system(system), report or ()))
        as_data = json.dumps({"requirements": rows}, indent=2)
        put(as_data if format_ == "json" else requirements.text(rows))
        return
    extra = suite or ()
    asked = [kind] if kind else list(Kind)
    found = {str(each): list(_ROWS[each](extra)) for each in asked}
    put(json.dumps(found, indent=2) if format_ == "json" else _text(found))


def _rules(extra: Iterable[str]) -> Iterable[Row]:
    rules = [rule for suite in load_suites(tuple(extra)) for rule in suite.rules]
    for rule in rules if extra else (*rules, *ADDED_RULES.values()):
        yield {
            "id": rule.id,
            "level": str(rule.level),
            "dialect": rule.dialect,
            "says": rule.says,
            "since": rule.since,
        }


def _suites(extra: Iterable[str]) -> Iterable[Row]:
    for suite in load_suites(tuple(extra)):
        yield {
            "id": suite.id,
            "rules": len(suite.rules),
            "dialect": suite.dialect,
            "title": suite.title,
        }


def _profiles(_extra: Iterable[str]) -> Iterable[Row]:
    for name, dialect, path in available(()):
        profile = load_profile(path)
        yield {"name": name, "dialect": dialect, "side": profile.side, "title": profile.title}


def _dialects(_extra: Iterable[str]) -> Iterable[Row]:
    for name in NAMES:
        yield {"name": name, "supported": name in SUPPORTED}


def _systems(_extra: Iterable[str]) -> Iterable[Row]:
    for name in names():
        system = find_system(name)
        yield {"name": name, "requirements": len(system.requirements), "title": system.title}


_ROWS: Final[Mapping[Kind, Callable[[Iterable[str]], Iterable[Row]]]] = {
    Kind.RULES: _rules,
    Kind.SUITES: _suites,
    Kind.PROFILES: _profiles,
    Kind.DIALECTS: _dialects,
    Kind.SYSTEMS: _systems,
}


def _text(found: Mapping[str, list[Row]]) -> str:
    lines: list[str] = []
    for kind, rows in found.items():
        lines += [""] if lines else []
        lines += [f"{kind} ({len(rows)})"] if len(found) > 1 else []
        lines += table([[cell(value) for value in row.values()] for row in rows])
    return "\n".join(lines) or "nothing"
