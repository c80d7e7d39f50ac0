"""Which exchanges that pass carry each other on, and what comes of answers on their way back.

Rule 1: a request is held against what came before it as soon as it is there; one whose dialect
only the answer shows, when that is over.
Rule 2: an exchange is of the conversation, and one turn after, of the latest answer that its
request brings back. Conversations are numbered when they are first continued.
Rule 3: the latest answers are remembered, so many and of so many bytes; what continues from older
ones begins anew.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.events import Exchange, Request
from conformance.evidence.links.exchanges import LinkedExchanges
from conformance.evidence.links.places import ExchangePlaces
from conformance.evidence.links.repeated_faults import RepeatedFaults
from conformance.evidence.links.requests import RepeatedTalk
from conformance.judging.consequences import withdraw_followers
from conformance.judging.ledger import Ledger
from conformance.judging.result import Finding, StreamResult
from conformance.judging.view import JudgeSetting
from conformance.recordings.linked_files import NAME, read_into
from conformance.watching.judging import TrafficJudge

MOST_ANSWERS: Final = 1000
MOST_BYTES: Final = 64 * 1024 * 1024  # of their bodies
_LONG: Final = 200  # characters of a value of a request that is not kept


class TalkPlace(Struct, frozen=True):
    """Where an exchange stands: the number of its conversation, its turn, what it goes on from."""

    conversation: int
    turn: int
    after: int | None = None


class _OfRequest(Struct, frozen=True):
    """What came of the links of a request, and which faults its history repeats."""

    result: StreamResult
    repeated: tuple[RepeatedFaults, RepeatedTalk] | None


class TrafficConversations:
    """Takes every exchange twice, when its request is there and when it is over.

    Used by one thread. `places` has the exchanges of conversations that were continued.
    """

    def __init__(self, judge: TrafficJudge) -> None:
        self.places: OrderedDict[int, TalkPlace] = OrderedDict()
        self._judge = judge
        self._linked = LinkedExchanges(ExchangePlaces(""), by=NAME)
        self._conversations = 0
        self._results: dict[int, _OfRequest] = {}  # while it is under way
        self._sizes: OrderedDict[int, int] = OrderedDict()  # of answers that are remembered
        self._size = 0

    @property
    def remembered(self) -> tuple[int, ...]:
        """The exchanges whose answers later requests are held against, the oldest first."""
        return tuple(self._sizes)

    def take_request(self, exchange: Exchange) -> tuple[Finding, ...]:
        """What is found in what a request brings back."""
        setting = self._judge.setting(exchange)
        if setting is None or setting.dialect.turns is None:
            return ()
        self._linked.listener(setting, exchange)
        ledger = Ledger(StreamResult("", exchange.number, "", "", False, {}, ()))
        self._linked.write_request(exchange, ledger)
        withdraw_followers(ledger, NAME)
        result = ledger.result()
        repeated = self._linked.repeated(exchange)
        self._results[exchange.number] = _OfRequest(result, repeated)
        links = self._linked.links.get(exchange.number, ())
        if links:
            self._add_turn(exchange.number, links[-1].exchange)
        return result.findings

    def take_answer(self, exchange: Exchange) -> tuple[Finding, ...]:
        """Remembers an answer; gives what only now is found in what its request brings back."""
        found = () if exchange.number in self._results else self.take_request(exchange)
        setting = self._judge.setting(exchange)
        if setting is not None and self._remember_answer(setting, exchange):
            self._sizes[exchange.number] = size = len(exchange.body)
            self._size += size
        else:
            self.drop_answer(exchange.number)
        while self._sizes and (len(self._sizes) > MOST_ANSWERS or self._size > MOST_BYTES):
            number, size = self._sizes.popitem(last=False)
            self._size -= size
            self._linked.forget(number)
        return found

    def drop(self, number: int) -> None:
        """Nothing is known of an exchange: nothing continues from it."""
        self._results.pop(number, None)
        self.drop_answer(number)

    def drop_answer(self, number: int) -> None:
        """An answer cannot be read again: nothing continues from it."""
        self._linked.forget(number)

    def written(self, number: int, result: StreamResult | None) -> StreamResult | None:
        """The result of an exchange that is over, with what came of its links."""
        of_request = self._results.pop(number, None)
        if of_request is None or result is None:
            return result
        of_links = of_request.result
        ledger = Ledger(replace(result, links=self._linked.links.get(number, ())))
        for rule, verdict in of_links.verdicts.items():
            found = [each for each in of_links.findings if each.rule == rule]
            ledger.add(rule, verdict, of_links.reasons.get(rule, ""), found, by=NAME)
        if of_request.repeated is not None:
            faults, talk = of_request.repeated
            faults.withdraw(ledger, talk, NAME)
        return ledger.result()

    def is_repeated(self, number: int, found: Finding) -> bool:
        """Whether an earlier request was blamed for what is found in the history of this one."""
        of_request = self._results.get(number)
        if of_request is None or of_request.repeated is None:
            return False
        faults, talk = of_request.repeated
        return faults.is_known(found, talk)

    def _remember_answer(self, setting: JudgeSetting, exchange: Exchange) -> bool:
        """Whether an answer can come back."""
        is_read = read_into(self._linked, setting, _without_history(exchange))
        return is_read and self._linked.remember(exchange)

    def _add_turn(self, number: int, after: int) -> None:
        """Rule 2."""
        before = self.places.get(after)
        if before is None:
            self._conversations += 1
            before = self.places[after] = TalkPlace(self._conversations, 1)
        self.places.move_to_end(after)
        self.places[number] = TalkPlace(before.conversation, before.turn + 1, after)
        while len(self.places) > 2 * MOST_ANSWERS:
            self.places.popitem(last=False)


def _without_history(exchange: Exchange) -> Exchange:
    """The exchange without what its request repeats: that would be all of the talk, each time."""
    request = exchange.request
    return replace(exchange, request=None if request is None else _request_without_history(request))


def _request_without_history(request: Request) -> Request:
    body = request.json
    short = (
        {key: each for key, each in body.items() if _is_short(each)}
        if isinstance(body, dict)
        else None
    )
    return replace(request, json=short, text=None, base64=None)


def _is_short(value: object) -> bool:
    return not isinstance(value, list | dict) and len(str(value)) <= _LONG
