"""`conformance list`: what there is to choose from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Final

import typer

from conformance.check.suites import load_suites
from conformance.cli.options import SuiteOption
from conformance.cli.terminal import put
from conformance.dialects import NAMES, SUPPORTED
from conformance.errors import UsageError
from conformance.profiles import available, load_profile
from conformance.report.printable import visible


class Kind(StrEnum):
    """What can be listed."""

    RULES = "rules"
    SUITES = "suites"
    PROFILES = "profiles"
    DIALECTS = "dialects"


Row = Mapping[str, Any]


def command(
    kind: Annotated[Kind | None, typer.Argument(help="What to list; default: everything.")] = None,
    suite: SuiteOption = None,
    format_: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
) -> None:
    """List rules, suites, profiles and dialects."""
    if format_ not in ("text", "json"):
        raise UsageError(f"format must be text or json, got {format_!r}")
    extra = suite or ()
    asked = [kind] if kind else list(Kind)
    found = {str(each): list(_ROWS[each](extra)) for each in asked}
    put(json.dumps(found, indent=2) if format_ == "json" else _text(found))


def _rules(extra: Iterable[str]) -> Iterable[Row]:
    for suite in load_suites(tuple(extra)):
        for rule in suite.rules:
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
        yield {"name": name, "dialect": dialect, "title": load_profile(path).title}


def _dialects(_extra: Iterable[str]) -> Iterable[Row]:
    for name in NAMES:
        yield {"name": name, "supported": name in SUPPORTED}


_ROWS: Final[Mapping[Kind, Callable[[Iterable[str]], Iterable[Row]]]] = {
    Kind.RULES: _rules,
    Kind.SUITES: _suites,
    Kind.PROFILES: _profiles,
    Kind.DIALECTS: _dialects,
}


def _text(found: Mapping[str, list[Row]]) -> str:
    lines: list[str] = []
    for kind, rows in found.items():
        lines += [""] if lines else []
        lines += [f"{kind} ({len(rows)})"] if len(found) > 1 else []
        lines += _table([[_cell(value) for value in row.values()] for row in rows])
    return "\n".join(lines) or "nothing"


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "supported" if value else "recognised, not supported yet"
    return "-" if value is None else visible(str(value))


def _table(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
