"""A request to the model that alters an answer: the application or the gateway is blamed, once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.cassette import Recording
from conformance.core.events import Exchange
from conformance.evidence.application import provider_answers
from conformance.judging.consequences import withdraw_changed_history, withdraw_returned
from conformance.judging.hop_rules import TALK_KEPT
from conformance.judging.ledger import Ledger
from conformance.judging.passed_request_rules import ASKED_ANSWERS
from conformance.rules.verdicts import Verdict

_WHY_PASSED: Final[Mapping[Verdict | None, str]] = {
    Verdict.FAIL: f"what breaks {ASKED_ANSWERS.id} may be why",
    Verdict.PASS: "the gateway was asked the same",
}


def withdraw_blamed_elsewhere(ledgers: Mapping[int, Ledger], recording: Recording) -> None:
    """Withdraws from the requests of a recording what an application or a gateway is blamed for."""
    for exchange in recording.judged:
        ledger = ledgers.get(exchange.number)
        verdicts = ledger.verdicts if ledger is not None else {}
        if verdicts.get(TALK_KEPT.id) is Verdict.FAIL:
            calls = provider_answers(recording, exchange)
            withdraw_returned(ledgers.values(), {each.number for each in calls})
        if why := _WHY_PASSED.get(verdicts.get(ASKED_ANSWERS.id)):
            for each in upstream_of(recording, exchange):
                if each.number in ledgers:
                    withdraw_changed_history(ledgers[each.number], why)


def upstream_of(recording: Recording, exchange: Exchange) -> list[Exchange]:
    """The calls of a gateway behind one of its answers."""
    place = ("upstream", exchange.role)
    return [each for each in recording.exchanges if (each.hop, each.role) == place]
