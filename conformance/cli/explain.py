"""`conformance explain`: one rule for people."""

from __future__ import annotations

from typing import Annotated

import typer

from conformance.check.examples import example
from conformance.check.suites import load_suites
from conformance.cli.options import SuiteOption
from conformance.cli.rule_names import full_id
from conformance.cli.terminal import has_colour, put
from conformance.profiles import available, load_profile
from conformance.report.explain import Excerpts, explain
from conformance.report.silences import silences


def command(
    rule: Annotated[str, typer.Argument(help="Rule id; any unambiguous part of it will do.")],
    suite: SuiteOption = None,
) -> None:
    """Tell what a rule says, on whose authority, and what silences it."""
    put(page(rule, suite or ()))


def page(typed: str, extra: list[str] | tuple[str, ...] = ()) -> str:
    """Write about the rule that was meant; UsageError if there is none such."""
    rules = {rule.id: rule for suite in load_suites(extra) for rule in suite.rules}
    rule = rules[full_id(typed, rules)]
    profiles = [load_profile(path) for _, _, path in available(())]
    knobs = {
        name: knob.says
        for profile in profiles
        if rule.dialect in (None, profile.dialect)
        for name, knob in profile.declared.items()
    }
    shown = example(rule.id)
    excerpts = Excerpts(shown.passing, shown.failing, shown.finding) if shown else None
    silent = silences(rule, profiles)
    return explain(rule, silent, excerpts, knobs=knobs, colour=has_colour())
