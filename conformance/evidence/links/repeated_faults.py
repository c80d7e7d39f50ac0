"""Faults of a history that later requests repeat, because they repeat that history.

A finding about what a request alone holds is reported for the first request that holds it. Later
ones, and retries, say nothing new by the same rule of the same thing, as long as their history
begins with that of the first; system prompts aside, which change. So it is in one recording, over
several, and in traffic.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from conformance.evidence.links.requests import RepeatedTalk, digest
from conformance.judging.ledger import Ledger
from conformance.judging.result import Finding

_HISTORY = "history/"
_MOST_REPORTED: Final = 10_000  # requests with faults that are remembered, the latest
_Fault = tuple[str, str, str]  # the rule, the slice, and what is wrong


class _Reported(NamedTuple):
    """A request that holds faults: its exchange, and a name for its history of so many entries."""

    exchange: int
    entries: int
    history: bytes
    faults: frozenset[_Fault]


class RepeatedFaults:
    """Withdraws what an earlier request of one dialect and hop was blamed for already.

    `named` is how an exchange is called.
    """

    def __init__(self, named: Callable[[int], str] = str) -> None:
        self._named = named
        self._reported: deque[_Reported] = deque(maxlen=_MOST_REPORTED)

    def is_known(self, found: Finding, talk: RepeatedTalk) -> bool:
        """Whether an earlier request was blamed for it."""
        if not self._reported or not _is_of_request(found):
            return False
        return _fault(found) in self._earlier(list(_beginnings(talk)))

    def withdraw(self, ledger: Ledger, talk: RepeatedTalk, by: str) -> None:
        """To be called in the order of the exchanges."""
        faults = {_fault(each) for each in ledger.findings if _is_of_request(each)}
        if not faults:
            return
        names = list(_beginnings(talk))
        known = self._earlier(names)
        new = frozenset(faults - known.keys())
        for fault in faults & known.keys():
            if all(fault[0] != each[0] for each in new):
                why = f"reported in exchange {self._named(known[fault])}"
                ledger.withdraw(fault[:1], why, by)
        ledger.findings = [
            each for each in ledger.findings if not _is_of_request(each) or _fault(each) in new
        ]
        if new:
            place = len(names) - 1
            self._reported.append(_Reported(talk.exchange.number, place, names[place], new))

    def _earlier(self, names: Sequence[bytes]) -> Mapping[_Fault, int]:
        """The faults of the requests that this history begins with; the first that has each."""
        earlier = [r for r in self._reported if names[r.entries : r.entries + 1] == [r.history]]
        return {fault: each.exchange for each in reversed(earlier) for fault in each.faults}


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
