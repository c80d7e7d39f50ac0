"""What comes of a broken answer where the next request brings it back: no second finding.

Rule 1: a gateway that passes a history on as it came is not blamed for what is wrong in it, if the
        answer that comes back broke a rule of the same matter: signatures, text or thinking.
Rule 2: a refusal that names a signature follows from an answer whose signature was broken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from conformance.cassette import Recording
from conformance.core.events import Exchange
from conformance.dialects import SUPPORTED
from conformance.evidence.links.requests import RepeatedTalk
from conformance.judging.ledger import Ledger
from conformance.judging.run_rules import ENDING
from conformance.rules.verdicts import Verdict

_BY: Final = "consequences"
_HISTORY: Final = "history/"
_MATTERS: Final = tuple(
    re.compile(words)
    for words in ("sign|seal|redact|opaque|encrypt", "text|markers", "think|thought|summary")
)
_SIGNATURE: Final = re.compile("signature", re.IGNORECASE)


def withdraw_returned(ledgers: Sequence[Ledger], recording: Recording) -> None:
    """Withdraws what follows in a request from the answer that it brings back."""
    exchanges = {each.number: each for each in recording.exchanges}
    known = {each.exchange: each for each in ledgers}
    for ledger in ledgers:
        exchange = exchanges.get(ledger.exchange)
        if exchange is None or not ledger.findings:
            continue
        _withdraw_passed_on(ledger, exchange, recording, known)
        before = known.get(exchange.after or 0)
        if before is not None:
            _withdraw_refusal(ledger, before)


def _withdraw_passed_on(
    ledger: Ledger, exchange: Exchange, recording: Recording, ledgers: Mapping[int, Ledger]
) -> None:
    """Rule 1."""
    broken = [rule for rule in ledger.rules_with(Verdict.FAIL) if rule.startswith(_HISTORY)]
    first = _request_behind(exchange, recording) if broken else None
    if first is None or not _is_same_history(first, exchange):
        return
    for rule in broken:
        causes = _causes(first, recording, ledgers)
        why = next((each for each in causes if _matters(each) & _matters(rule)), None)
        if why is not None:
            ledger.withdraw([rule], f"what breaks {why} in the answer before may be why", _BY)


def _request_behind(exchange: Exchange, recording: Recording) -> Exchange | None:
    """The request to a gateway that this one upstream is for."""
    if exchange.hop != "upstream":
        return None
    place = ("downstream", exchange.scenario, exchange.role)
    found = (e for e in recording.exchanges if (e.hop, e.scenario, e.role) == place)
    return next(found, None)


def _is_same_history(first: Exchange, passed: Exchange) -> bool:
    dialect = SUPPORTED.get(passed.dialect or "")
    if dialect is None or first.dialect != passed.dialect:
        return False
    one, other = RepeatedTalk.of(first, dialect), RepeatedTalk.of(passed, dialect)
    return one is not None and other is not None and list(one.entries) == list(other.entries)


def _causes(first: Exchange, recording: Recording, ledgers: Mapping[int, Ledger]) -> list[str]:
    """The rules that the answers break which a request continues, from one to the next."""
    exchanges = {each.number: each for each in recording.exchanges}
    found: list[str] = []
    number, seen = first.after, set[int]()
    while number in exchanges and number not in seen:
        seen.add(number)
        if (ledger := ledgers.get(number)) is not None:
            found += ledger.rules_with(Verdict.FAIL)
        number = exchanges[number].after
    return found


def _matters(rule: str) -> set[int]:
    name = rule.rpartition("/")[2]
    return {number for number, each in enumerate(_MATTERS) if each.search(name)}


def _withdraw_refusal(ledger: Ledger, before: Ledger) -> None:
    """Rule 2."""
    found = [each for each in ledger.findings if each.rule == ENDING.id]
    if not all(each.got == "refused" and _SIGNATURE.search(each.message) for each in found):
        return
    failing = before.rules_with(Verdict.FAIL) if found else ()
    why = next((rule for rule in failing if _SIGNATURE.search(rule)), None)
    if why is not None:
        ledger.withdraw([ENDING.id], f"what breaks {why} in the answer before may be why", _BY)
