"""Defects of clients: each is caught by the comparison with the wire or by the client's suites."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from conformance.judging.rulebook import Rulebook
from conformance.mutate import DEFECTS, BaseRecording, client_mutants, shipped_bases
from conformance.mutate.allowances import Allowance, load_allowances

SUITES = ("thinking/client", "thinking/start")
MOST = 4


@cache
def rules() -> Rulebook:
    return Rulebook.load(SUITES)


# Two agents think at once: to a client of one model this is one run in many blocks. No client is
# judged that reads this protocol.
AT_ONCE = {"google.adk/adk/two-agents", "langgraph/langgraph/side-by-side"}


@cache
def watched() -> tuple[BaseRecording, ...]:
    wire = [base for base in shipped_bases() if not base.has_client and base.name not in AT_ONCE]
    return tuple(base.with_client_view(rules()) for base in wire)


@cache
def allowances() -> tuple[Allowance, ...]:
    return load_allowances()


def test_names_are_unique() -> None:
    assert max(Counter(defect.name for defect in DEFECTS).values()) == 1


def test_an_honest_client_breaks_no_rule() -> None:
    alarms = {base.name: base.judge(rules()).failing for base in watched()}
    assert {name: found for name, found in alarms.items() if found} == {}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("defect", DEFECTS, ids=[defect.name for defect in DEFECTS])
def test_defect_is_caught(defect: object) -> None:
    chosen = [each for each in DEFECTS if each is defect]
    tried = 0
    for base in watched():
        for exchange in base.cassette.exchanges:
            for mutant in client_mutants(exchange, chosen):
                tried += 1
                if not _may_live(mutant.operator, base):
                    assert base.judge(rules(), mutant.exchange).killed_by
        if tried >= MOST:
            break
    assert tried


def _may_live(operator: str, base: BaseRecording) -> bool:
    return any(each.fits(operator, base.name) for each in allowances())
