"""What a request to the model alters: the gateway or the application before it is blamed, once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from conformance.cassette import Cassette, Header, Recording
from conformance.core.events import Exchange
from conformance.evidence.blamed_elsewhere import upstream_of, withdraw_blamed_elsewhere
from conformance.judging.ledger import Ledger
from conformance.judging.passed_request_rules import ASKED_ANSWERS
from conformance.judging.result import StreamResult
from conformance.rules.verdicts import Verdict
from tests.plain_results import plain_finding

RETURNED: Final = "history/returned/text-kept"
SIGNED: Final = "history/messages/signed-unchanged"
EXCHANGES: Final = (
    Exchange(number=1, hop="downstream", role="turn-2"),
    Exchange(number=2, hop="upstream", role="turn-2"),
    Exchange(number=3, hop="upstream", role="turn-2"),
    Exchange(number=4, hop="upstream", role="turn-3"),
)
RECORDING: Final = Recording(Path("run.jsonl"), "cassette", Cassette(Header(), EXCHANGES))


def _ledgers(asked: Verdict | None) -> dict[int, Ledger]:
    """Every call upstream alters what comes back; `asked`: the comparison with what was asked."""
    found = {
        each.number: Ledger(
            StreamResult("", each.number, "", "", named=False, verdicts={}, findings=())
        )
        for each in EXCHANGES
    }
    if asked is not None:
        found[1].add(ASKED_ANSWERS.id, asked, by="hops")
    for number in (2, 3, 4):
        for rule in (RETURNED, SIGNED):
            found[number].add(rule, Verdict.FAIL, findings=[plain_finding(rule=rule)], by="links")
    return found


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (Verdict.PASS, "the gateway was asked the same"),
        (Verdict.FAIL, f"what breaks {ASKED_ANSWERS.id} may be why"),
    ],
)
def test_passed_on_or_blamed_is_no_second_finding(asked: Verdict, why: str) -> None:
    ledgers = _ledgers(asked)
    withdraw_blamed_elsewhere(ledgers, RECORDING)
    for number in (2, 3):
        assert ledgers[number].rules_with(Verdict.FAIL) == [SIGNED]
        assert [each.rule for each in ledgers[number].findings] == [SIGNED]
        assert [each.why for each in ledgers[number].changes if each.rule == RETURNED][-1:] == [why]
    assert set(ledgers[4].rules_with(Verdict.FAIL)) == {RETURNED, SIGNED}  # of another step


@pytest.mark.parametrize("asked", [None, Verdict.VACUOUS, Verdict.UNTESTABLE])
def test_without_a_comparison_every_finding_stands(asked: Verdict | None) -> None:
    ledgers = _ledgers(asked)
    withdraw_blamed_elsewhere(ledgers, RECORDING)
    assert all(set(ledgers[n].rules_with(Verdict.FAIL)) == {RETURNED, SIGNED} for n in (2, 3, 4))


def test_the_calls_after_an_answer_are_those_of_its_step() -> None:
    assert [each.number for each in upstream_of(RECORDING, EXCHANGES[0])] == [2, 3]
