"""Several answers in one exchange: each finding is reported once.

Rule 1: a rule's outcome over an exchange combines those of its answers, in the order in which
verdicts combine. A rule that spans all answers has one outcome, decided at the end.
Rule 2: a rule's finding in an answer counts if the rule applies to that answer.
Rule 3: a finding that an earlier answer had too is reported once, with the numbers of the answers.
Findings of later answers are capped: beyond MOST_LATER new ones are only counted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from msgspec.structs import replace

from conformance.judging.group_id import group_id
from conformance.judging.result import Finding
from conformance.rules.compiled import Outcome, Outcomes
from conformance.rules.verdicts import Verdict, combine

MOST_LATER: Final = 1000
MOST_NUMBERED: Final = 64  # answers of one finding whose numbers are kept
_MOST_ALIKE: Final = 64  # outcomes that are remembered as taken


class FindingsByAnswer:
    """The findings of an exchange so far; `left_out` counts those beyond the cap."""

    def __init__(self) -> None:
        self.every: list[Finding] = []
        self.left_out = 0
        self._begins = 0  # where those of the answer under way begin
        self._of_first = 0  # how many the first answer has
        self._known: dict[str, int] = {}  # group -> place of its first finding in earlier answers
        self._met: set[int] = set()  # places of those that the answer under way has, too
        self._again: dict[int, list[int]] = {}  # place -> numbers of later answers
        self._counts: dict[int, int] = {}  # place -> how many later answers

    def add(self, finding: Finding) -> None:
        """Takes a finding of the answer under way."""
        answer = finding.answers[0]
        if answer == 1:
            self.every.append(finding)
        elif (place := self._known.get(group_id(finding))) is not None:
            self._met.add(place)
        elif len(self.every) - self._of_first < MOST_LATER:
            self.every.append(finding)
        else:
            self.left_out += 1

    def end_answer(self, answer: int, failed: Collection[str]) -> None:
        """The answer is over; only findings of the `failed` rules stay of it."""
        for place in self._met:
            if self.every[place].rule in failed:
                self._repeat(place, answer)
        self._met.clear()
        is_first = not self._begins and not self._known
        found = [each for each in self.every[self._begins :] if each.rule in failed]
        self.every[self._begins :] = found
        for place, finding in enumerate(found, self._begins):
            self._known.setdefault(group_id(finding), place)
        self._of_first = len(found) if is_first else self._of_first
        self._begins = len(self.every)

    def with_answers(self) -> Sequence[Finding]:
        """All of them, each with the answers that have it."""
        if not self._counts:
            return self.every
        return [self._with_answers(at, finding) for at, finding in enumerate(self.every)]

    def _repeat(self, place: int, answer: int) -> None:
        numbers = self._again.setdefault(place, [])
        if len(numbers) < MOST_NUMBERED:
            numbers.append(answer)
        self._counts[place] = self._counts.get(place, 0) + 1

    def _with_answers(self, place: int, finding: Finding) -> Finding:
        if place not in self._counts:
            return finding
        numbers = (*finding.answers, *self._again[place])
        return replace(finding, answers=numbers, in_answers=1 + self._counts[place])


class OutcomesByAnswer:
    """Outcomes of the answers that are over; `of_connection` are numbers of rules that go on."""

    def __init__(self, of_connection: Collection[int]) -> None:
        self._of_connection = of_connection
        self._worst: list[Outcome] = []
        self._taken: dict[int, Outcomes] = {}  # by identity: answers without findings share one

    def add(self, outcomes: Outcomes) -> None:
        """Takes what came of an answer."""
        if self._taken.get(id(outcomes)) is outcomes:
            return
        if len(self._taken) < _MOST_ALIKE:
            self._taken[id(outcomes)] = outcomes
        self._worst = self._combined(outcomes)

    def with_last(self, outcomes: Outcomes) -> Outcomes:
        """What comes of all of them, `outcomes` being those of the last one."""
        return Outcomes(self._combined(outcomes)) if self._worst else outcomes

    def _combined(self, outcomes: Outcomes) -> list[Outcome]:
        if not self._worst:
            return list(outcomes)
        return [
            last if number in self._of_connection else _combined(before, last)
            for number, (before, last) in enumerate(zip(self._worst, outcomes, strict=True))
        ]


def failed_rules(outcomes: Outcomes) -> frozenset[str]:
    return frozenset(each.rule.id for each in outcomes if each.verdict is Verdict.FAIL)


def _combined(before: Outcome, last: Outcome) -> Outcome:
    if before.verdict is last.verdict:
        return before
    return last if combine((before.verdict, last.verdict)) is last.verdict else before
