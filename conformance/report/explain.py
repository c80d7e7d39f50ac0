"""One rule for people: what it says, on whose authority, how it fails, and what silences it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from conformance.recordings.examples import RuleExample
from conformance.report.printable import Paint, visible
from conformance.report.rule_tests import example_texts
from conformance.report.silences import Silence, knob_conditions
from conformance.report.wording import authority_lines, finding_sentence
from conformance.rules.model import Rule
from conformance.rules.stream_example import EXPECTED, Expected
from conformance.rules.verdicts import Level

_EXCERPT: Final = 160  # characters of one line of a stream
_NO_KNOBS: Final[Mapping[str, str]] = {}
_VALUE: Final = 120  # characters of a knob's value
_NAMES: Final = 400  # characters of the profiles that share a reason
_MEANS: Final[Mapping[Level, str]] = {
    Level.MUST: "a violation exits 1",
    Level.SHOULD: "a violation exits 1 with --strict",
    Level.MAY: "a note, never a failure",
}


def explain_rule(
    rule: Rule,
    silences: Sequence[Silence] = (),
    example: RuleExample | None = None,
    *,
    knobs: Mapping[str, str] = _NO_KNOBS,
    colour: bool = False,
) -> str:
    """Write the whole page; ends with a line feed. `knobs` says of each knob what it is."""
    paint = Paint(colour)
    parts = (
        _rule_head(rule, paint),
        _titled_section(paint, "why", authority_lines(rule.source)),
        _example_lines(paint, example or RuleExample()),
        *(_titled_section(paint, key, _own_examples(rule, key)) for key in EXPECTED),
        _titled_section(paint, "fix", (visible(t) for t in (rule.fix, rule.hint) if t)),
        _titled_section(paint, "profiles", _profile_lines(rule, silences, knobs)),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def _rule_head(rule: Rule, paint: Paint) -> Iterator[str]:
    scope = ", ".join(rule.dialects) or "every dialect"
    view = "" if rule.view == "wire" else f", {rule.view} view"
    yield f"{paint('title', visible(rule.id))}  {rule.level} ({_MEANS[rule.level]})"
    yield f"  {visible(rule.says)}"
    yield f"  {visible(scope)}{view}, since {visible(rule.since)}, {visible(str(rule.place))}"


def _titled_section(paint: Paint, name: str, lines: Iterator[str]) -> Iterator[str]:
    section = list(lines)
    if section:
        yield ""
        yield paint("title", name)
        yield from (f"  {line}" for line in section)


def _example_lines(paint: Paint, example: RuleExample) -> Iterator[str]:
    yield from _titled_section(paint, "passes", (visible(t, _EXCERPT) for t in example.passing))
    yield from _titled_section(paint, "fails", (visible(t, _EXCERPT) for t in example.failing))
    if example.finding is not None:
        yield f"  {paint('FAIL', 'finding:')} {finding_sentence(example.finding)}"


def _own_examples(rule: Rule, key: Expected) -> Iterator[str]:
    """What the rule's own file shows of it."""
    yield from (visible(line, _EXCERPT) for line in example_texts(rule, key))


def _profile_lines(
    rule: Rule, silences: Sequence[Silence], knobs: Mapping[str, str]
) -> Iterator[str]:
    conditions = list(knob_conditions(rule))
    for knob, values in conditions:
        wanted = visible(" or ".join(values), _VALUE)
        yield (
            f"applies if the profile has {visible(knob)}: {wanted}"
            if values
            else f"judges by the profile's knob {visible(knob)}"
        )
        if knob in knobs:
            yield f"  {visible(knobs[knob])}"
    if not (conditions or silences):
        yield "no knob turns it off; a profile of your own may lower its level, with a reason"
    alike: dict[tuple[str, str, str], list[Silence]] = {}
    for one in silences:
        alike.setdefault((one.dialect, one.sets, one.because), []).append(one)
    for (dialect, sets, because), those in alike.items():
        names = visible(", ".join(one.profile for one in those), _NAMES)
        verb = "sets" if len(those) == 1 else "set"
        yield f"{names} ({visible(dialect)}) {verb} {visible(sets, _VALUE)}"
        if because:
            yield f"  {visible(because)}"
        if len(those) == 1 and those[0].seen:
            yield f"  {visible(f'seen: {those[0].seen}')}"
