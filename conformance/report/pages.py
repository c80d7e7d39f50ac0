"""The rulebook as Markdown: one page per rule, and an index by suite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from conformance.recordings.examples import RuleExample
from conformance.report.escaping import code_block
from conformance.report.printable import visible
from conformance.report.silences import Silence, knob_conditions
from conformance.report.wording import finding_sentence
from conformance.rules.model import Rule, Suite

_MARKUP: Final = re.compile(r"[\\`*_\[]")
_EXCERPT: Final = 160  # characters of one line of a stream


def rule_page(
    rule: Rule,
    silences: Sequence[Silence] = (),
    example: RuleExample | None = None,
    knobs: Mapping[str, str] | None = None,
) -> str:
    """The page of one rule; ends with a line feed."""
    shown = example or RuleExample()
    parts = (
        [f"# {rule.id}", "", f"**{rule.level}.** {_one_line(rule.says)}", ""],
        [f"{_rule_scope(rule)}, since {rule.since}."],
        _titled_part("Why", _authority_lines(rule)),
        _titled_part("Who breaks", _breaking_clients(rule)),
        _titled_part("Passes", _code_block(shown.passing)),
        _titled_part("Fails", _failing_example(shown)),
        _titled_part("Fix", [_one_line(text) for text in (rule.fix, rule.hint) if text]),
        _titled_part(
            "Where it is legal",
            _legal_lines(list(_condition_lines(rule, knobs or {})), silences),
        ),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def _one_line(text: str) -> str:
    """Markdown on one line, whose tags are shown and whose links lead nowhere."""
    return " ".join(text.split()).replace("<", "&lt;").replace("](", "]\\(")


def _literal_text(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _MARKUP.sub(r"\\\g<0>", text).replace("<", "&lt;")


def _rule_scope(rule: Rule) -> str:
    view = "judges what a client reports" if rule.view == "client" else "judges the wire"
    return f"Dialect {', '.join(rule.dialects) or 'any'}; {view}"


def _titled_part(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *lines] if lines else []


def _authority_lines(rule: Rule) -> list[str]:
    lines: list[str] = []
    for source in rule.source:
        if "spec" in source:
            quote = f": “{_one_line(source['quote'])}”" if "quote" in source else ""
            lines.append(f"- <{source['spec']}>{quote}")
        lines.extend(
            f"- {kind}: {_one_line(source[key])}"
            for key, kind in (("observed", "Observed"), ("advice", "Advice"))
            if key in source
        )
    return lines


def _breaking_clients(rule: Rule) -> list[str]:
    return [f"- {_one_line(source['breaks'])}" for source in rule.source if "breaks" in source]


def _code_block(lines: Sequence[str]) -> list[str]:
    return code_block([visible(line, _EXCERPT) for line in lines]) if lines else []


def _failing_example(example: RuleExample) -> list[str]:
    found = ["", f"> {_literal_text(finding_sentence(example.finding))}"] if example.finding else []
    return [*_code_block(example.failing), *found]


def _condition_lines(rule: Rule, knobs: Mapping[str, str]) -> Iterator[str]:
    for knob, values in knob_conditions(rule):
        wanted = " or ".join(f"`{value}`" for value in values)
        head = (
            f"Speaks where the profile has `{knob}`: {wanted}"
            if values
            else f"Judges by the knob `{knob}`"
        )
        yield f"{head}. {knobs.get(knob, '')}".rstrip()


def _legal_lines(conditions: list[str], silences: Sequence[Silence]) -> list[str]:
    silenced = [_silence_line(one) for one in silences]
    # A list begins after a blank line: not every Markdown parser recognises it without one.
    return [*conditions, "", *silenced] if conditions and silenced else conditions + silenced


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
