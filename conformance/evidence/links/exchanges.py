"""The exchanges of one recording, or of several, linked and judged.

Rule 1: a turn is judged when a request first brings it back, and again when a later request changes
it. A rule reports one finding per answer, because a broken turn recurs in every later request; and
what follows from a rule that the same answer broke in an earlier request is none of its own.
Rule 2: a turn that is left out, or replaced by a summary, does not count as altered: only turns
that a request brings back are judged.
Rule 3: requests that the toolkit wrote itself prove nothing about a target. An untrusted recording
may claim that the toolkit wrote them: then requests that break a rule still break it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.core.events import Exchange
from conformance.evidence.application import frames_until
from conformance.evidence.links.answers import AnswerListener, AnswerTurn
from conformance.evidence.links.comparisons import LinkVerdict, RepeatedTurns
from conformance.evidence.links.finder import LinkFinder, TurnLink
from conformance.evidence.links.gathering import LinkedRule, linked_rules
from conformance.evidence.links.keys import LinkKeys
from conformance.evidence.links.repeated_faults import RepeatedFaults
from conformance.evidence.links.requests import RepeatedTalk
from conformance.judging.consequences import follows
from conformance.judging.ledger import Ledger
from conformance.judging.result import CarriedAnswer, Finding, ReferencedEvent
from conformance.judging.view import EventListener, JudgeSetting
from conformance.rules.verdicts import Level, Verdict, combine

OfLinks = dict[str, list[tuple[LinkVerdict, Finding | None]]]
"""What came of each rule for the links of one request, with its reason and findings."""
_Finders = dict[tuple[str, str], LinkFinder]
NAME: Final = "links"
_OWN_REQUEST: Final = "the scenario wrote the request"
_MOST_STATED: Final = 20  # links of one request that are listed
_STREAMED: Final = frozenset({"text.delta", "thinking.delta"})
_RESTATED: Final = "/text-agrees"  # broken: a client may keep what was streamed, or what was stated
_MOST_CONTENTS: Final = 64  # forms of one answer's turn that are remembered


def may_link(exchanges: Sequence[Exchange]) -> bool:
    """Whether a later request may bring an earlier answer back."""
    requests = (each.request for each in exchanges[1:])
    return any(request is not None and request.json is not None for request in requests)


class _Judged(Struct):
    """One answer: the turns that brought it back, and the rules that these broke, with places."""

    contents: dict[tuple[bytes, bool], dict[str, LinkVerdict]] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)


class ExchangePlaces(Struct, frozen=True):
    """Where exchanges stand: in `file` under their own numbers, or in `others` by their number.

    `carried` are the entries of each request whose answers are in the same file.
    """

    file: str
    others: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    carried: Mapping[int, frozenset[int]] = field(default_factory=dict)

    def place(self, number: int) -> tuple[str, int]:
        """The file of an exchange, and its number there."""
        return self.others.get(number, (self.file, number))

    def name(self, number: int) -> str:
        """The number of an exchange, for a message; with its file where there are several."""
        file, own = self.place(number)
        return f"{own} of {Path(file).name}" if self.others else str(own)

    def apart(self, link: TurnLink, exchange: int) -> TurnLink | None:
        """The link with the answers of other files; None where the request's own has one."""
        file, _ = self.place(exchange)
        answers = tuple(each for each in link.answers if self.place(each.number)[0] != file)
        is_carried = not self.carried.get(exchange, frozenset()).isdisjoint(link.entries)
        return None if is_carried or not answers else replace(link, answers=answers)


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
        self._judged: dict[tuple[int, ...], _Judged] = {}
        self._finders: _Finders = {}
        self._ledgers: Mapping[int, Ledger] = {}

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
        self._ledgers = ledgers
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
                    ledger.reported_before |= self._broken_before(exchange, links)
                    _write(ledger, given, self._by, ours=is_ours(exchange), trusted=trusted)
            if not self._places.others:
                self._remember(exchange, talk, links)

    def withdraw_repeated(
        self, ledgers: Mapping[int, Ledger], exchanges: Iterable[Exchange]
    ) -> None:
        """Withdraws what requests repeat of the faults of earlier ones, once all is written."""
        known: dict[tuple[str, str], RepeatedFaults] = {}
        for exchange in exchanges:
            if (ledger := ledgers.get(exchange.number)) is None or not ledger.findings:
                continue
            if exchange.number in self._heard and (talk := self._talk(exchange)) is not None:
                key = self._heard[exchange.number][1].dialect.name, exchange.hop
                known.setdefault(key, RepeatedFaults()).withdraw(ledger, talk, self._by)

    def write_request(self, exchange: Exchange, ledger: Ledger) -> None:
        """As `write`, for a request whose answer is still to come; it has a listener already.

        `remember` takes the answer once it is complete.
        """
        talk = self._talk(exchange)
        links = self._link(exchange, talk)
        if talk is not None and links:
            given = self._judge_links(exchange, talk, links)
            ledger.reported_before |= self._broken_before(exchange, links)
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
        for numbers in [each for each in self._judged if number in each]:
            del self._judged[numbers]

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
        return self._of_links(turns, links)

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

    def _of_links(self, turns: RepeatedTurns, links: Sequence[TurnLink]) -> OfLinks:
        found: OfLinks = {}
        for link in links if turns.rules else ():
            for rule, verdict in self._of_link(turns, link):
                found.setdefault(rule, []).append(verdict)
        return found

    def _of_link(
        self, turns: RepeatedTurns, link: TurnLink
    ) -> Iterable[tuple[str, tuple[LinkVerdict, Finding | None]]]:
        """Rule 1."""
        known = self._judged.setdefault(tuple(a.number for a in link.answers), _Judged())
        content = turns.content(link), link.is_current
        given = known.contents.get(content, {})
        concerned = turns.concerned(link)
        missing = [rule for rule in concerned if rule.id not in given]
        if missing:
            given = {**given, **turns.judge(link, missing)}
            if len(known.contents) < _MOST_CONTENTS:
                known.contents[content] = given
        for rule in concerned:
            verdict = given[rule.id]
            if verdict.violation is None:
                yield rule.id, (verdict, None)
            elif self._places.others and not link.is_sure:
                names = " and ".join(self._places.name(each.number) for each in link.answers)
                what = "what it shows" if link.entries else "a name that others have, too,"
                why = f"nothing but {what} links it with exchange {names}"
                yield rule.id, (LinkVerdict(Verdict.UNTESTABLE, why), None)
            elif rule.id in known.broken or self._is_reported_already(link, rule.id):
                yield rule.id, (self._reported_elsewhere(known.broken.get(rule.id)), None)
            elif (cause := self._other_cause(turns, link, known, rule)) is not None:
                yield rule.id, (LinkVerdict(Verdict.NOT_APPLICABLE, cause), None)
            else:
                known.broken[rule.id] = turns.talk.exchange.number
                answer = verdict.answer or link.answers[0]
                beside = self._answer_event(answer.exchange, answer.gathered[rule.id].event)
                yield rule.id, (verdict, turns.finding(rule, link, verdict.violation, beside))

    def _other_cause(
        self, turns: RepeatedTurns, link: TurnLink, known: _Judged, rule: LinkedRule
    ) -> str | None:
        """Why a breach follows from another one, of an earlier request or of the answer itself."""
        here = turns.talk.exchange.number
        earlier = (name for name, number in known.broken.items() if number != here)
        if (cause := next((each for each in earlier if follows(rule.id, each)), None)) is not None:
            number = known.broken[rule.id] = known.broken[cause]
        else:
            number = link.answers[0].number
            ledger = self._ledgers.get(number) if rule.types & _STREAMED else None
            failing = ledger.rules_with(Verdict.FAIL) if ledger is not None else ()
            cause = next((each for each in failing if each.endswith(_RESTATED)), None)
        where = self._places.name(number)
        return f"what breaks {cause} in exchange {where} may be why" if cause else None

    def _broken_before(self, exchange: Exchange, links: Sequence[TurnLink]) -> dict[str, Level]:
        """The rules that earlier requests break for the answers that come back in this one."""
        rules = linked_rules(self._heard[exchange.number][1].bound.rules)
        levels = {each.id: each.compiled.rule.level for each in rules}
        found = (self._judged.get(tuple(a.number for a in each.answers)) for each in links)
        return {
            rule: levels.get(rule, Level.MUST)
            for known in found
            if known is not None
            for rule, number in known.broken.items()
            if number != exchange.number
        }

    def _reported_elsewhere(self, exchange: int | None) -> LinkVerdict:
        name = "for another answer"
        where = name if exchange is None else f"in exchange {self._places.name(exchange)}"
        return LinkVerdict(Verdict.NOT_APPLICABLE, f"reported {where}")

    def _is_reported_already(self, link: TurnLink, rule: str) -> bool:
        """Whether the entries break the rule, or its cause, for another answer that they hold."""
        others = (self._judged.get((number,)) for number in link.merged)
        broken = (name for each in others if each is not None for name in each.broken)
        return any(name == rule or follows(rule, name) for name in broken)

    def _answer_event(self, answer: Exchange, number: int) -> ReferencedEvent | None:
        """The event of the answer that held the compared value."""
        if not number:
            return None
        setting = self._heard[answer.number][1]
        memory = frames_until(answer, setting.dialect, setting.bound.reading, number)
        shown = next((each for each in memory.around(number) if each.at), None)
        file, own = self._places.place(answer.number)
        return ReferencedEvent(
            file=file,
            exchange=own,
            event=number,
            line=None,
            byte=memory.offset(number),
            type=shown.type if shown else "",
            text=shown.text if shown else "",
            side="answer",
        )


def _write(ledger: Ledger, given: OfLinks, by: str, *, ours: bool, trusted: bool) -> None:
    for rule, judged in given.items():
        verdict = combine(each.verdict for each, _ in judged)
        if ours and (trusted or verdict is not Verdict.FAIL):  # rule 3
            ledger.add(rule, Verdict.NOT_APPLICABLE, _OWN_REQUEST, by=by)
            continue
        reason = next(each.reason for each, _ in judged if each.verdict is verdict)
        findings = [found for _, found in judged if found is not None]
        ledger.add(rule, verdict, reason, findings, by=by)


def _named_answer(setting: JudgeSetting, talk: RepeatedTalk) -> str:
    """The id of the answer that the request says it follows; empty where it names none."""
    form = setting.dialect.request
    named = talk.body.get(form.previous) if form is not None and form.previous else ""
    return talk.named or (named if isinstance(named, str) else "")
