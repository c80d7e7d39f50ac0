"""One rule for people: what it says, on whose authority, how it fails, and what silences it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.judging.result import Finding
from conformance.report.printable import Paint, visible
from conformance.report.silences import Silence, spell_value
from conformance.report.wording import authority_lines, finding_sentence
from conformance.rules.lint_knobs import knobs_read
from conformance.rules.model import Rule
from conformance.rules.verdicts import Level

_EXCERPT: Final = 160  # characters of one line of a stream
_NO_KNOBS: Final[Mapping[str, str]] = {}
_VALUE: Final = 120  # characters of a knob's value
_MEANS: Final[Mapping[Level, str]] = {
    Level.MUST: "a violation exits 1",
    Level.SHOULD: "a violation exits 1 with --strict",
    Level.MAY: "a note, never a failure",
}


@dataclass(frozen=True, slots=True)
class RuleExcerpts:
    """Lines of a stream that passes, of one that fails, and the finding there."""

    passing: Sequence[str] = ()
    failing: Sequence[str] = ()
    finding: Finding | None = None


def explain_rule(
    rule: Rule,
    silences: Sequence[Silence] = (),
    excerpts: RuleExcerpts | None = None,
    *,
    knobs: Mapping[str, str] = _NO_KNOBS,
    colour: bool = False,
) -> str:
    """Write the whole page; ends with a line feed. `knobs` says of each knob what it is."""
    paint = Paint(colour)
    parts = (
        _rule_head(rule, paint),
        _titled_section(paint, "why", authority_lines(rule.source)),
        _excerpt_lines(paint, excerpts or RuleExcerpts()),
        _titled_section(paint, "fix", (visible(t) for t in (rule.fix, rule.hint) if t)),
        _titled_section(paint, "silenced", _silence_lines(rule, silences, knobs)),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def _rule_head(rule: Rule, paint: Paint) -> Iterator[str]:
    scope = rule.dialect or "every dialect"
    view = "" if rule.view == "wire" else f", {rule.view} view"
    yield f"{paint('title', visible(rule.id))}  {rule.level} ({_MEANS[rule.level]})"
    yield f"  {visible(rule.says)}"
    yield f"  {visible(scope)}{view}, since {visible(rule.since)}, {visible(str(rule.place))}"


def _titled_section(paint: Paint, name: str, lines: Iterator[str]) -> Iterator[str]:
    told = list(lines)
    if told:
        yield ""
        yield paint("title", name)
        yield from (f"  {line}" for line in told)


def _excerpt_lines(paint: Paint, excerpts: RuleExcerpts) -> Iterator[str]:
    yield from _titled_section(paint, "passes", (visible(t, _EXCERPT) for t in excerpts.passing))
    yield from _titled_section(paint, "fails", (visible(t, _EXCERPT) for t in excerpts.failing))
    if excerpts.finding is not None:
        yield f"  {paint('FAIL', 'finding:')} {finding_sentence(excerpts.finding)}"


def _silence_lines(
    rule: Rule, silences: Sequence[Silence], knobs: Mapping[str, str]
) -> Iterator[str]:
    for path, pattern in rule.applies.profile:
        yield f"speaks where the profile has {visible(path)}: {_pattern_text(pattern)}"
        yield from _knob_meaning(path, knobs)
    for knob in sorted(knobs_read(rule)):
        yield f"judges by the profile's knob {visible(knob)}"
        yield from _knob_meaning(knob, knobs)
    if not (rule.applies.profile or knobs_read(rule) or silences):
        yield "by no knob; a profile of your own may lower its level and say why"
    for one in silences:
        yield f"{visible(one.profile)} ({visible(one.dialect)}) sets {visible(one.sets, _VALUE)}"
        yield from (f"  {visible(text)}" for text in _silence_reason(one))


def _knob_meaning(knob: str, knobs: Mapping[str, str]) -> Iterator[str]:
    if knob in knobs:
        yield f"  {visible(knobs[knob])}"


def _silence_reason(one: Silence) -> Iterator[str]:
    if one.because:
        yield one.because
    if one.seen:
        yield f"seen: {one.seen}"


def _pattern_text(pattern: object) -> str:
    if isinstance(pattern, list | tuple):
        return visible(" or ".join(map(spell_value, pattern)), _VALUE)
    return visible(spell_value(pattern), _VALUE)
