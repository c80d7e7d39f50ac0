"""Folds say the same of a text however its deltas are cut; `grows` alone looks at the cuts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from hypothesis import example, given, settings
from hypothesis import strategies as st

from conformance.rules.compiled import Outcome

STATED: Final = {"in": "b", "path": "text"}
RULES: Final[dict[str, dict[str, Any]]] = {
    "equals": {"fold": {"over": "a", "take": "t", "equals": STATED}},
    "contains": {"fold": {"over": "a", "take": "t", "contains": STATED}},
    "matches": {"fold": {"over": "a", "take": "t", "matches": "x{2}y|^z"}},
    "at-least": {"fold": {"over": "a", "take": "t", "at_least": 5}},
    "json": {"fold": {"over": "a", "take": "t", "with": "json", "at": "b"}},
    "markers": {"fold": {"over": "a", "take": "t", "lacks": ["xy", "zzz", "yxyx"]}},
    "overlap": {
        "fold": {"over": "a", "take": "t", "lacks": {"over": "c", "take": "t", "at_least": 3}}
    },
}

runs = st.lists(
    st.tuples(st.sampled_from("ac"), st.text("xyz", min_size=1, max_size=9)), max_size=6
)
cuts = st.lists(st.integers(1, 8), max_size=5)


def cut(text: str, at: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(n for n in at if n < len(text))})
    return [text[a:b] for a, b in pairwise(edges)]


def rows_of(given_runs: list[tuple[str, str]], stated: str, at: list[int]) -> list[tuple[Any, ...]]:
    """Runs of own and of other text, every run cut at the same places, then the statement."""
    rows: list[tuple[Any, ...]] = []
    for kind, text in given_runs:
        rows += [(0, "wire", kind, {"t": piece}) for piece in cut(text, at)]
    rows.append((0, "wire", "b", {"text": stated}))
    return [(number, *row[1:]) for number, row in enumerate(rows, 1)]


def outcome_fields(outcomes: list[Outcome]) -> list[tuple[str, list[tuple[str, ...]], list[str]]]:
    """Verdicts, and what findings say apart from event numbers."""
    return [
        (o.verdict.value, [v.expected for v in o.violations], [v.got for v in o.violations])
        for o in outcomes
    ]


NEEDLE: Final = "zxzxzyzyzxxz"


@settings(deadline=None)
@given(runs, st.text("xyz", max_size=9), cuts)
@example([("c", NEEDLE), ("a", "x" + NEEDLE[:4]), ("c", NEEDLE), ("a", NEEDLE[4:])], "x", [1, 2, 3])
@example([("c", "yyyyyy"), ("a", "xzxz"), ("c", "xzxz"), ("a", "y")], "x", [2])
def test_verdicts_do_not_depend_on_the_cuts(
    run_rules: Any, given_runs: list[tuple[str, str]], stated: str, at: list[int]
) -> None:
    whole = run_rules(RULES, rows_of(given_runs, stated, []))
    assert outcome_fields(run_rules(RULES, rows_of(given_runs, stated, at))) == outcome_fields(
        whole
    )


@settings(deadline=None)
@given(runs, st.text("xyz", max_size=9), cuts)
def test_folds_agree_with_the_whole_text(
    run_rules: Any, given_runs: list[tuple[str, str]], stated: str, at: list[int]
) -> None:
    outcomes = run_rules(RULES, rows_of(given_runs, stated, at))
    failed = {o.rule.id.split("/")[-1] for o in outcomes if o.violations}
    text = "".join(text for kind, text in given_runs if kind == "a")
    assert ("equals" in failed) == (text != stated)
    assert ("contains" in failed) == (text not in stated)
    assert ("markers" in failed) == any(m in text for m in ("xy", "zzz", "yxyx"))
    assert ("at-least" in failed) == (0 < len(text) < 5)
    assert ("overlap" in failed) == repeats(given_runs)


def repeats(given_runs: list[tuple[str, str]]) -> bool:
    """Whether own text that comes after a run of other text holds that run."""
    merged: list[tuple[str, str]] = []
    for kind, text in given_runs:
        if merged and merged[-1][0] == kind:
            merged[-1] = (kind, merged[-1][1] + text)
        else:
            merged.append((kind, text))
    later = ["".join(t for k, t in merged[n:] if k == "a") for n in range(len(merged))]
    return any(
        kind == "c" and len(text) >= 3 and text in later[n] for n, (kind, text) in enumerate(merged)
    )


VALUES: Final = {
    "fold": {
        "over": "a",
        "take": "t",
        "lacks": {"over": "c", "take": "t", "with": "list", "at_least": 3},
    }
}


@settings(deadline=None)
@given(runs, cuts)
@example([("c", "xyz"), ("c", "zzx"), ("a", "yzzxy")], [2])
@example([("a", "yzzxy"), ("c", "xyz"), ("c", "zzx")], [2])
@example([("a", "x"), ("c", "xxx"), ("a", "xx")], [])
@example([("a", "xy"), ("c", "xyz"), ("a", "z")], [])
def test_each_value_is_found_anywhere_in_the_text(
    run_rules: Any, given_runs: list[tuple[str, str]], at: list[int]
) -> None:
    rows = [
        (0, "wire", kind, {"t": piece})
        for kind, text in given_runs
        for piece in ([text] if kind == "c" else cut(text, at))
    ]
    numbered = [(number, *row[1:]) for number, row in enumerate(rows, 1)]
    (outcome,) = run_rules({"values": VALUES}, numbered)
    text = "".join(text for kind, text in given_runs if kind == "a")
    values = [text for kind, text in given_runs if kind == "c" and len(text) >= 3]
    is_leaked = any(value in text for value in values)
    wanted = "FAIL" if is_leaked else "PASS" if text and values else "VACUOUS"
    assert outcome.verdict.value == wanted
