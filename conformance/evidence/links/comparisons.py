"""One rule over one answer and the turn of a request that brings it back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.events import Event
from conformance.evidence.links.answers import AnswerTurn
from conformance.evidence.links.assignment import TurnLink
from conformance.evidence.links.finder import ALTERED, BY_ID
from conformance.evidence.links.gathering import (
    GatheredEnd,
    LinkedRule,
    LinkGatherer,
    OwnEvents,
)
from conformance.evidence.links.kept import KEPT, RESUMED, kept_events
from conformance.evidence.links.left_out import ELSEWHERE, why_left_out
from conformance.evidence.links.link_messages import link_message
from conformance.evidence.links.prefixes import BEFORE, TalkPrefix
from conformance.evidence.links.requests import RepeatedTalk
from conformance.evidence.links.returned import (
    ASKED_TWICE,
    CALL,
    DOUBLED,
    MISPLACED,
    RIVAL,
    TEXT,
    entry_event,
    returned_calls,
    returned_text,
    returned_words,
)
from conformance.judging.findings import RecentFrames, clip_text, make_finding
from conformance.judging.offered_tools import OfferedTools
from conformance.judging.result import ContextLine, Finding, ReferencedEvent
from conformance.judging.view import JudgeSetting
from conformance.rules.about import About
from conformance.rules.applies import Evidence
from conformance.rules.forms.base import Violation
from conformance.rules.forms.compare import BROKEN
from conformance.rules.verdicts import Verdict

_BOTH_EMPTY: Final = "never fired: neither side has anything to compare"
_ONE_EMPTY: Final = "never fired: one side has nothing to compare"
_ALONE: Final = "never fired: the request sends nothing back whose order could change"
_MOST_NUMBERS: Final = 8
_MOST_SHOWN: Final = 3  # entries of a turn
_CONTENT: Final = frozenset({CALL, TEXT})
_THOUGHT: Final = "thinking.delta"
_SAID: Final = frozenset({TEXT, "text.delta"})


class LinkVerdict(Struct, frozen=True):
    """What came of one rule for one link; `violation` is None unless it failed.

    `answer` is the one that it was compared with: what was thought for another turn counts, too.
    """

    verdict: Verdict
    reason: str = ""
    violation: Violation | None = None
    answer: AnswerTurn | None = None


class RepeatedTurns:
    """The turns of one request, as events, before the rules that have a say over it."""

    def __init__(
        self, setting: JudgeSetting, talk: RepeatedTalk, rules: Sequence[LinkedRule]
    ) -> None:
        self.talk = talk
        self.named: Callable[[int], str] = str  # how messages name an exchange
        self.links: Sequence[TurnLink] = ()  # all turns of the request
        self.own: OwnEvents | None = None  # of the answer to it, once it is there
        self.older: Sequence[TurnLink] = ()
        self._setting = setting
        exchange = talk.exchange
        self._evidence = Evidence(
            setting.dialect.stated(exchange.request),
            exchange.response,
            setting.fidelity,
            role=exchange.role,
            hop=exchange.hop,
            user_choices=exchange.user_choices,
        )
        self.rules = [r for r in rules if r.compiled.terms.refuses(self._evidence) is None]

    @cached_property
    def _events(self) -> Mapping[int, Sequence[Event]]:
        request = self._evidence.request
        reader = self._setting.dialect.reader(self._setting.bound.reading)
        found: dict[int, list[Event]] = {}
        for event in reader.request(request) if request is not None else ():
            place = event.data.get("position")
            if event.type != "request" and isinstance(place, int):
                found.setdefault(place, []).append(event)
        return found

    def concerned(self, link: TurnLink) -> list[LinkedRule]:
        ages = _ages(link)
        unknown = self._unknown(link)
        return [
            rule
            for rule in self.rules
            if (rule.request_side.turn in ages or _is_of_any(rule))
            and (not link.is_older or rule.is_of_own_answer)
            and not (unknown and unknown & rule.types)
            and (link.evidence != ALTERED or rule.types <= _SAID)
        ]

    def _unknown(self, link: TurnLink) -> frozenset[str]:
        """Events of the turn that are unknown: ids of calls recur, and texts may be of others.

        Where entries hold several answers, calls without ids may be of any of them.
        """
        has_ids = all(call.id for call in link.answers[0].calls)
        if not link.is_asked_so or (link.merged and not has_ids):
            return _CONTENT
        is_apart = not link.merged and not self._setting.bound.reading.markers
        return frozenset() if is_apart else frozenset({TEXT})

    def content(self, link: TurnLink) -> bytes:
        """A hash of all that the rules read: the turn as the request has it, and its history."""
        places = link.entries or range(len(self.talk.entries))
        named, prefix = self.talk.content(places), self._prefix_of(link)
        named += "".join(f"{kind} " for kind, _ in _out_of_place(link)).encode()
        return named if prefix is None else named + prefix.name_before(link.entries[0])

    def _prefix_of(self, link: TurnLink) -> TalkPrefix | None:
        """The history before a turn, if a rule compares that and the entries hold one answer."""
        return None if link.merged or not link.entries else self._prefix

    @cached_property
    def _prefix(self) -> TalkPrefix | None:
        form = self._setting.dialect.request
        aliases = (each for rule in self.rules for each in rule.compiled.rule.aliases.values())
        is_compared = any(BEFORE in alias.types for alias in aliases)
        return TalkPrefix.of(self.talk, form) if form is not None and is_compared else None

    def judge(self, link: TurnLink, rules: Sequence[LinkedRule]) -> dict[str, LinkVerdict]:
        back = LinkGatherer(rules, "request", self._evidence)
        doubled = self.talk.doubled(link.entries)
        link = replace(link, entries=tuple(e for e in link.entries if e not in doubled))
        out_of_place = (*((DOUBLED, each) for each in doubled), *_out_of_place(link))
        back.take(entry_event(kind, f"{self.talk.form.key}.{at}") for kind, at in out_of_place)
        for place in (*link.entries, *self._own_results(link)):
            back.take(self._events.get(place, ()))
        if (prefix := self._prefix_of(link)) is not None:
            back.take((prefix.before_turn(link.entries),))
        if link.entries and _CONTENT & back.types:
            back.take(self._returned(link))
        if not link.entries and KEPT & back.types:
            back.take(self._kept(link))
        if self.own is not None:
            back.take_own(self.own, self._restated(self.own, link))
        places = f".{_listed(link.entries)}" if link.entries else ""
        where = f"{self.talk.form.key}{places}"
        turn = _TurnPlace(where, self.named, why_left_out(link, self.talk, self._setting.dialect))
        return {each.id: self._verdict(each, link, back.ends[each.id], turn) for each in rules}

    def _verdict(
        self, rule: LinkedRule, link: TurnLink, back: GatheredEnd, place: _TurnPlace
    ) -> LinkVerdict:
        found = _compared(rule, link, back, place)
        if rule.form.are != "lacks" or _THOUGHT not in rule.types or not back.taken.parts:
            return found
        if found.verdict not in (Verdict.PASS, Verdict.VACUOUS):
            return found
        others = (each for each in self.links if each.answers[0].number != link.answers[0].number)
        given = (_compared(rule, each, back, place) for each in others if len(each.answers) == 1)
        return next((each for each in given if each.verdict is Verdict.FAIL), found)

    def _own_results(self, link: TurnLink) -> Iterator[int]:
        """Entries of tools that the answer brought itself, and named."""
        ids = link.answers[0].ids if link.entries and len(link.answers) == 1 else ()
        said = enumerate(self.talk.said) if ids else ()
        return (at for at, each in said if each.by == "tool" and each.id in ids)

    def _restated(self, own: OwnEvents, link: TurnLink) -> Iterator[Event]:
        """Its events; of those that restate earlier entries, those of the linked answer."""
        restates, ids = self.talk.form.restates, link.answers[0].ids
        return (e for e in own.events if e.type != restates or e.data.get("id") in ids)

    def _returned(self, link: TurnLink) -> Iterator[Event]:
        """The calls and the text of the turn."""
        answer, said = link.answers[0], [self.talk.said[place] for place in link.entries]
        calls = [call for each in said for call in each.calls]
        if link.merged:
            calls = [call for call in calls if call.id]
        yield from returned_calls(answer.calls, answer.sound, calls, self._offered)
        if text := "".join(each.text for each in said):
            yield returned_text(answer.texts, text, self._words(link, text))

    def _words(self, link: TurnLink, text: str) -> str | None:
        answer, later = link.answers[0], self.talk.said[link.entries[-1] + 1 :]
        if answer.calls or answer.is_short:
            return None
        is_latest = not any(each.by == "model" for each in later)
        return returned_words(answer.text, text, is_latest=is_latest)

    def _kept(self, link: TurnLink) -> Iterator[Event]:
        """What the request sends to a server that keeps the answer."""
        answer, request = link.answers[0], chain.from_iterable(self._events.values())
        asked = OfferedTools.of(self._setting.dialect, answer.exchange.request)
        offered = {name for each in (asked, self._offered) if each for name in each.names}
        by_id = link.evidence == BY_ID
        older = {call.id for each in self.older for call in each.answers[0].calls}
        given = answer, self.talk, link.again, request, offered
        return kept_events(*given, older=older, by_id=by_id)

    @cached_property
    def _offered(self) -> OfferedTools | None:
        return OfferedTools.of(self._setting.dialect, self.talk.exchange.request)

    def finding(
        self, rule: LinkedRule, link: TurnLink, violation: Violation, beside: ReferencedEvent | None
    ) -> Finding:
        """The finding for a turn that came back broken, with the turn as the request has it."""
        made = make_finding(rule.compiled.rule, violation, RecentFrames(), "run", beside)
        key = self.talk.form.key
        lines = [
            ContextLine(0, f"{key}.{place}", _shown(self.talk.entries[place]), at=True)
            for place in (link.entries or link.again)[:_MOST_SHOWN]
        ]
        return replace(made, context=tuple(lines))


def _out_of_place(link: TurnLink) -> Iterator[tuple[str, int]]:
    """The entries that stand where they should not, by the type of their event."""
    places = (MISPLACED, link.misplaced), (ASKED_TWICE, link.asked_twice), (RIVAL, link.rival)
    return (each for each in places if each[1] >= 0)


def _ages(link: TurnLink) -> tuple[str | None, ...]:
    if not link.entries:
        return ("named",)
    return (None, "current" if link.is_current else "earlier")


def _is_of_any(rule: LinkedRule) -> bool:
    """Whether a rule compares an answer with every one that it continues."""
    return rule.is_of_own_answer and rule.request_side.turn is None


def _shown(entry: Any) -> str:
    try:
        return clip_text(json.dumps(entry, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return ""


class _TurnPlace(Struct, frozen=True):
    """Where a turn is in its request, how messages name an exchange, and what it may lack."""

    where: str
    named: Callable[[int], str]
    may_lack: str = ""


def _compared(
    rule: LinkedRule, link: TurnLink, back: GatheredEnd, place: _TurnPlace
) -> LinkVerdict:
    answers = [each for each in link.answers if rule.id in each.gathered]
    if not answers:
        return LinkVerdict(Verdict.NOT_APPLICABLE, "the profile of the answer rules it out")
    first = answers[0].gathered[rule.id]
    if _differ(rule, answers):
        numbers = " and ".join(place.named(each.number) for each in answers)
        why = f"the answers of exchanges {numbers} fit this turn alike, and differ in it"
        return LinkVerdict(Verdict.UNTESTABLE, why)
    if error := first.error or back.error:
        return LinkVerdict(Verdict.ERROR, error)
    is_stated = back.type in (RESUMED, RIVAL) and first.taken.parts  # what it was is compared
    if answers[0].broken and not is_stated:
        return LinkVerdict(Verdict.INCONCLUSIVE, BROKEN)
    return _judged(rule, link, first, back, place)


def _differ(rule: LinkedRule, answers: Sequence[AnswerTurn]) -> bool:
    first, *others = (each.gathered[rule.id].taken.value() for each in answers)
    return any(each != first for each in others)


def _judged(
    rule: LinkedRule, link: TurnLink, given: GatheredEnd, back: GatheredEnd, place: _TurnPlace
) -> LinkVerdict:
    if not (given.taken.parts or back.taken.parts):
        return LinkVerdict(Verdict.VACUOUS, _BOTH_EMPTY)
    form = rule.form
    pair = (given, back) if form.left.link == "answer" else (back, given)
    one, other = (each.taken.value() for each in pair)
    is_left_out = form.may_lack and not pair[1].taken.parts
    if is_left_out or form.holds(one, other):
        fires = form.fires_on(pair[0].taken.parts, pair[1].taken.parts)
        why = _ALONE if form.are == "in-order" else _ONE_EMPTY
        return LinkVerdict(Verdict.PASS) if fires else LinkVerdict(Verdict.VACUOUS, why)
    if place.may_lack and not back.taken.parts and rule.types.isdisjoint(_CONTENT):
        return LinkVerdict(Verdict.NOT_APPLICABLE, place.may_lack)
    if place.may_lack == ELSEWHERE and _adds_thinking(rule, one, other):
        return LinkVerdict(Verdict.NOT_APPLICABLE, ELSEWHERE)
    violation = _violation(rule, link, given, back, place)
    return LinkVerdict(Verdict.FAIL, violation=violation, answer=link.answers[0])


def _adds_thinking(rule: LinkedRule, one: Any, other: Any) -> bool:
    """Whether a text comes back whole, and more with it: that may be what was thought."""
    if rule.types.isdisjoint(_SAID) or not (isinstance(one, str) and isinstance(other, str)):
        return False
    if rule.form.are == "lacks":
        return _THOUGHT in rule.types
    return one in other or other in one


def _violation(
    rule: LinkedRule, link: TurnLink, given: GatheredEnd, back: GatheredEnd, place: _TurnPlace
) -> Violation:
    number = link.answers[0].number
    name = place.named(number)
    message, change = link_message(rule, link, given, back, name=name, where=place.where)
    if link.merged:
        merged = _listed([place.named(each) for each in link.merged])
        message += f"; parts of exchange {merged} are in it, too"
    own = number if name == str(number) else name
    about = About(change=change)
    return Violation(0, {"exchange": own}, (), "", "", message, about=about)


def _listed(numbers: Sequence[Any]) -> str:
    shown = ", ".join(map(str, numbers[:_MOST_NUMBERS]))
    return f"{shown}, ..." if len(numbers) > _MOST_NUMBERS else shown
