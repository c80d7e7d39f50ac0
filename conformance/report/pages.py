"""The rulebook as Markdown: one page per rule, and an index by suite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from conformance.report.explain import Excerpts
from conformance.report.printable import visible
from conformance.report.silences import Silence, spell
from conformance.report.wording import sentence
from conformance.rules.lint_knobs import knobs_read
from conformance.rules.model import Rule, Suite

_EXCERPT: Final = 160  # characters of one line of a stream
_FENCE: Final = re.compile("`{3,}")


def page(
    rule: Rule,
    silences: Sequence[Silence] = (),
    excerpts: Excerpts | None = None,
    knobs: Mapping[str, str] | None = None,
) -> str:
    """The page of one rule; ends with a line feed."""
    shown = excerpts or Excerpts()
    parts = (
        [f"# {rule.id}", "", f"**{rule.level}.** {_plain(rule.says)}", ""],
        [f"{_scope(rule)}, since {rule.since}."],
        _part("Why", _why(rule)),
        _part("Who breaks", _breaks(rule)),
        _part("Passes", _code(shown.passing)),
        _part("Fails", _failing(shown)),
        _part("Fix", [_plain(text) for text in (rule.fix, rule.hint) if text]),
        _part("Where it is legal", _legal(rule, silences, knobs or {})),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def _plain(text: str) -> str:
    """Text on one line that Markdown shows as it is, tags and all."""
    return " ".join(text.split()).replace("<", "&lt;")


def _scope(rule: Rule) -> str:
    view = "judges what a client reports" if rule.view == "client" else "judges the wire"
    return f"Dialect {rule.dialect or 'any'}; {view}"


def _part(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *lines] if lines else []


def _why(rule: Rule) -> list[str]:
    told: list[str] = []
    for source in rule.source:
        if "spec" in source:
            quote = f": “{_plain(source['quote'])}”" if "quote" in source else ""
            told.append(f"- <{source['spec']}>{quote}")
        told.extend(
            f"- {kind}: {_plain(source[key])}"
            for key, kind in (("observed", "Observed"), ("advice", "Advice"))
            if key in source
        )
    return told


def _breaks(rule: Rule) -> list[str]:
    return [f"- {_plain(source['breaks'])}" for source in rule.source if "breaks" in source]


def _code(lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    clean = (_FENCE.sub("``", visible(line, _EXCERPT)) for line in lines)
    return ["```text", *clean, "```"]


def _failing(excerpts: Excerpts) -> list[str]:
    code = _code(excerpts.failing)
    if excerpts.finding is None:
        return code
    return [*code, "", f"> {sentence(excerpts.finding)}"]


def _legal(rule: Rule, silences: Sequence[Silence], knobs: Mapping[str, str]) -> list[str]:
    return [*_conditions(rule, knobs), *(_line(one) for one in silences)]


def _conditions(rule: Rule, knobs: Mapping[str, str]) -> Iterator[str]:
    for path, pattern in rule.applies.profile:
        values = pattern if isinstance(pattern, list | tuple) else [pattern]
        wanted = " or ".join(f"`{spell(value)}`" for value in values)
        yield f"Speaks where the profile has `{path}`: {wanted}. {knobs.get(path, '')}".rstrip()
    for knob in sorted(knobs_read(rule)):
        yield f"Judges by the knob `{knob}`. {knobs.get(knob, '')}".rstrip()


def _line(one: Silence) -> str:
    reason = f": {_plain(one.because)}" if one.because else ""
    seen = f" (seen: {one.seen})" if one.seen else ""
    return f"- `{one.profile}` ({one.dialect}) sets `{visible(one.sets, 80)}`{reason}{seen}"


def index(suites: Sequence[Suite]) -> str:
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
