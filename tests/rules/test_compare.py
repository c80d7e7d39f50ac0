"""Form `compare`: what two exchanges, hops or views bring, side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import pytest

from conformance.core.events import SEMANTIC_EVENTS, Ending, Event, Vocabulary
from conformance.rules.applies import Evidence
from conformance.rules.document import parse
from conformance.rules.forms import gathered_side
from conformance.rules.forms.base import Violation
from conformance.rules.forms.compare import Compare
from conformance.rules.forms.contributions import Contribution, compare
from conformance.rules.judge import Judge
from conformance.rules.load import read_suite
from conformance.rules.model import Rule
from conformance.rules.rule_set import RuleSet
from conformance.rules.verdicts import Verdict

Side = Mapping[str, Any]
Events = Sequence[tuple[str, Mapping[str, Any]]]
OPTED_IN: Final = {"role": "opted-in", "over": {"text.delta": "text"}}
STRIPPED: Final = {"role": "stripped", "over": {"text.delta": "text"}}


def rule_of(left: Side, right: Side, are: str) -> Rule:
    rule = {"left": dict(left), "right": dict(right), "are": are}
    common = {"level": "MUST", "says": "So.", "source": {"advice": "here"}, "since": "0.1.0"}
    document = {"suite": "v", "rules": [{"id": "r", **common, "compare": rule}]}
    suite = read_suite(parse(json.dumps(document), "v.yaml"), lambda _: Vocabulary("", frozenset()))
    return suite.rules[0]


class Run:
    """Contributions to one rule, exchange by exchange."""

    def __init__(self, left: Side, right: Side, are: str) -> None:
        self.rule = rule_of(left, right, are)
        self.given: list[Contribution] = []

    def exchange(
        self,
        events: Events,
        *,
        number: int = 1,
        role: str = "",
        hop: str = "",
        view: Literal["wire", "client"] = "wire",
        end: Ending = "eof",
    ) -> Run:
        evidence = Evidence(view=view, role=role, hop=hop, reported=True)
        judge = Judge(RuleSet([self.rule], {}), evidence)
        for at, (kind, data) in enumerate(events, 1):
            layer: Literal["semantic", "wire"] = "semantic" if kind in SEMANTIC_EVENTS else "wire"
            judge.read(Event(kind, {"choice": 0, **data}, at, layer))
            judge.settle()
        judge.close(end)
        for _, sides in judge.gathered():
            self.given.append(Contribution(number, role, hop, view, judge.last, sides))
        return self

    def result(self) -> tuple[Verdict, str, tuple[Violation, ...]]:
        assert isinstance(self.rule.form, Compare)
        return compare(self.rule.form, self.given)

    @property
    def verdict(self) -> Verdict:
        return self.result()[0]


def text(*parts: str) -> Events:
    return [("text.delta", {"text": part}) for part in parts]


def by_role(are: str, left: Events, right: Events, **how: str) -> Run:
    run = Run({**OPTED_IN, **how}, {**STRIPPED, **how}, are)
    return run.exchange(left, number=1, role="opted-in").exchange(right, number=2, role="stripped")


@pytest.mark.parametrize(
    ("are", "left", "right", "verdict"),
    [
        ("equal", text("ab", "c"), text("a", "bc"), "PASS"),
        ("equal", text("abc"), text("abd"), "FAIL"),
        ("equal", text("abc"), [], "FAIL"),
        ("equal", [], [], "VACUOUS"),
        ("equal-or-none", text("ab", "c"), text("abc"), "PASS"),
        ("equal-or-none", text("abc"), text("ab"), "FAIL"),
        ("equal-or-none", text("abc"), text(""), "FAIL"),
        ("equal-or-none", [], text("ab"), "FAIL"),
        ("equal-or-none", text("abc"), [], "VACUOUS"),
        ("within-or-none", text("b"), text("abc"), "PASS"),
        ("within-or-none", text("ac"), text("abc"), "FAIL"),
        ("within-or-none", text("abc"), [], "VACUOUS"),
        ("not-both", text("abc"), text("ab"), "FAIL"),
        ("not-both", text("abc"), [], "PASS"),
        ("not-both", [], text("ab"), "VACUOUS"),
        ("contains", text("abc"), text("b"), "PASS"),
        ("contains", text("abc"), text("ac"), "FAIL"),
        ("lacks", text("that the sun is hot"), text("So that the sun is hot, I said."), "FAIL"),
        ("lacks", text("that the sun is hot"), text("The sun is hot."), "PASS"),
        ("lacks", text("It is."), text("So it is. It is."), "PASS"),  # any text has that by chance
        ("lacks", text("that the sun is hot"), [], "VACUOUS"),
    ],
)
def test_texts_are_compared_by_role(are: str, left: Events, right: Events, verdict: str) -> None:
    assert by_role(are, left, right).verdict == verdict


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        ("ab", "ab", "PASS"),
        ("ab", "ba", "FAIL"),
        ("ab", "axb", "PASS"),
        ("ab", "bxa", "FAIL"),
        ("aab", "aba", "FAIL"),
        ("aaab", "ab", "PASS"),
        ("aaab", "ba", "FAIL"),
        ("aba", "ba", "VACUOUS"),
        ("aba", "aa", "VACUOUS"),
        ("aba", "aab", "FAIL"),
        ("ab", "aba", "VACUOUS"),
        ("aa", "aa", "VACUOUS"),
        ("ab", "", "VACUOUS"),
        ("", "ab", "VACUOUS"),
    ],
)
def test_what_both_sides_have_stands_in_one_order(left: str, right: str, verdict: str) -> None:
    assert by_role("in-order", text(*left), text(*right), **{"with": "list"}).verdict == verdict


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [([5, 2], [6], "PASS"), ([6], [6], "FAIL"), ([True], [0], "FAIL"), ([], [], "VACUOUS")],
)
def test_sums_are_compared(left: list[int], right: list[int], verdict: str) -> None:
    side = {"over": {"usage": "output"}, "with": "sum"}
    run = Run({"role": "with", **side}, {"role": "without", **side}, "greater")
    for number, (role, given) in enumerate([("with", left), ("without", right)], 1):
        run.exchange([("usage", {"output": n}) for n in given], number=number, role=role)
    assert run.verdict == verdict


def test_counts_need_no_path() -> None:
    side = {"over": "text.delta", "with": "count"}
    run = Run({"role": "long", **side}, {"role": "short", **side}, "greater")
    run.exchange(text("a", "b"), number=1, role="long").exchange(text("ab"), number=2, role="short")
    assert run.verdict == "PASS"


MERGED: Final = {"over": ["thinking.delta", "text.delta", "finish"], "with": "merged"}
WIRE: Final[Events] = [
    ("thinking.delta", {"block": 0, "channel": "raw", "text": "so "}),
    ("thinking.delta", {"block": 0, "channel": "raw", "text": "be it"}),
    ("text.delta", {"block": 1, "text": "Yes"}),
    ("finish", {"reason": "stop"}),
]


def views(client: Events) -> Run:
    run = Run({"view": "client", **MERGED}, {"view": "wire", **MERGED}, "equal")
    return run.exchange(WIRE).exchange(client, view="client")


def test_a_client_may_merge_deltas_and_count_blocks_its_own_way() -> None:
    merged = [("thinking.delta", {"block": 7, "channel": "raw", "text": "so be it"}), *WIRE[2:]]
    assert views(merged).verdict == "PASS"


def test_an_empty_delta_of_a_client_shows_nothing() -> None:
    empty = [
        (kind, {"block": 3, "channel": "raw", "text": ""})
        for kind in ("thinking.delta", "text.delta")
    ]
    assert views([*empty, WIRE[0], empty[1], *WIRE[1:3], empty[0], WIRE[3]]).verdict == "PASS"
    assert views([*empty, *WIRE[1:]]).verdict == "FAIL"


@pytest.mark.parametrize(
    "client",
    [
        WIRE[1:],
        WIRE[:3],
        [*WIRE[:2], WIRE[3], WIRE[2]],
        [*WIRE[:2], WIRE[2], WIRE[2], WIRE[3]],
        [*WIRE[:3], ("finish", {"reason": "length"})],
        [("thinking.delta", {"block": 0, "channel": "summary", "text": "so be it"}), *WIRE[2:]],
        [("thinking.delta", {"block": 0, "choice": 1, "channel": "raw", "text": "so be it"})],
    ],
)
def test_what_a_client_loses_doubles_or_mistakes_is_found(client: Events) -> None:
    assert views(client).verdict == "FAIL"


def test_the_finding_says_where_and_who() -> None:
    verdict, _, found = by_role("equal", text("one two"), text("one too")).result()
    assert verdict == "FAIL"
    assert found[0].slice == {"exchange": 1}
    assert found[0].message.startswith(
        "exchange 1 opted-in and exchange 2 stripped are not equal at text (character 5)"
    )


def test_hops_of_one_exchange_are_compared_pair_by_pair() -> None:
    side = {"over": {"text.delta": "text"}}
    run = Run({"hop": "upstream", **side}, {"hop": "downstream", **side}, "equal")
    run.exchange(text("a"), hop="upstream").exchange(text("a"), hop="downstream")
    assert run.verdict == "PASS"


def test_a_role_that_never_came_is_not_applicable() -> None:
    run = Run(OPTED_IN, STRIPPED, "equal").exchange(text("a"), role="opted-in")
    assert run.verdict == "NOT-APPLICABLE"


@pytest.mark.parametrize("end", ["reset", "client-closed", "idle-timeout", "open"])
def test_a_broken_stream_proves_nothing(end: Ending) -> None:
    run = Run(OPTED_IN, STRIPPED, "equal")
    run.exchange(text("abc"), number=1, role="opted-in")
    run.exchange(text("ab"), number=2, role="stripped", end=end)
    assert run.verdict == "INCONCLUSIVE"


def test_an_error_event_proves_nothing_either() -> None:
    assert by_role("equal", text("abc"), [("error", {"code": "x"})]).verdict == "INCONCLUSIVE"


def test_a_broken_exchange_does_not_hide_another_that_differs() -> None:
    side = {"over": {"text.delta": "text"}}
    run = Run({"view": "client", **side}, {"view": "wire", **side}, "equal")
    run.exchange(text("a"), number=1, end="reset").exchange(text("a"), number=1, view="client")
    run.exchange(text("b"), number=2).exchange(text("c"), number=2, view="client")
    verdict, _, found = run.result()
    assert (verdict, [violation.slice for violation in found]) == ("FAIL", [{"exchange": 2}])


def test_a_side_is_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathered_side, "MOST_BYTES", 10)
    verdict, reason, _ = by_role("equal", text("x" * 11), text("x")).result()
    assert (verdict, "grew beyond" in reason) == ("ERROR", True)


def test_one_exchange_alone_does_not_judge_a_comparison() -> None:
    judge = Judge(RuleSet([rule_of(OPTED_IN, STRIPPED, "equal")], {}), Evidence(role="opted-in"))
    assert [outcome.verdict for outcome in judge.close("eof")] == ["NOT-APPLICABLE"]
