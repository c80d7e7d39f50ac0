"""What follows from another fault is no finding of its own."""

from __future__ import annotations

from typing import Final

from conformance.judging.ledger import Ledger
from conformance.judging.run_rules import ANSWER_SAID
from conformance.rules.verdicts import Level, Verdict

# Rule -> the one whose breach may be why.
_FOLLOWING: Final = {
    "wire/ui-message/call-answered": "wire/ui-message/output-of-call",
    "wire/stream-json/call-answered": "wire/stream-json/result-of-call",
    "wire/agui/call-answered": "wire/agui/result-of-call",
    "wire/agui/snapshot-has-calls": "wire/agui/result-of-call",
    "wire/ui-message/input-agrees": "hop/tools",
}
_SWITCHES: Final = "effort/"  # rules of what is asked of the thinking


def withdraw_consequences(ledger: Ledger) -> None:
    """What follows from another fault: one cause, one finding.

    An answer is empty because something else broke; a call has no result as that names another.
    """
    failing = ledger.verdicts
    for rule, leader in _FOLLOWING.items():
        if failing.get(rule) is Verdict.FAIL and failing.get(leader) is Verdict.FAIL:
            ledger.withdraw([rule], f"what breaks {leader} may be why", "consequences")
    if ledger.verdicts.get(ANSWER_SAID) is not Verdict.FAIL:
        return
    others = (each for each in ledger.findings if each.rule != ANSWER_SAID)
    for found in others:
        if found.level is Level.MUST or found.rule.startswith(_SWITCHES):
            why = f"what breaks {found.rule} may be why"
            ledger.withdraw([ANSWER_SAID], why, "consequences")
            return
