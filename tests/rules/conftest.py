"""Runs one small suite over a list of events, for vectors and properties alike.

By the judge and by the oracle: they must agree on whatever any test asks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pytest

from conformance.core.events import SEMANTIC_EVENTS, Event, Request, Response, Vocabulary
from conformance.rules.applies import Evidence
from conformance.rules.compiled import Outcome
from conformance.rules.document import parse
from conformance.rules.judge import Judge
from conformance.rules.load import read_suite
from conformance.rules.model import Suite
from conformance.rules.rule_set import RuleSet
from tests.oracle import OracleJudge

WIRE = frozenset(
    {"a", "b", "c", "d", "e", "nobody.knows", "item.added", "item.done", "[DONE]"}
    | {"error", "usage", "finish", "request", "request.item"}
)
VOCABULARY = Vocabulary("vectors", WIRE)

Runner = Callable[..., list[Outcome]]


def suite_of(
    rules: Mapping[str, Mapping[str, Any]], events: Mapping[str, Any], *, neutral: bool = False
) -> Suite:
    """A suite with what every rule must say filled in; a neutral one knows no wire types."""
    common = {"level": "MUST", "says": "So it is.", "since": "0.1.0", "source": {"advice": "here"}}
    document = {
        "suite": "vectors",
        **({} if neutral else {"dialect": "vectors"}),
        "events": dict(events),
        "rules": [{"id": name, **common, **rule} for name, rule in rules.items()],
    }
    return _read(json.dumps(document))


@lru_cache(maxsize=64)
def _read(text: str) -> Suite:
    return read_suite(parse(text, "vector.yaml"), lambda _: VOCABULARY)


def evidence_of(fields: Mapping[str, Any]) -> Evidence:
    """What a vector says was recorded besides the events."""
    request, response, echo = fields.get("request"), fields.get("response"), fields.get("echo")
    return Evidence(
        request=None
        if request is None
        else Request(headers=_pairs(request), json=request.get("json")),
        response=None
        if response is None
        else Response(response["status"], "1.1", _pairs(response)),
        fidelity=fields.get("fidelity", "bytes"),
        clock=fields.get("clock", False),
        view=fields.get("view", "wire"),
        echo=lambda: echo,
        echoes=echo is not None,
        user_choices=fields.get("user_choices"),
    )


def _pairs(said: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in said.get("headers", ()))


def judged(
    suite: Suite, rows: Sequence[Sequence[Any]], said: Mapping[str, Any] | None = None
) -> list[Outcome]:
    """Outcomes over rows of `[number, layer, type, data, ms]`; data and ms may be left out."""
    said = said or {}
    rules = RuleSet(suite.rules, said.get("knobs", {}))
    found, wanted = (
        _judged_by(judge(rules, evidence_of(said)), rows, said) for judge in (Judge, OracleJudge)
    )
    assert list(map(_comparable, found)) == list(map(_comparable, wanted))
    return found


def _comparable(outcome: Outcome) -> tuple[Any, ...]:
    """What two judges must agree on; slices may be judged in any order."""
    # How an error of ours is worded hangs on how deep the stack was.
    reason = outcome.reason.partition("RecursionError")[0]
    return outcome.verdict, reason, sorted(map(repr, outcome.violations))


def _judged_by(
    judge: Judge, rows: Sequence[Sequence[Any]], fields: Mapping[str, Any]
) -> list[Outcome]:
    frame = 0
    for number, layer, kind, *rest in rows:
        if number != frame:
            judge.settle()
        frame = number
        data = dict(rest[0]) if rest else {}
        if layer == "semantic" and kind in SEMANTIC_EVENTS:
            data.setdefault("choice", 0)
        judge.ms = rest[1] if len(rest) > 1 else None
        judge.read(Event(kind, data, number, layer))
    return list(judge.close(fields.get("end", "eof")))


@pytest.fixture(scope="session")
def run_rules() -> Runner:
    """`run_rules(rules, rows, said=None, events=None)`: outcomes, in the order of the rules."""

    def run(
        rules: Mapping[str, Mapping[str, Any]],
        rows: Sequence[Sequence[Any]],
        said: Mapping[str, Any] | None = None,
        events: Mapping[str, Any] | None = None,
        *,
        neutral: bool = False,
    ) -> list[Outcome]:
        return judged(suite_of(rules, events or {}, neutral=neutral), rows, said)

    return run
