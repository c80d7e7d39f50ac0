"""Two hops of one exchange: what stood behind a gateway, and what the gateway made of it.

The first call upstream is the answer; later ones (a summary) are only counted. Order, ids and
types on the far side are judged by the suites of its dialect, like any other stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from conformance.check.answer import Answer, ended, read_answer
from conformance.check.result import StreamResult
from conformance.check.stated import (
    HOP_CALLS,
    HOP_TEXT,
    HOP_THINKING,
    HOP_TOOLS,
    HOP_USAGE,
    Expected,
    differing,
    told_also,
)
from conformance.dialects import get
from conformance.dialects.base import Reading
from conformance.events import Exchange
from conformance.rules.model import Rule
from conformance.rules.monitors.differences import first_difference
from conformance.rules.verdicts import Verdict

_WHOLE: Final = frozenset({"complete", "length", "tools"})
_NOBODY: Final = "nothing was asked upstream"
_BROKEN: Final = "the answer upstream broke off"


def with_hops(
    result: StreamResult,
    exchange: Exchange,
    answer: Answer,
    behind: Sequence[Exchange],
    expected: Expected,
) -> StreamResult:
    """The downstream result, with the comparison to what was heard `behind` the gateway."""
    calls = expected.calls
    if calls is not None:
        result = _told(result, HOP_CALLS, exchange, answer, (calls, len(behind)))
    compared = (HOP_TEXT, HOP_TOOLS, HOP_THINKING, HOP_USAGE)
    if not behind:
        verdicts = dict.fromkeys((rule.id for rule in compared), Verdict.UNTESTABLE)
        return told_also(result, verdicts, (), _NOBODY)
    answers = [read_answer(each, get(each.dialect or "openai.chat"), Reading()) for each in behind]
    if ended(behind[0], answers[0]) not in _WHOLE:
        if ended(exchange, answer) == "cut":
            result = _excused(result)
        verdicts = dict.fromkeys((rule.id for rule in compared), Verdict.NOT_APPLICABLE)
        return told_also(result, verdicts, (), _BROKEN)
    for rule, wanted, got in _pairs(answers, answer):
        if rule is HOP_THINKING and "thinking" in expected.without:
            continue
        result = _told(result, rule, exchange, answer, (wanted, got))
    return result


def _excused(result: StreamResult) -> StreamResult:
    """A break that was passed on is not the gateway's: what is missing is not held against it."""
    kept = tuple(f for f in result.findings if f.rule.startswith("scenario/"))
    failed = {f.rule for f in result.findings} - {f.rule for f in kept}
    return replace(
        result,
        verdicts={**result.verdicts, **dict.fromkeys(failed, Verdict.NOT_APPLICABLE)},
        reasons={**result.reasons, **dict.fromkeys(failed, _BROKEN)},
        findings=kept,
    )


def _pairs(answers: Sequence[Answer], downstream: Answer) -> Iterator[tuple[Rule, Any, Any]]:
    """What must be alike, if there is anything of it."""
    first = answers[0]
    texts = "".join(first.text), "".join(downstream.text)
    thoughts = "".join(first.raw), "".join(downstream.raw)
    tools = _calls(first), _calls(downstream)
    totals = [each.usage.get("total") for each in answers]
    total = downstream.usage.get("total")
    if any(texts):
        yield HOP_TEXT, *texts
    if any(tools):
        yield HOP_TOOLS, *tools
    if any(thoughts):
        yield HOP_THINKING, *thoughts
    if isinstance(total, int) and all(isinstance(each, int) for each in totals):
        yield HOP_USAGE, sum(each for each in totals if isinstance(each, int)), total


def _calls(answer: Answer) -> list[Any]:
    return [
        {"name": t.get("name"), "arguments": _decoded(t.get("arguments"))} for t in answer.tools
    ]


def _decoded(arguments: Any) -> Any:
    try:
        return json.loads(arguments)
    except (TypeError, ValueError, RecursionError):
        return arguments


def _told(
    result: StreamResult,
    rule: Rule,
    exchange: Exchange,
    answer: Answer,
    pair: tuple[Any, Any],
) -> StreamResult:
    wanted, got = pair
    if wanted == got:
        return told_also(result, {rule.id: Verdict.PASS}, ())
    where, expected, came = first_difference(wanted, got)
    message = f"expected {expected}, got {came} at {where}"
    found = differing(rule, exchange, answer, message)
    return told_also(result, {rule.id: Verdict.FAIL}, (found,))
