"""Which entries of one request belong to which answers, once each has its candidates.

Rules 4 to 8 of `finder`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from conformance.evidence.links.answers import AnswerTurn
from conformance.evidence.links.requests import RepeatedTalk


class AnswerPlace(NamedTuple):
    """An answer, its history, the last entry of that, and what the model said last in it.

    `agent` is who was to give it. What is unknown is empty.
    """

    turn: AnswerTurn
    before: bytes
    last: bytes
    last_turn: bytes
    agent: bytes


class Candidates(NamedTuple):
    """The answers that may come back in an entry, the newest first, and the evidence.

    `alike` are all that say the same, also those that its history makes less likely.
    """

    evidence: str
    answers: tuple[AnswerPlace, ...]
    by_id: bool = False
    is_sure: bool = True
    alike: tuple[AnswerPlace, ...] = ()

    @property
    def key(self) -> tuple[int, ...]:
        return tuple(each.turn.number for each in self.answers)


class TurnLink(Struct, frozen=True):
    """Entries of a request that bring back one of these answers, and the evidence.

    `merged` are other answers that the same entries bring back in part. `is_sure` is False if
    another conversation may hold the same by chance. `is_asked_so`: the entry before is the one
    that was answered. Where the request names the answer there are no entries, and `again` are
    those that repeat it all the same. `misplaced` is the entry that stands after the turn and was
    before it, or before it and was not there yet; `asked_twice` one before it that says once more
    what was answered, and `rival` one before it in its run that brings another answer to the same
    request. They are -1 where there is none. `is_older`: answers of the conversation came after
    it, and only the next answer is held against it.
    """

    answers: tuple[AnswerTurn, ...]
    evidence: str
    entries: tuple[int, ...]
    is_current: bool
    merged: tuple[int, ...] = ()
    is_sure: bool = True
    is_asked_so: bool = False
    again: tuple[int, ...] = ()
    misplaced: int = -1
    asked_twice: int = -1
    rival: int = -1
    is_older: bool = False


class _Found(Struct):
    candidates: Candidates
    entries: list[int]
    runs: list[int]


class LinkAssignment:
    """Which entries of one request belong to which answers."""

    def __init__(self, talk: RepeatedTalk) -> None:
        self._talk = talk
        self._found: dict[tuple[int, ...], _Found] = {}
        self._holders: dict[int, set[tuple[int, ...]]] = {}

    def take_run(self, run: range, candidates: Sequence[list[Candidates]]) -> None:
        """Rule 4."""
        following: list[Candidates] = []
        taken: list[list[Candidates]] = []
        for own in reversed(candidates):
            following = own or following
            taken.append(following)
        preceding: list[Candidates] = []
        for place, own, given in zip(run, candidates, reversed(taken), strict=True):
            preceding = given or preceding
            for each in preceding:
                if each in own or not self._has_other_calls(place, each):
                    self._add(run.start, place, each)

    def _has_other_calls(self, place: int, given: Candidates) -> bool:
        """Whether an entry makes calls, and none of these answers does."""
        made = any(each.turn.calls for each in given.answers)
        return bool(self._talk.said[place].calls) and not made

    def _add(self, run: int, place: int, given: Candidates) -> None:
        found = self._found.setdefault(given.key, _Found(given, [], []))
        is_new_run = found.runs and found.runs[-1] != run
        if is_new_run and not given.by_id:  # rule 5
            if _fits_place(self._talk, found.runs[0], found.candidates):
                if not self._talk.is_copy(place, found.entries):
                    return
            else:
                for old in found.entries:
                    self._holders[old].discard(given.key)
                found.entries.clear()
                found.runs.clear()
        found.entries.append(place)
        found.runs.append(run)
        self._holders.setdefault(place, set()).add(given.key)

    def links(self) -> list[TurnLink]:
        kept = [each for each in self._found.values() if each.entries]
        places = ((each, self._place_to_follow(each, kept)) for each in kept)
        misplaced = next(((each, at) for each, at in places if at >= 0), None)
        return [
            TurnLink(
                tuple(each.turn for each in found.candidates.answers),
                found.candidates.evidence,
                tuple(found.entries),
                self._talk.is_current(found.entries[-1]),
                tuple(self._others(key, found)),
                found.candidates.is_sure,
                _is_asked_so(self._talk, found),
                misplaced=misplaced[1] if misplaced is not None and misplaced[0] is found else -1,
                asked_twice=_asked_twice(self._talk, found),
                rival=_rival(self._talk, found, kept),
            )
            for key, found in self._found.items()
            if found.entries
        ]

    def _place_to_follow(self, found: _Found, kept: Iterable[_Found]) -> int:
        """Rule 6: the entry that it should come after; -1 where it is in order."""
        if len(found.candidates.answers) > 1:
            return -1
        talk, answer, last = self._talk, found.candidates.answers[0], found.entries[-1]
        if answer.last_turn and talk.model_outlines.count(answer.last_turn) == 1:
            place = talk.model_outlines.index(answer.last_turn)
            holders = (each.candidates.answers for each in kept if place in each.entries)
            numbers = [answers[0].turn.number for answers in holders if len(answers) == 1]
            if place > last and any(number < answer.turn.number for number in numbers):
                return place
        start = found.runs[-1]
        is_last = last == len(talk.said) - 1 and not answer.turn.is_short and not answer.turn.calls
        if is_last and start > 1 and talk.said[start - 1].by == "user":
            was_asked = (talk.outlines[start - 1], talk.outlines[start - 2])
            if answer.last not in was_asked[:1] and answer.last == was_asked[1]:
                return start - 1
        return -1

    def _others(self, key: tuple[int, ...], found: _Found) -> list[int]:
        beside = {other[0] for place in found.entries for other in self._holders[place] - {key}}
        return sorted(beside)


def _is_asked_so(talk: RepeatedTalk, found: _Found) -> bool:
    start = found.runs[0]
    before = talk.outlines[start - 1] if start else b""
    return all(each.last == before for each in found.candidates.answers)


def _asked_twice(talk: RepeatedTalk, found: _Found) -> int:
    """Rule 7."""
    start = found.runs[0]
    answer = _only_answer(found)
    if answer is None or start < 2 or talk.said[start - 1].by != "user":
        return -1
    is_again = talk.outlines[start - 1] == talk.outlines[start - 2]
    return start - 1 if is_again and answer.before == talk.before[start - 1] else -1


def _rival(talk: RepeatedTalk, found: _Found, kept: Iterable[_Found]) -> int:
    """Rule 8."""
    start, own = found.runs[0], _only_answer(found)
    if own is None or own.before != talk.before[start]:
        return -1
    for each in kept:
        other = _only_answer(each)
        if other is None or other.turn.number == own.turn.number or each.runs[0] != start:
            continue
        is_same = other.before == own.before and other.agent == own.agent
        if is_same and each.entries[-1] < found.entries[0]:
            return each.entries[-1]
    return -1


def _only_answer(found: _Found) -> AnswerPlace | None:
    answers = found.candidates.answers
    return answers[0] if len(answers) == 1 else None


def _fits_place(talk: RepeatedTalk, run: int, found: Candidates) -> bool:
    return any(each.before == talk.before[run] for each in found.answers)
