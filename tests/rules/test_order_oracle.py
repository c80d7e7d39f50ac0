"""`never` and `response` against their definitions, read off the whole stream at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.rules.compiled import Outcome
from conformance.rules.verdicts import Verdict

Row = tuple[int, str]
NAMES: Final = ("a", "b", "c")

steps = st.lists(st.tuples(st.integers(0, 1), st.sampled_from([*NAMES, "d"])), max_size=9)
some = st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True)


def numbered(pairs: Sequence[tuple[int, str]]) -> list[Row]:
    """Rows whose numbers stay or rise by one; the first is 1."""
    number = 1
    rows: list[Row] = []
    for step, kind in pairs:
        number += step if rows else 0
        rows.append((number, kind))
    return rows


def judge(run_rules: Any, rule: dict[str, Any], rows: list[Row]) -> tuple[Verdict, int | None]:
    """Verdict, and the event of the first finding."""
    outcome: Outcome = run_rules({"rule": rule}, [(n, "wire", kind) for n, kind in rows])[0]
    first = outcome.violations[0].number if outcome.violations else None
    assert len(outcome.violations) <= 1
    return outcome.verdict, first


def numbers(rows: list[Row], names: Sequence[str]) -> list[int]:
    return [number for number, kind in rows if kind in names]


def forbidden(rows: list[Row], at: int, after: list[str], until: list[str]) -> bool:
    """Whether an event at this number lies between the bounds."""
    ends = numbers(rows, until)
    if not after:
        return not any(end <= at for end in ends)
    begins = (begin for begin in numbers(rows, after) if begin < at)
    return any(not any(begin < end <= at for end in ends) for begin in begins)


@settings(deadline=None)
@given(steps, some, st.just([]) | some, st.just([]) | some)
def test_never_is_what_its_definition_says(
    run_rules: Any,
    pairs: list[tuple[int, str]],
    events: list[str],
    after: list[str],
    until: list[str],
) -> None:
    rows = numbered(pairs)
    rule = {"never": events, **({"after": after} if after else {})}
    verdict, first = judge(run_rules, {**rule, **({"until": until} if until else {})}, rows)

    bad = [n for n in numbers(rows, events) if forbidden(rows, n, after, until)]
    if bad:
        assert (verdict, first) == (Verdict.FAIL, min(bad))
        return
    has_subject = numbers(rows, events) if after or until else rows
    fired = has_subject and (numbers(rows, after) or not after)
    assert verdict is (Verdict.PASS if fired else Verdict.VACUOUS)


def due(rows: list[Row], asked: int, then: list[str], before: list[str]) -> int | None:
    """The event at which the answer to a question was missing, or None."""
    answers = [n for n in numbers(rows, then) if n >= asked]
    bound = min((n for n in numbers(rows, before) if n > asked), default=None)
    if bound is not None:
        return None if any(answer <= bound for answer in answers) else bound
    return None if answers else rows[-1][0] if rows else 0


@settings(deadline=None)
@given(steps, st.just([]) | some, some, st.just([]) | some)
def test_response_is_what_its_definition_says(
    run_rules: Any,
    pairs: list[tuple[int, str]],
    when: list[str],
    then: list[str],
    before: list[str],
) -> None:
    rows = numbered(pairs)
    form = {"then": then, **({"when": when} if when else {})}
    rule = {"response": {**form, **({"before": before} if before else {})}}
    verdict, first = judge(run_rules, rule, rows)

    asked = numbers(rows, when) if when else [0]
    missing = [n for n in (due(rows, at, then, before) for at in asked) if n is not None]
    if missing:
        assert (verdict, first) == (Verdict.FAIL, min(missing))
    else:
        assert verdict is (Verdict.PASS if asked else Verdict.VACUOUS)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from("ab"), st.integers(0, 2)), max_size=9))
def test_slices_are_judged_alone(run_rules: Any, triples: list[tuple[int, str, int]]) -> None:
    number, rows = 1, []
    for step, kind, index in triples:
        number += step
        rows.append((number, "wire", kind, {"i": index}))
    form = {"grammar": "(a b)* a?"}
    together = run_rules({"rule": {"slice": ["i"], **form}}, rows)[0]
    alone = {
        index: run_rules({"rule": form}, [row for row in rows if row[3]["i"] == index])[0]
        for index in {row[3]["i"] for row in rows}
    }
    found = {violation.slice["i"]: violation.number for violation in together.violations}
    assert found == {i: o.violations[0].number for i, o in alone.items() if o.violations}
