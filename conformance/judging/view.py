"""What the views of an exchange share: a judge, a memory for findings, and the result.

The *wire view* judges what a server sent, the *client view* what a client says it saw.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.events import Ending, Event, Exchange, Fidelity
from conformance.dialects.base import Dialect
from conformance.judging.answers import FindingsByAnswer, OutcomesByAnswer, failed_rules
from conformance.judging.findings import RecentFrames, make_finding
from conformance.judging.ledger import Ledger
from conformance.judging.result import AnswerError, Finding, StreamResult
from conformance.judging.rulebook import BoundRules
from conformance.judging.scenario import ScenarioJudge
from conformance.judging.transcript import Transcript
from conformance.profiles.profile import Profile
from conformance.rules.applies import Evidence
from conformance.rules.compiled import Outcome, Outcomes
from conformance.rules.forms.base import Violation
from conformance.rules.forms.contributions import Contribution
from conformance.rules.judge import Judge
from conformance.rules.model import Rule
from conformance.rules.verdicts import Verdict

T = TypeVar("T")
EventListener = Callable[[Sequence[Event]], None]
"""Is given the events of one frame, or the semantic ones of joined deltas."""

_MOST_SHARED: Final = 4
_MOST_WAITING: Final = 8  # violations; each keeps the frames around it


class JudgeSetting(Struct, frozen=True):
    """How an exchange is judged: its dialect, its profile, and the recorded facts."""

    dialect: Dialect
    profile: Profile
    bound: BoundRules
    file: str = ""
    fidelity: Fidelity = "bytes"
    named: bool = True  # the user or the recording named the profile
    keep: bool = False
    notes: tuple[str, ...] = ()
    declared: frozenset[str] | None = None  # events that the client under test reports


class _LastMappings(Generic[T]):
    """The last few mappings: of many exchanges that come to the same, one is kept for all."""

    def __init__(self) -> None:
        self._last: deque[Mapping[str, T]] = deque(maxlen=_MOST_SHARED)

    def shared(self, given: Mapping[str, T]) -> Mapping[str, T]:
        """One that is equal, in the same order, or the one that was given."""
        last = tuple(self._last)
        if any(each is given for each in last):  # comparing takes longer than judging a frame
            return given
        for each in last:
            if each == given and list(each) == list(given):
                return each
        self._last.append(given)
        return given


_LAST_VERDICTS: Final[_LastMappings[Verdict]] = _LastMappings()
_LAST_REASONS: Final[_LastMappings[str]] = _LastMappings()


class JudgedView(Struct, frozen=True, dict=True):
    """One view of one exchange: the judge's verdicts, and the exchange's values for comparisons.

    `switched_off` has the profile's reasons by rule, `contributions` the values by rule id.
    """

    judged: StreamResult
    switched_off: Mapping[str, str]
    contributions: tuple[tuple[str, Contribution], ...] = ()

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger, for writers that know more than the bytes."""
        ledger = Ledger(self.judged)
        for rule, why in self.switched_off.items():
            ledger.add(rule, Verdict.NOT_APPLICABLE, f"the profile says: {why}", by="profile")
        return ledger

    @property
    def result(self) -> StreamResult:
        is_untouched = "ledger" not in self.__dict__ and not self.switched_off
        return self.judged if is_untouched else self.ledger.result()


