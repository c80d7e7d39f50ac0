"""The exchanges of one recording, or of several, linked and judged.

Rule 1: a turn that is left out, or replaced by a summary, does not count as altered: only turns
that a request brings back are judged.
Rule 2: requests that the toolkit wrote itself prove nothing about a target. An untrusted recording
may claim that the toolkit wrote them: then requests that break a rule still break it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from conformance.core.events import Exchange
from conformance.evidence.links.answers import AnswerListener, AnswerTurn
from conformance.evidence.links.assignment import TurnLink
from conformance.evidence.links.comparisons import RepeatedTurns
from conformance.evidence.links.finder import LinkFinder
from conformance.evidence.links.gathering import linked_rules
from conformance.evidence.links.keys import LinkKeys
from conformance.evidence.links.link_findings import LinkFindings, OfLinks
from conformance.evidence.links.places import ExchangePlaces
from conformance.evidence.links.repeated_faults import RepeatedFaults
from conformance.evidence.links.requests import RepeatedTalk
from conformance.judging.ledger import Ledger
from conformance.judging.result import CarriedAnswer
from conformance.judging.view import EventListener, JudgeSetting
from conformance.rules.verdicts import Verdict, combine

_Finders = dict[tuple[str, str], LinkFinder]
NAME: Final = "links"
_OWN_REQUEST: Final = "the scenario wrote the request"
_MOST_STATED: Final = 20  # links of one request that are listed


def may_link(exchanges: Sequence[Exchange]) -> bool:
    """Whether a later request may bring an earlier answer back."""
    requests = (each.request for each in exchanges[1:])
    return any(request is not None and request.json is not None for request in requests)


class LinkedExchanges:
    """Listens to the answers of one recording in order, and judges what later requests bring back.

    `links` has the answers that each request continues, by exchange; with `collects`, `keys` has
    the keys by which other recordings may find it.
    Where `places` names several files, links within one of them are not judged again. With
    `only_collects`, no exchange can continue another one, so nothing is kept to compare.
    """

    def __init__(
        self,
        places: ExchangePlaces,
        *,
        by: str = NAME,
        collects: bool = False,
        only_collects: bool = False,
    ) -> None:
        self.links: dict[int, tuple[CarriedAnswer, ...]] = {}
        self.keys: dict[int, LinkKeys] = {}
        self._places = places
        self._by = by
        self._collects = collects or only_collects
        self._only_collects = only_collects
        self._heard: dict[int, tuple[AnswerListener, JudgeSetting]] = {}
        self._findings = LinkFindings(places, lambda answer: self._heard[answer.number][1])
        self._finders: _Finders = {}
        self._faults: dict[tuple[str, str], RepeatedFaults] = {}

    def listener(self, setting: JudgeSetting, exchange: Exchange) -> EventListener | None:
        """The listener for the events of an exchange; None if nothing of it can come back."""
        if setting.dialect.turns is None:
            return None
        rules = () if self._only_collects else linked_rules(setting.bound.rules)
        made = AnswerListener(exchange, setting.dialect, rules)
        self._heard[exchange.number] = made, setting
        return made

    def write(
        self,
        ledgers: Mapping[int, Ledger],
        exchanges: Iterable[Exchange],
        is_ours: Callable[[Exchange], bool],
        *,
        trusted: bool,
    ) -> None:
        """Writes into the ledger of each request what came of the answers that it brings back."""
        self._findings.ledgers = ledgers
        asked = [each for each in exchanges if each.number in self._heard]
        if self._only_collects:
            for exchange in asked:
                talk, turn = self._talk(exchange), self._heard[exchange.number][0].turn()
                self._collect(exchange, talk, turn)
            return
        if self._places.others:  # nothing says which file came first: what it repeats must do
            for exchange in asked:
                self._remember(exchange, self._talk(exchange))
        for exchange in asked:
            talk = self._talk(exchange)
            links = self._link(exchange, talk)
            if talk is not None and links:
                given = self._judge_links(exchange, talk, links)
                if (ledger := ledgers.get(exchange.number)) is not None:
                    ledger.reported_before |= self._findings.broken_before(exchange, links)
                    _write(ledger, given, self._by, ours=is_ours(exchange), trusted=trusted)
            if not self._places.others:
                self._remember(exchange, talk, links)

    def withdraw_repeated(
        self, ledgers: Mapping[int, Ledger], exchanges: Iterable[Exchange]
    ) -> None:
        """Withdraws what requests repeat of the faults of earlier ones, once all is written."""
        for exchange in exchanges:
            ledger = ledgers.get(exchange.number)
            known = self.repeated(exchange) if ledger is not None and ledger.findings else None
            if ledger is not None and known is not None:
                known[0].withdraw(ledger, known[1], self._by)

    def repeated(self, exchange: Exchange) -> tuple[RepeatedFaults, RepeatedTalk] | None:
        """The faults so far of its dialect and hop, and what the request repeats."""
        if exchange.number not in self._heard or (talk := self._talk(exchange)) is None:
            return None
        key = self._heard[exchange.number][1].dialect.name, exchange.hop
        return self._faults.setdefault(key, RepeatedFaults(self._places.name)), talk

    def write_request(self, exchange: Exchange, ledger: Ledger) -> None:
        """As `write`, for a request whose answer is still to come; it has a listener already.

        `remember` takes the answer once it is complete.
        """
        talk = self._talk(exchange)
        links = self._link(exchange, talk)
        if talk is not None and links:
            given = self._judge_links(exchange, talk, links)
            ledger.reported_before |= self._findings.broken_before(exchange, links)
            _write(ledger, given, self._by, ours=False, trusted=False)

    def remember(self, exchange: Exchange) -> bool:
        """Remembers a complete answer; whether it can come back."""
        return self._remember(exchange, self._talk(exchange))

    def forget(self, number: int) -> None:
        """Drops an exchange: no later request is held against its answer."""
        self._heard.pop(number, None)
        self.links.pop(number, None)
        for finder in self._finders.values():
            finder.forget(number)
        self._findings.forget(number)

    def _talk(self, exchange: Exchange) -> RepeatedTalk | None:
        return RepeatedTalk.of(exchange, self._heard[exchange.number][1].dialect)

    def _link(self, exchange: Exchange, talk: RepeatedTalk | None) -> list[TurnLink]:
        if talk is None:
            return []
        setting = self._heard[exchange.number][1]
        named = _named_answer(setting, talk)
        links = self._finder(setting, exchange).links(talk, named)
        if not self._places.others:
            return links
        found = (self._places.apart(each, exchange.number) for each in links)
        return [each for each in found if each is not None]

    def _judge_links(
        self, exchange: Exchange, talk: RepeatedTalk, links: Sequence[TurnLink]
    ) -> OfLinks:
        setting = self._heard[exchange.number][1]
        self.links[exchange.number] = self._stated(links, talk.form.key)
        turns = RepeatedTurns(setting, talk, linked_rules(setting.bound.rules))
        turns.named = self._places.name
        turns.links = links
        turns.own = self._heard[exchange.number][0].own
        turns.older = self._finder(setting, exchange).older(talk)
        judged = [e for e in (*links, *turns.older) if not _is_sent_again(talk, e)]
        return self._findings.of_links(turns, judged)

    def _remember(
        self,
        exchange: Exchange,
        talk: RepeatedTalk | None,
        links: Sequence[TurnLink] = (),
    ) -> bool:
        listener, setting = self._heard[exchange.number]
        if talk is not None:
            listener.take_request(talk)
        turn = listener.turn()
        if self._collects:
            self._collect(exchange, talk, turn, links)
        if turn is not None:
            self._finder(setting, exchange).remember(turn, talk)
        return turn is not None

    def _collect(
        self,
        exchange: Exchange,
        talk: RepeatedTalk | None,
        turn: AnswerTurn | None,
        links: Sequence[TurnLink] = (),
    ) -> None:
        """The keys by which other recordings may carry an exchange on, or be carried on by it."""
        is_here = any(not each.entries for each in links)
        setting = self._heard[exchange.number][1]
        named = "" if is_here or talk is None else _named_answer(setting, talk)
        carried = frozenset(place for each in links for place in each.entries)
        self.keys[exchange.number] = LinkKeys.of(turn, talk, named, carried)

    def _finder(self, setting: JudgeSetting, exchange: Exchange) -> LinkFinder:
        """The memory of one dialect and hop."""
        key = setting.dialect.name, exchange.hop
        if key not in self._finders:
            self._finders[key] = LinkFinder()
        return self._finders[key]

    def _stated(self, links: Sequence[TurnLink], history: str) -> tuple[CarriedAnswer, ...]:
        """The latest links of a request, in the order of its entries."""
        return tuple(self._carried(link, history) for link in links[-_MOST_STATED:])

    def _carried(self, link: TurnLink, history: str) -> CarriedAnswer:
        (file, number), *others = (self._places.place(each.number) for each in link.answers)
        is_apart = bool(self._places.others)
        return CarriedAnswer(
            number,
            link.evidence,
            history,
            link.entries,
            tuple(other for _, other in others),
            file=file if is_apart else "",
            other_files=tuple(name for name, _ in others) if is_apart else (),
        )


def _write(ledger: Ledger, given: OfLinks, by: str, *, ours: bool, trusted: bool) -> None:
    for rule, judged in given.items():
        verdict = combine(each.verdict for each, _ in judged)
        if ours and (trusted or verdict is not Verdict.FAIL):  # rule 2
            ledger.add(rule, Verdict.NOT_APPLICABLE, _OWN_REQUEST, by=by)
            continue
        reason = next(each.reason for each, _ in judged if each.verdict is verdict)
        findings = [found for _, found in judged if found is not None]
        ledger.add(rule, verdict, reason, findings, by=by)


def _is_sent_again(talk: RepeatedTalk, link: TurnLink) -> bool:
    """Whether a request is the one that was answered, and continues nothing."""
    first, second = link.answers[0].exchange.request, talk.exchange.request
    return first == second and not link.entries


def _named_answer(setting: JudgeSetting, talk: RepeatedTalk) -> str:
    """The id of the answer that the request says it follows; empty where it names none."""
    form = setting.dialect.request
    named = talk.body.get(form.previous) if form is not None and form.previous else ""
    return talk.named or (named if isinstance(named, str) else "")
