"""What came in the place of an answer is certainly none: a web page, a text, a file.

It has no last event, no finish and no content, and is labelled as what it is: one rule says so, and
the others say nothing.
"""

from __future__ import annotations

from typing import Final

from conformance.cassette.content import described_content
from conformance.core.events import Exchange
from conformance.evidence.expectations import judges_requests
from conformance.judging.ledger import Ledger
from conformance.judging.run_rules import ENDING
from conformance.judging.transcript import is_refusal, read_transcript
from conformance.judging.view import JudgeSetting
from conformance.rules.verdicts import Level, Verdict

# They show what came.
_FIRST: Final = (ENDING.id, "wire/sse/content-type", "wire/sse/data-is-json")
_WHY: Final = "the response is no answer"


def withdraw_of_no_answer(ledger: Ledger, setting: JudgeSetting, exchange: Exchange) -> None:
    """Of the rules of an answer that fail, all but one."""
    failed = ledger.rules_with(Verdict.FAIL)
    if len(failed) < 2 or is_refusal(exchange) or described_content(exchange.body) is None:
        return
    answer = read_transcript(exchange, setting.dialect, setting.bound.reading)
    if answer.answers or answer.errors:
        return
    rules = (each.rule for each in setting.bound.rules.rules)
    requests = {rule.id for rule in rules if judges_requests(rule)}
    found = [each for each in (*_FIRST, *failed) if each in failed and each not in requests]
    # The one that is left binds as much as those that are withdrawn.
    grave = {each.rule for each in ledger.findings if each.level is Level.MUST}
    left = [*(each for each in found if each in grave), *found][:1]
    ledger.withdraw(set(found) - set(left), _WHY, "consequences")
