"""The rulebook as Markdown: one page per rule, and an index by suite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from conformance.report.explain import RuleExcerpts
from conformance.report.printable import visible
from conformance.report.silences import Silence, spell_value
from conformance.report.wording import finding_sentence
from conformance.rules.lint_knobs import knobs_read
from conformance.rules.model import Rule, Suite

_EXCERPT: Final = 160  # characters of one line of a stream
_FENCE: Final = re.compile("`{3,}")


def rule_page(
    rule: Rule,
    silences: Sequence[Silence] = (),
    excerpts: RuleExcerpts | None = None,
    knobs: Mapping[str, str] | None = None,
) -> str:
    """The page of one rule; ends with a line feed."""
    shown = excerpts or RuleExcerpts()
    parts = (
        [f"# {rule.id}", "", f"**{rule.level}.** {_one_line(rule.says)}", ""],
        [f"{_rule_scope(rule)}, since {rule.since}."],
        _titled_part("Why", _authority_lines(rule)),
        _titled_part("Who breaks", _breaking_clients(rule)),
        _titled_part("Passes", _code_block(shown.passing)),
        _titled_part("Fails", _failing_example(shown)),
        _titled_part("Fix", [_one_line(text) for text in (rule.fix, rule.hint) if text]),
        _titled_part("Where it is legal", _legal_lines(rule, silences, knobs or {})),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def _one_line(text: str) -> str:
    """Text on one line that Markdown shows as it is, tags and all."""
    return " ".join(text.split()).replace("<", "&lt;")


def _rule_scope(rule: Rule) -> str:
    view = "judges what a client reports" if rule.view == "client" else "judges the wire"
    return f"Dialect {rule.dialect or 'any'}; {view}"


def _titled_part(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *lines] if lines else []


def _authority_lines(rule: Rule) -> list[str]:
    told: list[str] = []
    for source in rule.source:
        if "spec" in source:
            quote = f": “{_one_line(source['quote'])}”" if "quote" in source else ""
            told.append(f"- <{source['spec']}>{quote}")
        told.extend(
            f"- {kind}: {_one_line(source[key])}"
            for key, kind in (("observed", "Observed"), ("advice", "Advice"))
            if key in source
        )
    return told


def _breaking_clients(rule: Rule) -> list[str]:
    return [f"- {_one_line(source['breaks'])}" for source in rule.source if "breaks" in source]


def _code_block(lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    clean = (_FENCE.sub("``", visible(line, _EXCERPT)) for line in lines)
    return ["```text", *clean, "```"]


def _failing_example(excerpts: RuleExcerpts) -> list[str]:
    code = _code_block(excerpts.failing)
    if excerpts.finding is None:
        return code
    return [*code, "", f"> {finding_sentence(excerpts.finding)}"]


def _legal_lines(rule: Rule, silences: Sequence[Silence], knobs: Mapping[str, str]) -> list[str]:
    return [*_condition_lines(rule, knobs), *(_silence_line(one) for one in silences)]


def _condition_lines(rule: Rule, knobs: Mapping[str, str]) -> Iterator[str]:
    for path, pattern in rule.applies.profile:
        values = pattern if isinstance(pattern, list | tuple) else [pattern]
        wanted = " or ".join(f"`{spell_value(value)}`" for value in values)
        yield f"Speaks where the profile has `{path}`: {wanted}. {knobs.get(path, '')}".rstrip()
    for knob in sorted(knobs_read(rule)):
        yield f"Judges by the knob `{knob}`. {knobs.get(knob, '')}".rstrip()


def _silence_line(one: Silence) -> str:
    reason = f": {_one_line(one.because)}" if one.because else ""
    seen = f" (seen: {one.seen})" if one.seen else ""
    return f"- `{one.profile}` ({one.dialect}) sets `{visible(one.sets, 80)}`{reason}{seen}"


def rule_index(suites: Sequence[Suite]) -> str:
    """All rules by suite, each linking to its page."""
    total = sum(len(suite.rules) for suite in suites)
    lines = ["# Rules", "", f"{total} rules in {len(suites)} suites; written from `specs/`."]
    for suite in sorted(suites, key=lambda suite: suite.id):
        lines += ["", f"## {suite.id}", "", f"{suite.title}.", "", "| rule | level | says |"]
        lines.append("|---|---|---|")
        for rule in suite.rules:
            name = rule.id.removeprefix(f"{suite.id}/")
            lines.append(f"| [{name}]({rule.id}.md) | {rule.level} | {rule.says} |")
    return "\n".join(lines) + "\n"
