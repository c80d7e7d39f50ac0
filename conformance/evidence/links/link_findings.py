"""What the rules say of links: one finding per answer and rule, and none that follows from another.

A turn is judged when a request first brings it back, and again when a later request changes it. A
rule reports one finding per answer, because a broken turn recurs in every later request; and what
follows from a rule that the same answer broke in an earlier request is none of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from conformance.core.events import Exchange
from conformance.evidence.application import frames_until
from conformance.evidence.links.assignment import TurnLink
from conformance.evidence.links.comparisons import LinkVerdict, RepeatedTurns
from conformance.evidence.links.gathering import LinkedRule
from conformance.evidence.links.places import ExchangePlaces
from conformance.judging.consequences import follows
from conformance.judging.ledger import Ledger
from conformance.judging.result import Finding, ReferencedEvent
from conformance.judging.view import JudgeSetting
from conformance.rules.verdicts import Level, Verdict

OfLinks = dict[str, list[tuple[LinkVerdict, Finding | None]]]
"""What came of each rule for the links of one request, with its reason and findings."""
_STREAMED: Final = frozenset({"text.delta", "thinking.delta"})
_RESTATED: Final = "/text-agrees"  # broken: a client may keep what was streamed, or what was stated
_MOST_CONTENTS: Final = 64  # forms of one answer's turn that are remembered


class _Judged(Struct):
    """One answer: the turns that brought it back, and the rules that these broke, with places."""

    contents: dict[tuple[bytes, bool], dict[str, LinkVerdict]] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)


class LinkFindings:
    """Judges the links of one request after another; `settings` is how an answer was judged.

    `ledgers` are those of the exchanges, as far as they are written.
    """

    def __init__(
        self, places: ExchangePlaces, settings: Callable[[Exchange], JudgeSetting]
    ) -> None:
        self.ledgers: Mapping[int, Ledger] = {}
        self._places = places
        self._settings = settings
        self._judged: dict[tuple[int, ...], _Judged] = {}
        self._levels: dict[str, Level] = {}  # of the rules that were judged

    def forget(self, number: int) -> None:
        """Drops what came of the answer of an exchange."""
        for numbers in [each for each in self._judged if number in each]:
            del self._judged[numbers]

    def of_links(self, turns: RepeatedTurns, links: Sequence[TurnLink]) -> OfLinks:
        """What came of each rule for the links of one request."""
        self._levels |= {each.id: each.compiled.rule.level for each in turns.rules}
        found: OfLinks = {}
        for link in links if turns.rules else ():
            for rule, verdict in self._of_link(turns, link):
                known = found.setdefault(rule, [])
                if not link.is_older or all(each is None for _, each in known):
                    known.append(verdict)
        return found

    def _of_link(
        self, turns: RepeatedTurns, link: TurnLink
    ) -> Iterable[tuple[str, tuple[LinkVerdict, Finding | None]]]:
        known = self._judged.setdefault(tuple(a.number for a in link.answers), _Judged())
        content = turns.content(link), link.is_current
        given = known.contents.get(content, {})
        concerned = turns.concerned(link)
        missing = [rule for rule in concerned if rule.id not in given or rule.is_of_own_answer]
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
        cause = next((each for each in earlier if self._explains(each, rule.id)), None)
        if cause is not None:
            number = known.broken[rule.id] = known.broken[cause]
        elif rule.is_of_own_answer:
            number = here
            cause = self._failing(number, lambda each: follows(rule.id, each))
        else:
            number = link.answers[0].number
            if rule.types & _STREAMED:
                cause = self._failing(number, lambda each: each.endswith(_RESTATED))
        where = self._places.name(number)
        return f"what breaks {cause} in exchange {where} may be why" if cause else None

    def _failing(self, number: int, is_cause: Callable[[str], bool]) -> str | None:
        """A rule of that kind that the answer of an exchange breaks."""
        ledger = self.ledgers.get(number)
        failing = ledger.rules_with(Verdict.FAIL) if ledger is not None else ()
        return next(filter(is_cause, failing), None)

    def _explains(self, cause: str, rule: str) -> bool:
        """Whether one rule may be why the other is broken; no SHOULD is why a MUST is."""
        is_binding = self._levels[cause] is Level.MUST or self._levels[rule] is not Level.MUST
        return is_binding and follows(rule, cause)

    def broken_before(self, exchange: Exchange, links: Sequence[TurnLink]) -> dict[str, Level]:
        """The rules that earlier requests break for the answers that come back in this one."""
        found = (self._judged.get(tuple(a.number for a in each.answers)) for each in links)
        return {
            rule: self._levels[rule]
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
        return any(name == rule or self._explains(name, rule) for name in broken)

    def _answer_event(self, answer: Exchange, number: int) -> ReferencedEvent | None:
        """The event of the answer that held the compared value."""
        if not number:
            return None
        setting = self._settings(answer)
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
