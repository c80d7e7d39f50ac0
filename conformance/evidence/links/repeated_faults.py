"""Faults of a history that later requests repeat, because they repeat that history.

A finding about what a request alone holds is reported for the first request that holds it. Later
ones, and retries, say nothing new by the same rule of the same thing, as long as their history
begins with that of the first; system prompts aside, which change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from conformance.evidence.links.requests import RepeatedTalk, digest
from conformance.judging.ledger import Ledger
from conformance.judging.result import Finding

_HISTORY = "history/"
_Fault = tuple[str, str, str]  # the rule, the slice, and what is wrong


class _Reported(NamedTuple):
    """A request that holds faults: its exchange, and a name for its history of so many entries."""

    exchange: int
    entries: int
    history: bytes
    faults: frozenset[_Fault]


class RepeatedFaults:
    """Withdraws what an earlier request of one dialect and hop was blamed for already."""

    def __init__(self) -> None:
        self._reported: list[_Reported] = []

    def withdraw(self, ledger: Ledger, talk: RepeatedTalk, by: str) -> None:
        """To be called in the order of the exchanges."""
        faults = {_fault(each) for each in ledger.findings if _is_of_request(each)}
        if not faults:
            return
        names = list(_beginnings(talk))
        earlier = [r for r in self._reported if names[r.entries : r.entries + 1] == [r.history]]
        known = {fault: each.exchange for each in reversed(earlier) for fault in each.faults}
        new = frozenset(faults - known.keys())
        for fault in faults & known.keys():
            if all(fault[0] != each[0] for each in new):
                ledger.withdraw(fault[:1], f"reported in exchange {known[fault]}", by)
        ledger.findings = [
            each for each in ledger.findings if not _is_of_request(each) or _fault(each) in new
        ]
        if new:
            place = len(names) - 1
            self._reported.append(_Reported(talk.exchange.number, place, names[place], new))


def _is_of_request(found: Finding) -> bool:
    return found.rule.startswith(_HISTORY) and found.upstream is None


def _fault(found: Finding) -> _Fault:
    return found.rule, str(dict(found.slice)), found.message


def _beginnings(talk: RepeatedTalk) -> Iterator[bytes]:
    """For each number of entries of the talk, from 0, a name for all that they say."""
    made = b""
    yield made
    for said, outline in zip(talk.said, talk.outlines, strict=True):
        if said.by != "other":
            made = digest(made.hex(), outline.hex())
            yield made