class ExchangeView:
    """One exchange before one judge; `wire` and `client` feed it their events."""

    name: ClassVar[Literal["wire", "client"]]
    judge_type: ClassVar[type[Judge]] = Judge
    framing: str = ""  # of the bytes that were read, if any were

    def __init__(
        self,
        setting: JudgeSetting,
        exchange: Exchange,
        evidence: Evidence,
        scenario: ScenarioJudge | None = None,
    ) -> None:
        self.setting = setting
        self.exchange = exchange
        self.judge = self.judge_type(setting.bound.rules, evidence)
        self.show_judge: Callable[[Event], None] = self.judge.read
        self.scenario = scenario
        self.memory = RecentFrames()
        self.transcript: Transcript | None = None
        self.listener: EventListener | None = None
        self.events: list[Event] = []
        self.answers = 1  # that came so far
        self._outcomes = OutcomesByAnswer(setting.bound.rules.of_connection)
        self._findings = FindingsByAnswer()
        # Not made into findings yet: of many, the end shows that their rule does not apply.
        self._violations: list[tuple[Rule, Violation, RecentFrames]] = []
        self._label = f"{exchange.scenario}/{exchange.role}/{exchange.number}/{self.name}"

    @property
    def findings(self) -> Sequence[Finding]:
        """The findings so far; verdicts may still withdraw them."""
        self._make_findings()
        return self._findings.every

    def take(self, events: Sequence[Event]) -> None:
        """Hands over everything that one frame gave rise to."""
        if events and events[-1].answer != self.answers:
            events = self._begin_answer(events)
        show = self.show_judge
        for event in events:
            show(event)
        self.judge.settle()
        if self.setting.keep:
            self.events.extend(events)
        if self.transcript is not None:
            self.transcript.take(events)
        if self.listener is not None:
            self.listener(events)
        if self.scenario is not None:
            self._add_findings(self.scenario.take(events))
        if self.judge.fresh:
            self._add_fresh_findings()

    def _begin_answer(self, events: Sequence[Event]) -> Sequence[Event]:
        """Ends the answer before; the events that are left belong to the next one."""
        ended = sum(each.answer == self.answers for each in events)
        if ended:
            self.take(events[:ended])
        first = events[ended]
        outcomes = self.judge.end_answer(first.number)
        self._add_last_findings()
        self._make_findings()
        self._findings.end_answer(self.answers, failed_rules(outcomes) | self._going_on)
        self._outcomes.add(outcomes)
        self.answers = first.answer
        return events[ended:]

    def close(self, how: Ending) -> Outcomes:
        """Ends the last answer, and with it all of the exchange: what comes of every rule."""
        outcomes = self.judge.close(how)
        if self.answers > 1:
            self._add_last_findings()
            self._make_findings()
            self._findings.end_answer(self.answers, failed_rules(outcomes) | self._going_on)
        return self._outcomes.with_last(outcomes)

    @property
    def _going_on(self) -> frozenset[str]:
        """Rules whose findings do not hang on what comes of one answer."""
        bound = self.setting.bound
        return bound.rules.ids_of_connection | {each.rule.id for each in bound.scenario.rules}

    def _add_fresh_findings(self) -> None:
        self._add_findings(self.judge.fresh)
        self.judge.fresh.clear()

    def _add_last_findings(self) -> None:
        """What one of several answers still owed when it was over: its end, not the stream's."""
        end = f"end of the {self.setting.dialect.unit}"
        found = [(rule, _with_end(violation, end)) for rule, violation in self.judge.fresh]
        self.judge.fresh.clear()
        self._add_findings(found)

    def _add_findings(self, broken: Iterable[tuple[Rule, Violation]]) -> None:
        for rule, violation in broken:
            self._violations.append((rule, violation, self.memory.snapshot()))
        if len(self._violations) > _MOST_WAITING:
            self._make_findings()

    def _make_findings(self, of_rules: Container[str] | None = None) -> None:
        """Makes findings of the violations that wait: of all, or those of some rules."""
        waiting, self._violations = self._violations, []
        for rule, violation, memory in waiting:
            if of_rules is None or rule.id in of_rules:
                self._findings.add(make_finding(rule, violation, memory, self._label))

    def conclude(self, scenario: ScenarioJudge, how: Ending) -> tuple[Outcome, ...]:
        """Outcomes of the rules that went on over all exchanges, now that the last is over."""
        outcomes, broken = scenario.close(how)
        self._add_findings(broken)
        return outcomes

    def judged(self, outcomes: Outcomes) -> JudgedView:
        """Verdicts and findings, once the judge has closed."""
        self._add_fresh_findings()
        outcomes = self.outcomes_shown(outcomes)
        verdicts, reasons = outcomes.verdicts, outcomes.reasons
        error = _answer_error(self.judge.first_error)
        if error is not None:
            reasons = {rule: _with_error(why, error) for rule, why in reasons.items()}
        verdicts, reasons = _LAST_VERDICTS.shared(verdicts), _LAST_REASONS.shared(reasons)
        findings = self._counting_findings(verdicts)
        result = StreamResult(
            file=self.setting.file,
            exchange=self.exchange.number,
            dialect=self.setting.dialect.name,
            profile=self.setting.profile.name,
            named=self.setting.named,
            verdicts=verdicts,
            findings=tuple(sorted(findings, key=finding_order)),
            scenario=self.exchange.scenario,
            role=self.exchange.role,
            view=self.name,
            reasons=reasons,
            notes=(*self.setting.notes, *self._answer_notes()),
            events=tuple(self.events),
            framing=self.framing,
            error=error,
            answers=self.answers,
        )
        off = self.setting.bound.off if self.name == "wire" else {}
        return JudgedView(result, off, tuple(self._comparison_parts()))

    def _counting_findings(self, verdicts: Mapping[str, Verdict]) -> Sequence[Finding]:
        """Findings of the rules that failed.

        A rule may turn out not to apply only at the end, when an echo of the request is known.
        A broken rule of a scenario stays broken, whatever the outcome of the exchange.
        """
        counting = {each.rule.id for each in self.setting.bound.scenario.rules}
        broken = {rule.id for rule, _, _ in self._violations}
        broken.update(each.rule for each in self._findings.every)
        counting.update(rule for rule in broken if verdicts.get(rule) is Verdict.FAIL)
        self._make_findings(counting)
        found = [each for each in self._findings.with_answers() if each.rule in counting]
        if self.answers > 1:
            unit = self.setting.dialect.unit
            return [replace(each, unit=unit) for each in found]
        return found

    def _answer_notes(self) -> Iterator[str]:
        """Notes on several answers; an application's connection holds many."""
        if self.answers > 1 and not self.setting.dialect.is_application:
            yield f"{self.answers} answers came one after the other: each is judged by itself"
        if left_out := self._findings.left_out:
            yield f"{left_out} more findings of later answers are not listed"

    def outcomes_shown(self, outcomes: Outcomes) -> Outcomes:
        """Those that are worth a line in this view's result."""
        return outcomes

    def _comparison_parts(self) -> Iterable[tuple[str, Contribution]]:
        exchange = self.exchange
        place = (exchange.number, exchange.role, exchange.hop, self.name, self.judge.last)
        return ((rule.id, Contribution(*place, sides)) for rule, sides in self.judge.gathered())


def _with_end(violation: Violation, end: str) -> Violation:
    if violation.got != "end of stream":
        return violation
    return replace(violation, message=violation.message.replace("end of stream", end), got=end)


def _answer_error(event: Event | None) -> AnswerError | None:
    if event is None:
        return None
    code, message = event.data.get("code"), event.data.get("message")
    return AnswerError(event.number, str(code or ""), str(message or ""))


def _with_error(why: str, error: AnswerError) -> str:
    """What an open obligation waited for in vain, where the answer broke off with an error."""
    words = f"an error ({error.code})" if error.code else "an error"
    return why.replace("got end of stream", f"got {words} in event {error.event}")


def finding_order(finding: Finding) -> tuple[int, str, list[tuple[str, Any]]]:
    """By event, rule and slice: an event may break a rule in several slices."""
    fields = [(type(value).__name__, value) for value in finding.slice.values()]
    return finding.event, finding.rule, fields
