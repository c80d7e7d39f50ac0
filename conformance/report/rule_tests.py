"""The examples of rules in words: their outcome and their content."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.core.excerpts import redacted
from conformance.recordings.rule_tests import JudgedExample
from conformance.report.printable import visible
from conformance.report.wording import count, finding_sentence
from conformance.rules.model import Rule
from conformance.rules.stream_example import Expected, StreamExample
from conformance.rules.verdicts import Verdict

_LINES: Final = 8  # of a stream that `explain` shows
_NAMED: Final = 3  # other rules that one line names
_MOST: Final = 400  # characters of a reason


def example_line(judged: JudgedExample) -> str:
    """One example: its place, what it is to show, and what came of it."""
    example = judged.example
    what = f"{example.place}: {judged.rule} {example.expected} {example.number}"
    return visible(f"{what}: {example_verdict(judged)}", _MOST * 3)


def example_verdict(judged: JudgedExample) -> str:
    """`ok`, or why not; with the other rules of the file that find something there."""
    others = _other_rules(judged)
    if judged.holds:
        return f"ok{f' ({others})' if others else ''}"
    words = f"FAILED: {_failure_reason(judged)}"
    return f"{words}; {others}" if others else words


def _failure_reason(judged: JudgedExample) -> str:
    if judged.finding is not None and judged.verdict is Verdict.FAIL:
        return f"the rule is broken: {finding_line(judged)}"
    wanted = "keep" if judged.example.expected == "keeps" else "break"
    if judged.verdict is Verdict.PASS:
        return "the stream keeps the rule"
    reason = f": {judged.reason}" if judged.reason else ""
    return f"{judged.verdict}, so the stream does not {wanted} the rule{reason}"


def finding_line(judged: JudgedExample) -> str:
    """What the rule found, and where in the stream."""
    found = judged.finding
    return "" if found is None else f"event {found.event}: {finding_sentence(found)}"


def _other_rules(judged: JudgedExample) -> str:
    if not judged.others:
        return ""
    shown = ", ".join(judged.others[:_NAMED])
    more = len(judged.others) - _NAMED
    return f"also found by {shown}{f' and {more} more' if more > 0 else ''}"


def example_texts(rule: Rule, expected: Expected) -> Iterator[str]:
    """The examples of a rule under one key, as lines to read; long streams are cut."""
    examples = [each for each in rule.examples if each.expected == expected]
    for example in examples:
        if examples[1:]:
            yield f"{example.number}. {example.place}"
        lines = list(_stream_lines(example))
        yield from lines[:_LINES]
        if len(lines) > _LINES:
            yield f"... {count(len(lines) - _LINES, 'line')} more, from {example.place} on"


def _stream_lines(example: StreamExample) -> Iterator[str]:
    if example.file:
        yield example.file
    elif example.text:
        yield from (line for line in redacted(example.text).splitlines() if line)
    else:
        yield from map(redacted, example.frames)
