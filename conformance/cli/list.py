"""`conformance list`: what there is to choose from, and what systems require."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from conformance.cassette.kinds import all_kinds
from conformance.cassette.search import SHIPPED, shipped_folders
from conformance.cli.completing import complete_profile
from conformance.cli.options import SuiteOption, TextOrJsonOption, require_format
from conformance.cli.terminal import put
from conformance.core.columns import align_columns
from conformance.core.errors import UsageError
from conformance.dialects import NAMES, SUPPORTED
from conformance.judging.checker import YAML_SUFFIXES, Checker
from conformance.judging.run_rules import ADDED_RULES
from conformance.judging.suites import ALL_SHIPPED, load_suites
from conformance.profiles.load import load_profile
from conformance.profiles.lookup import available, find, has_profile
from conformance.profiles.profile import Profile
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.rules.model import Rule
from conformance.rules.node import nearest
from conformance.rules.verdicts import Verdict
from conformance.scenarios import shipped_scenarios
from conformance.systems import System, find_system, read_streams, system_names, verdict_of

_REQUIREMENT_COLUMNS: Final = ("verdict", "id", "side", "says")

Row = Mapping[str, Any]


class ListedKind(StrEnum):
    RULES = "rules"
    SUITES = "suites"
    PROFILES = "profiles"
    DIALECTS = "dialects"
    SCENARIOS = "scenarios"
    SYSTEMS = "systems"
    FILES = "files"
    CASSETTES = "cassettes"


_JudgingOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="With rules: those that judge streams of this profile (a name or file).",
        autocompletion=complete_profile,
    ),
]


def list_command(  # noqa: PLR0917  # typer makes options of parameters
    kind: Annotated[
        ListedKind | None, typer.Argument(help="What to list; default: everything.")
    ] = None,
    suite: SuiteOption = None,
    profile: _JudgingOption = None,
    system: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="List what a system's documents require; a name or a YAML file."
        ),
    ] = None,
    report: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="With --system: verdicts of this JSON report; repeatable. Lists only: exits 0.",
        ),
    ] = None,
    format_: TextOrJsonOption = "text",
) -> None:
    """List rules, profiles, dialects, scenarios, systems and more."""
    require_format(format_, "text", "json")
    if system is None and report:
        raise UsageError("--report goes with --system NAME")
    if system is not None:
        if kind or suite or profile:
            raise UsageError("--system goes with --report and --format only")
        rows = list(_requirement_rows(find_system(system), report or ()))
        as_data = json.dumps({"requirements": rows}, indent=2)
        put(as_data if format_ == "json" else _render_requirements(rows))
        return
    found = _listed_rows(kind, tuple(suite or ()), profile)
    put(json.dumps(found, indent=2) if format_ == "json" else _render_kinds(found))


def _listed_rows(
    kind: ListedKind | None, suites: tuple[str, ...], profile: str | None
) -> dict[str, list[Row]]:
    if profile is None:
        kinds = [kind] if kind else list(ListedKind)
        return {str(each): list(_ROWS[each](suites)) for each in kinds}
    if kind is not ListedKind.RULES:
        raise UsageError("--profile goes with list rules")
    return {str(kind): list(_profile_rule_rows(profile, suites))}


def _rule_rows(suites: Sequence[str]) -> Iterator[Row]:
    rules = [rule for suite in load_suites(suites) for rule in suite.rules]
    is_whole = not suites or ALL_SHIPPED in suites
    for rule in (*rules, *ADDED_RULES.values()) if is_whole else rules:
        yield _rule_row(rule, str(rule.level))


def _rule_row(rule: Rule, level: str) -> Row:
    return {
        "id": rule.id,
        "level": level,
        "dialect": ", ".join(rule.dialects) or None,
        "says": rule.says,
        "since": rule.since,
    }


def _named_profiles(name: str) -> list[Profile]:
    """The profiles of that name, one for each dialect that has it. Raises UsageError."""
    if name.endswith(YAML_SUFFIXES):
        return [load_profile(name)]
    found = [find(name, dialect) for dialect in SUPPORTED if has_profile(dialect, name)]
    if not found:
        hint = nearest(name, {each for each, _, _ in available(())})
        raise UsageError(f"no profile {name!r}", hint=hint or "see conformance list profiles")
    return found


def _profile_rule_rows(name: str, suites: Sequence[str]) -> Iterator[Row]:
    """Rules that may judge a stream of the profile, with the levels that it gives them."""
    levels: dict[str, str] = {}
    for profile in _named_profiles(name):
        checker = Checker(profile.dialect, str(profile.file), suites=suites)
        verdicts = checker.check((), end="open").verdicts
        for rule_id, verdict in verdicts.items():
            if verdict is not Verdict.NOT_APPLICABLE:
                override = profile.overrides.get(rule_id)
                levels[rule_id] = override.level if override else ""
    for rule in (rule for suite in load_suites(suites) for rule in suite.rules):
        if rule.id in levels:
            yield _rule_row(rule, levels[rule.id] or str(rule.level))


def _suite_rows(suites: Sequence[str]) -> Iterator[Row]:
    for suite in load_suites(suites):
        yield {
            "id": suite.id,
            "rules": len(suite.rules),
            "dialect": ", ".join(suite.dialects) or None,
            "title": suite.title,
        }


def _profile_rows(_suites: Sequence[str]) -> Iterator[Row]:
    for name, dialect, path in available(()):
        profile = load_profile(path)
        yield {"name": name, "dialect": dialect, "side": profile.side, "title": profile.title}


def _dialect_rows(_suites: Sequence[str]) -> Iterator[Row]:
    for name in NAMES:
        yield {"name": name, "supported": name in SUPPORTED}


def _scenario_rows(_suites: Sequence[str]) -> Iterator[Row]:
    for scenario in shipped_scenarios():
        spoken = dict.fromkeys(dialect for step in scenario.steps for dialect in step.bodies)
        side = "gateway" if scenario.is_for_gateways else "server"
        if any(SUPPORTED[dialect].is_application for dialect in spoken):
            side = "application"
        yield {
            "name": scenario.name,
            "side": side,
            "steps": len(scenario.steps),
            "needs": ", ".join((*scenario.needs, *scenario.promises)) or None,
            "title": scenario.title,
        }


def _system_rows(_suites: Sequence[str]) -> Iterator[Row]:
    for name in system_names():
        system = find_system(name)
        yield {"name": name, "requirements": len(system.requirements), "title": system.title}


def _file_rows(_suites: Sequence[str]) -> Iterator[Row]:
    for kind in all_kinds():
        names = [suffix or "any name" for suffix in kind.suffixes]
        yield {"name": kind.name, "files": ", ".join(names), "says": kind.says or kind.expects}


def _cassette_rows(_suites: Sequence[str]) -> Iterator[Row]:
    for folder, number in shipped_folders():
        yield {"name": f"{SHIPPED}{folder}", "recordings": number}


_ROWS: Final[Mapping[ListedKind, Callable[[Sequence[str]], Iterable[Row]]]] = {
    ListedKind.RULES: _rule_rows,
    ListedKind.SUITES: _suite_rows,
    ListedKind.PROFILES: _profile_rows,
    ListedKind.DIALECTS: _dialect_rows,
    ListedKind.SCENARIOS: _scenario_rows,
    ListedKind.SYSTEMS: _system_rows,
    ListedKind.FILES: _file_rows,
    ListedKind.CASSETTES: _cassette_rows,
}


def _requirement_rows(system: System, reports: Iterable[Path]) -> Iterator[Row]:
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


def _render_kinds(found: Mapping[str, list[Row]]) -> str:
    lines: list[str] = []
    for kind, rows in found.items():
        lines += [""] if lines else []
        lines += [f"{kind} ({len(rows)})"] if len(found) > 1 else []
        lines += align_columns([[_cell_text(value) for value in row.values()] for row in rows])
    return "\n".join(lines) or "nothing"


def _render_requirements(rows: Sequence[Row]) -> str:
    """The rows as lines, and how many there are of each verdict."""
    cells = [
        [*(_cell_text(row[key]) for key in _REQUIREMENT_COLUMNS), _judged_by(row)] for row in rows
    ]
    judged = [row for row in rows if row["rules"]]
    verdicts = Counter(row["verdict"] or "without a verdict" for row in judged)
    counts = [f"{number} {verdict}" for verdict, number in sorted(verdicts.items())]
    counts.append(f"{len(rows) - len(judged)} not judged")
    summary = f"{count(len(rows), 'requirement')}: {', '.join(counts)}"
    return "\n".join([*align_columns(cells), summary])


def _judged_by(row: Row) -> str:
    rules: list[str] = row["rules"]
    return visible(", ".join(rules)) or f"not judged: {visible(row['reason'])}"


def _cell_text(value: Any) -> str:
    if isinstance(value, bool):
        return "supported" if value else "recognised, not judged"
    return "-" if value is None else visible(str(value))
