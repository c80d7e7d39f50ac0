from __future__ import annotations

import pytest

from conformance.core.errors import UsageError
from conformance.judging.rule_names import find_rule_id, fits_rule, rule_filter

KNOWN = ["wire/chat/done", "wire/chat/done-last", "wire/responses/done-last", "summary/text/joined"]

FOUND = [
    ("wire/chat/done", "wire/chat/done"),  # exact, though another id begins with it
    ("done", "wire/chat/done"),  # a whole last part beats a piece of one
    ("chat/done-last", "wire/chat/done-last"),
    ("joined", "summary/text/joined"),
    ("joi", "summary/text/joined"),
    ("summary/", "summary/text/joined"),
]


@pytest.mark.parametrize(("typed", "meant"), FOUND)
def test_an_unambiguous_part_is_enough(typed: str, meant: str) -> None:
    assert find_rule_id(typed, KNOWN) == meant


REFUSED = [
    ("done-last", r"'done-last' fits wire/chat/done-last, wire/responses/done-last; which one\?"),
    ("wire/", r"'wire/' fits .* which one\?"),
    ("wire/chat/dune", r"there is no rule 'wire/chat/dune' \(did you mean 'wire/chat/done'\?\)"),
    ("joyned", r"there is no rule 'joyned' \(did you mean 'joined'\?\)"),
    ("zzz", r"there is no rule 'zzz'$"),
    ("", "there is no rule ''"),
]


@pytest.mark.parametrize(("typed", "message"), REFUSED)
def test_anything_else_is_refused_with_what_is_near(typed: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_rule_id(typed, KNOWN)


def test_many_candidates_are_counted() -> None:
    with pytest.raises(UsageError, match="and 15 more; which one"):
        find_rule_id("rule", [f"a/b/rule-{n}" for n in range(20)])


@pytest.mark.parametrize(
    ("glob", "fits"),
    [
        ("done-last", {"wire/chat/done-last", "wire/responses/done-last"}),
        ("chat/done-last", {"wire/chat/done-last"}),
        ("wire/chat/done", {"wire/chat/done"}),
        ("last", set()),
        ("wire/*", set(KNOWN[:3])),
        ("*done", {"wire/chat/done"}),
    ],
)
def test_a_name_without_wildcards_is_the_end_of_an_id(glob: str, fits: set[str]) -> None:
    assert {rule for rule in KNOWN if fits_rule(rule, glob)} == fits
    assert set(filter(rule_filter([glob]), KNOWN)) == fits
    assert set(filter(rule_filter([glob, "no-such", "x*"]), KNOWN)) == fits


def test_no_glob_fits_nothing() -> None:
    assert not any(map(rule_filter([]), KNOWN))
