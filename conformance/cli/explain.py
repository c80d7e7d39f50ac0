"""`conformance explain`: one rule for people, or all of them as pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from conformance.cli.completing import complete_rule
from conformance.cli.options import SuiteOption
from conformance.cli.terminal import has_colour, put, terminal_width
from conformance.core.errors import UsageError
from conformance.judging.rule_names import find_rule_id
from conformance.judging.run_rules import ADDED_RULES
from conformance.judging.suites import load_suites
from conformance.profiles.lookup import available, find
from conformance.profiles.profile import Profile
from conformance.recordings.examples import rule_example
from conformance.report import pages
from conformance.report.explain import explain_rule
from conformance.report.files import write_whole
from conformance.report.silences import rule_silences
from conformance.rules.model import Rule

_MARGINS: Final = 4  # columns of an excerpt that hold indent and marks of cuts
_NARROWEST: Final = 40
_WIDEST: Final = 140


def explain_command(
    rule: Annotated[
        str | None,
        typer.Argument(help="Rule id, or an unambiguous part of it.", autocompletion=complete_rule),
    ] = None,
    suite: SuiteOption = None,
    to: Annotated[
        Path | None, typer.Option("--pages", help="Write a Markdown page per rule to this folder.")
    ] = None,
) -> None:
    """Explain a rule: what it demands, its sources, its knobs."""
    if to is not None:
        put(f"{write_pages(to, suite or ())} pages in {to}")
    elif rule is None:
        raise UsageError("name a rule, or give a folder for all of them with --pages")
    else:
        put(rule_page(rule, suite or ()))


def rule_page(typed: str, extra: Sequence[str] = ()) -> str:
    """Write about the rule that was meant; UsageError if there is none such."""
    rules = {rule.id: rule for suite in load_suites(extra) for rule in suite.rules}
    rules |= ADDED_RULES
    rule = rules[find_rule_id(typed, rules)]
    profiles = shipped_profiles()
    silent = rule_silences(rule, profiles)
    knobs = knobs_of(rule, profiles)
    columns = terminal_width()
    bounds = (min(max(columns - _MARGINS, _NARROWEST), _WIDEST),) if columns else ()
    example = rule_example(rule.id, *bounds)
    return explain_rule(rule, silent, example, knobs=knobs, colour=has_colour())


def write_pages(folder: Path, extra: Sequence[str] = ()) -> int:
    """Write a page per rule and the index; gives the number of files."""
    suites = load_suites(extra)
    profiles = shipped_profiles()
    texts = {"README.md": pages.rule_index(suites)}
    for suite in suites:
        for rule in suite.rules:
            silent = rule_silences(rule, profiles)
            knobs = knobs_of(rule, profiles)
            texts[f"{rule.id}.md"] = pages.rule_page(rule, silent, rule_example(rule.id), knobs)
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, text.encode())
    return len(texts)


def shipped_profiles() -> list[Profile]:
    return [find(name, dialect) for name, dialect, _ in available(())]


def knobs_of(rule: Rule, profiles: Sequence[Profile]) -> Mapping[str, str]:
    """What each knob is that the rule may look at; per dialect where their words differ."""
    words: dict[str, dict[str, str]] = {}
    for profile in profiles:
        if rule.judges(profile.dialect):
            for name, knob in profile.declared.items():
                words.setdefault(name, {}).setdefault(knob.says, profile.dialect)
    return {name: _join_words(wordings) for name, wordings in words.items()}


def _join_words(wordings: Mapping[str, str]) -> str:
    """What one knob is, from its words to the first dialect that says it so."""
    if len(wordings) == 1:
        return next(iter(wordings))
    return " ".join(f"{dialect}: {words}" for words, dialect in wordings.items())
