"""Findings of one cause as one value: how often they came, where first, and what followed.

Rule 1: findings are of one group if rule, level and verdict are the same, their messages differ in
values only, and their slices have the same fields. What a baseline expects is apart from the rest.
Rule 2: a group follows another one if in every stream that has it its first finding follows from a
finding of the other, directly or over others (`lineage`). What follows is kept below its cause.
What is altered of earlier turns follows what is altered besides calls in the same way
(`About.change`), in other streams, too, and so does sealed data that an application lost.
A history that a gateway did not pass on as it came follows what breaks the one that it sent.
Rule 3: the circumstances of a group are reported where it came under one of them only, and chance
would do that once in twenty times at most (`circumstances`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.judging.circumstances import lone_circumstances
from conformance.judging.consequences import follows
from conformance.judging.group_id import group_id, message_without_values
from conformance.judging.hop_rules import OPAQUE, RETURNED
from conformance.judging.lineage import direct_causes, event_order, level_rank
from conformance.judging.passed_request_rules import ASKED_ANSWERS, ASKED_HISTORY
from conformance.judging.result import (
    Finding,
    FindingExcuse,
    FindingKey,
    Report,
    StreamResult,
    finding_key,
)
from conformance.rules.verdicts import Verdict

_OF_TURNS: Final = ("history/", OPAQUE.id, RETURNED.id)
_PASSED: Final = frozenset({ASKED_HISTORY.id, ASKED_ANSWERS.id})
_FIRED: Final = frozenset({Verdict.PASS, Verdict.FAIL, Verdict.ERROR})


class FindingPlace(Struct, frozen=True):
    """A finding and the stream that has it."""

    stream: StreamResult
    finding: Finding


class FindingGroup(Struct, frozen=True):
    """Findings that differ in values only; `places` are in the order of the report.

    `streams` have it of the `judged` ones, in which the rule had something to say. `message` has
    `…` for values. `circumstances` are sentences about where alone it came. `excuse` is that of
    the first finding, None where no baseline expects them. `following` are other groups.
    """

    id: str
    message: str
    places: tuple[FindingPlace, ...]
    streams: int
    judged: int
    circumstances: tuple[str, ...] = ()
    excuse: FindingExcuse | None = None
    following: tuple[FindingGroup, ...] = ()

    @property
    def first(self) -> Finding:
        return self.places[0].finding

    @property
    def stream(self) -> StreamResult:
        """The stream of the first finding."""
        return self.places[0].stream


def finding_groups(report: Report) -> tuple[FindingGroup, ...]:
    """The groups that follow from no other: unexpected ones first, then by severity and number."""
    unexpected, expected = _Gathering(), _Gathering()
    for stream in report.streams:
        for finding in stream.findings:
            is_expected = report.excuse(stream, finding) is not None
            (expected if is_expected else unexpected).add(stream, finding)
    fired = _fired_streams(report)
    return tuple(
        group for gathering in (unexpected, expected) for group in _nested(report, gathering, fired)
    )


def every_group(groups: Iterable[FindingGroup]) -> Iterator[FindingGroup]:
    for group in groups:
        yield group
        yield from group.following


def groups_by_finding(report: Report) -> Mapping[FindingKey, FindingGroup]:
    return {
        finding_key(place.stream, place.finding): group
        for group in every_group(finding_groups(report))
        for place in group.places
    }


class _Gathering:
    """Findings reported together: by stream, each with the id of its group; and by group."""

    def __init__(self) -> None:
        self.streams: list[tuple[StreamResult, list[tuple[Finding, str]]]] = []
        self.places: dict[str, list[FindingPlace]] = {}

    def add(self, stream: StreamResult, finding: Finding) -> None:
        if not self.streams or self.streams[-1][0] is not stream:
            self.streams.append((stream, []))
        group = group_id(finding)
        self.streams[-1][1].append((finding, group))
        self.places.setdefault(group, []).append(FindingPlace(stream, finding))

    def causes(self) -> dict[str, list[str]]:
        """By group those that it follows in every stream, the surest first."""
        causes: dict[str, list[str]] = {}
        for _, found in self.streams:
            # Of groups with one severity, the more frequent one comes first, in every stream.
            found.sort(key=lambda each: event_order(each[0], len(self.places[each[1]])))
            for group, met in _stream_causes(found).items():
                known = causes.setdefault(group, met)
                causes[group] = [each for each in known if each in met]
        alone = [name for name, known in causes.items() if not known]
        return causes | self._altered_turns(alone) | self._broken_upstream(alone)

    def _broken_upstream(self, alone: Sequence[str]) -> dict[str, list[str]]:
        """Of groups without a cause those whose first request upstream breaks a rule itself."""
        broken = {
            name: {(place.stream.file, place.stream.exchange) for place in self.places[name]}
            for name in alone
            if self.places[name][0].finding.rule.startswith("history/")
        }
        sent = {
            name: self.places[name][0].finding.upstream
            for name in alone
            if self.places[name][0].finding.rule in _PASSED
        }
        return {
            name: [n for n, places in broken.items() if (to.file, to.exchange) in places]
            for name, to in sent.items()
            if to is not None
        }

    def _altered_turns(self, alone: Sequence[str]) -> dict[str, list[str]]:
        """Of groups without a cause those of turns that are altered as other ones are.

        Who alters a turn does so in every scenario, and each turn has a rule for its age.
        Two ways to alter it are two causes.
        """
        first = {name: self.places[name][0].finding for name in alone}
        of_turns = {
            name: found for name, found in first.items() if found.rule.startswith(_OF_TURNS)
        }
        return {
            name: [
                other
                for other, cause in of_turns.items()
                if follows(found.rule, cause.rule)
                and level_rank(cause) <= level_rank(found)
                and cause.about.change is found.about.change
            ]
            for name, found in of_turns.items()
        }


def _stream_causes(ordered: Sequence[tuple[Finding, str]]) -> dict[str, list[str]]:
    """By group of one stream those that its first finding follows, the surest first."""
    causes: dict[str, list[str]] = {}
    above: dict[int, dict[str, None]] = {}
    direct = list(direct_causes([finding for finding, _ in ordered]))
    # A cause comes first, or is severer.
    for place in sorted(range(len(ordered)), key=lambda at: (level_rank(ordered[at][0]), at)):
        group = ordered[place][1]
        known = (at for at in direct[place] if at in above)
        met = {each: None for at in known for each in (ordered[at][1], *above[at])}
        above[place] = met
        causes.setdefault(group, [each for each in met if each != group])
    return causes


def _fired_streams(report: Report) -> Mapping[str, list[StreamResult]]:
    """By rule with findings, the streams in which it had something to say."""
    fired: dict[str, list[StreamResult]] = {finding.rule: [] for finding in report.findings}
    for stream in report.streams:
        failed = {finding.rule for finding in stream.findings}
        for rule, streams in fired.items():
            if rule in failed or _number_judged(stream, rule):
                streams.append(stream)
    return fired


def _nested(
    report: Report, gathering: _Gathering, fired: Mapping[str, list[StreamResult]]
) -> list[FindingGroup]:
    """Groups that follow no other one, with all that follow them."""
    causes = gathering.causes()
    below: dict[str, list[FindingGroup]] = {}
    for name, places in gathering.places.items():
        group = _made_group(report, name, places, fired[places[0].finding.rule])
        below.setdefault(_first_cause(name, causes), []).append(group)
    families = (_with_following(name, family) for name, family in below.items())
    return sorted(families, key=_gravity)


def _made_group(
    report: Report, name: str, places: Sequence[FindingPlace], judged: Sequence[StreamResult]
) -> FindingGroup:
    having = {id(place.stream) for place in places}
    return FindingGroup(
        id=name,
        message=message_without_values(places[0].finding),
        places=tuple(places),
        streams=len(having)
        + sum(each.merged.having.get(name, 0) for each in judged if each.merged),
        judged=sum(_number_judged(each, places[0].finding.rule) or 1 for each in judged),
        circumstances=lone_circumstances((each, _has_group(each, name, having)) for each in judged),
        excuse=report.excuse(places[0].stream, places[0].finding),
    )


def _number_judged(stream: StreamResult, rule: str) -> int:
    """How many of the streams that a result represents were judged by the rule."""
    if stream.merged is not None:
        return stream.merged.judged.get(rule, 0)
    return int(stream.verdicts.get(rule) in _FIRED)


def _has_group(stream: StreamResult, name: str, having: AbstractSet[int]) -> bool:
    is_merged = stream.merged is not None and name in stream.merged.having
    return is_merged or id(stream) in having


def _with_following(name: str, family: Sequence[FindingGroup]) -> FindingGroup:
    head = next(each for each in family if each.id == name)
    following = sorted((each for each in family if each is not head), key=lambda g: -g.streams)
    return replace(head, following=tuple(following))


def _first_cause(group: str, causes: Mapping[str, list[str]]) -> str:
    """The group at the beginning, followed from cause to cause."""
    while causes[group]:  # that ends: in a stream that has both, a cause came first or is severer
        group = causes[group][0]
    return group


def _gravity(group: FindingGroup) -> tuple[bool, bool, int, int]:
    is_error = group.first.verdict is Verdict.ERROR
    return group.excuse is not None, not is_error, level_rank(group.first), -group.streams
