"""Judges a client's report: against the bytes, by the suites, and by `harness/...`.

Rule 1: missing events count against a client only if it declares them, as in `check.client`.
Rule 2: if the stream broke off, the client need not report calls and usage; if that was after the
        finish, it need not report the break. Unfinished obligations are the stream's, and rules
        for servers are judged by the whole stream. A client that reports the break need not report
        the finish, nor end the parts that it had begun.
Rule 3: arguments are equal if they are the same JSON, because many SDKs give parsed values. A
        client without an event for refusals may show them as text.
Rule 4: after a reset, bytes under way may be lost, and the content of a refusal is free: there only
        the end is judged.
Rule 5: a rule broken by the bytes themselves is the server's fault, not the client's; so is a fault
        that only a field would excuse which no client can report.
Rule 6: a client may report calls that the server carries out itself, at any place, or not.
Rule 7: if the API does not mark the end of a call, it may be reported before its finish; for a
        client that shows calls when the answer is complete, their place is not compared.
Rule 8: with calls, `tool_calls` counts as the server's `stop`, unless a client reports reasons
        unchanged.
Rule 9: a finish that the server sends again may be reported once. Of Gemini's reasons only the
        last one of each candidate counts.
Rule 10: a client that names no channel of its thinking is not compared by channel.
Rule 11: a call that was cut in its arguments need not be reported.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from msgspec.structs import replace

from conformance.core.events import Exchange, Request
from conformance.dialects import get
from conformance.evidence.compared_exchanges import compare_exchanges, sent_contributions
from conformance.evidence.expectations import judges_requests
from conformance.evidence.links.exchanges import NAME as LINKS
from conformance.evidence.links.exchanges import LinkedExchanges
from conformance.evidence.links.places import ExchangePlaces
from conformance.judging import harness
from conformance.judging.client_calls import calls_as_sent
from conformance.judging.client_view import check_client, compares_views, undeclared_rules
from conformance.judging.consequences import withdraw_followers
from conformance.judging.fast.running import check_wire
from conformance.judging.ledger import Ledger
from conformance.judging.result import Finding, StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.transcript import Transcript, is_refusal, read_transcript
from conformance.judging.view import JudgeSetting
from conformance.profiles.profile import Profile, reading
from conformance.report.wording import recording_name
from conformance.rules.forms.response import Answer
from conformance.rules.model import Rule
from conformance.rules.verdicts import Verdict
from conformance.targets.client.adapter import AdapterAnswer, joined_text
from conformance.targets.client.free_reports import (
    finished_once,
    in_one_channel,
    without_cut_calls,
    without_early_finishes,
)
from conformance.targets.client.late_calls import CALLS_AT_END, TEXTS, calls_at_finish, sent_late
from conformance.targets.client.protocol import ClientImplementation, event_fields
from conformance.targets.client.variation import VariationKind

_OPEN: Final = frozenset({"tool.end", "usage"})
_AT_THE_END: Final = frozenset({"tool.end", "finish", "usage", "done", "cut"})
_AFTER_FINISH: Final = frozenset({"done", "cut", "error"})
_BROKEN: Final = frozenset({"failed", "cut"})
_DECIDED: Final = frozenset({Verdict.PASS, Verdict.FAIL, Verdict.ERROR})


HarnessFault = tuple[str, str]
"""The value that a rule of the harness expects, and the one that came."""


class ClientLedger(Ledger):
    """The ledger of one judgement of a client, empty at first."""

    def __init__(self) -> None:
        super().__init__(StreamResult("", 0, "", "", named=False, verdicts={}, findings=()))

    def state_harness_rule(
        self,
        rule: Rule,
        where: str = "",
        wrong: HarnessFault | None = None,
        report: harness.HarnessReport = (),
    ) -> None:
        """A rule of the harness held, or something was `wrong` in what was reported."""
        found = harness.client_finding(rule, where, *wrong, report) if wrong else None
        verdict = found.verdict if found else Verdict.PASS
        self.add(rule.id, verdict, findings=[found] if found else (), by="harness")

    def take_judged(self, judged: StreamResult, rules: Collection[str]) -> None:
        self.own()
        self.verdicts |= {rule: v for rule, v in judged.verdicts.items() if rule in rules}
        self.reasons |= {rule: why for rule, why in judged.reasons.items() if rule in rules}
        self.findings += [found for found in judged.findings if found.rule in rules]

    def fill_open(self, other: Ledger) -> None:
        """Take the verdicts that another judgement decides and this one leaves open."""
        undecided = other.verdicts.keys() - self.rules_with(*_DECIDED)
        self.take_judged(other.result(), undecided)
        self.changes += [change for change in other.changes if change.rule in undecided]


@lru_cache(maxsize=4)
def _rules_of_views(rulebook: Rulebook) -> Rulebook | None:
    """Those that compare what was sent with what was reported; a run judges by them many times."""
    two = sorted(rule.id for rule in rulebook.rules if compares_views(rule))
    return Rulebook(rulebook.suites, two) if two else None


@lru_cache(maxsize=4)
def _rules_of_requests(rulebook: Rulebook) -> frozenset[str]:
    return frozenset(rule.id for rule in rulebook.rules if judges_requests(rule))


class ClientJudge:
    """The rules of a run as they apply to one client, one dialect and one profile.

    `name` is what the recording is called in baselines: a client meets many of one file name.
    `call` is the command of the run, without its recordings; empty where there is none.
    """

    def __init__(
        self,
        rulebook: Rulebook,
        profile: Profile,
        about: ClientImplementation,
        file: str,
        *,
        named: bool,
        name: str = "",
        call: str = "",
    ) -> None:
        self.name = name
        self._call = call
        self.rulebook = rulebook
        self.profile = profile
        self.about = about
        self.dialect = get(profile.dialect)
        self.reading = reading(profile)
        bound = rulebook.bound(profile)
        self.setting = JudgeSetting(self.dialect, profile, bound, file=file, named=named)
        self._rules = {rule.id: rule for rule in rulebook.rules}
        self._of_views = {rule.id for rule in rulebook.rules if compares_views(rule)}
        small = _rules_of_views(rulebook)
        self._small = replace(self.setting, bound=small.bound(profile)) if small else None

    def call_of(self, replay: str) -> str:
        """The command that makes one replay again; empty where no command made it."""
        recording = shlex.quote(recording_name(self.setting.file))
        named = f"--cassette {recording} --only {shlex.quote(replay)}"
        return f"{self._call} {named}" if self._call else ""

    def read_sent(self, exchange: Exchange) -> Transcript:
        """Return the transcript of what was sent, with the semantic events of a correct client."""
        return read_transcript(exchange, self.dialect, self.reading, keep="semantic")

    def judge_stream(
        self, sent: Transcript, answered: AdapterAnswer, kind: VariationKind
    ) -> ClientLedger:
        """Judges what was answered with an end; `sent` is the stream that went out."""
        exchange = sent.exchange
        made = ClientLedger()
        # After a reset, and of a refusal, the end alone is judged.
        if kind != "reset" and not is_refusal(exchange):
            shown: Sequence[Mapping[str, Any]] = answered.events
            if self.dialect.client is not None and self.dialect.client.finishes_early:
                shown = without_early_finishes(sent, shown)
            own, reported = finished_once(sent, shown)
            own, reported = in_one_channel(own, reported)
            own = without_cut_calls(own, reported)
            spelled = calls_as_sent(reported, own.client_events)
            own, events = self._with_calls_late(own, self._respell_finish(spelled, own))
            breaks_off = answered.how in _BROKEN
            compared = _compared_types(sent, self.about.events, breaks_off=breaks_off)
            self._judge_suites(made, own, events, compared, breaks_off=breaks_off)
        wrong = _ending_fault(sent, answered)
        made.state_harness_rule(harness.ENDING, client_place(exchange), wrong, answered.events)
        return made

    def _with_calls_late(
        self, sent: Transcript, events: Sequence[Mapping[str, Any]]
    ) -> tuple[Transcript, Sequence[Mapping[str, Any]]]:
        """Rule 7."""
        cases = self.dialect.client
        if CALLS_AT_END in self.about.features:
            return sent_late(sent), calls_at_finish(events, is_after_finish=True)
        if cases is not None and not cases.ends_calls:
            return sent, calls_at_finish(events, is_after_finish=False)
        return sent, events

    def _respell_finish(
        self, events: Sequence[Mapping[str, Any]], sent: Transcript
    ) -> Sequence[Mapping[str, Any]]:
        """Rule 8."""
        if not (self.about.normalises_finish and sent.tools and "stop" in sent.finishes):
            return events
        called = {"type": "finish", "reason": "tool_calls"}
        return [{**e, "reason": "stop"} if called.items() <= e.items() else e for e in events]

    def judge_message(self, sent: Transcript, answered: AdapterAnswer) -> ClientLedger:
        """Judges the events of a whole message, which is the body of what was sent."""
        made = ClientLedger()
        events = calls_as_sent(answered.events, sent.client_events)
        self._judge_suites(made, sent, events, self.about.events & _CONTENT)
        return made

    def judge_requests(self, exchanges: Sequence[Exchange]) -> ClientLedger:
        """Judges what a client would send last, and what it brings back of the answers before."""
        linked = LinkedExchanges(ExchangePlaces(self.setting.file))
        judged = [
            check_wire(
                *(self.setting, each, each.chunks, each.end),
                listener=linked.listener(self.setting, each),
            )
            for each in exchanges
        ]
        made = ClientLedger()
        made.take_judged(judged[-1].result, _rules_of_requests(self.rulebook))
        linked.write({exchanges[-1].number: made}, exchanges, lambda _: False, trusted=True)
        withdraw_followers(made, LINKS)
        return made

    def _judge_suites(
        self,
        made: ClientLedger,
        sent: Transcript,
        events: Sequence[Mapping[str, Any]],
        compared: frozenset[str],
        *,
        breaks_off: bool = False,
    ) -> None:
        watched = replace(sent.exchange, seen=tuple(events))
        setting = replace(self.setting, declared=compared)
        client = check_client(setting, watched, events, breaks_off=breaks_off)
        made.take_judged(client.result, client.result.verdicts.keys())
        if self._small is not None:
            wire = sent_contributions(replace(self._small, declared=compared), sent)
            given = [*client.contributions, *wire]
            for one in compare_exchanges(
                self.rulebook, [pair for pair in given if pair[0] in self._of_views]
            ):
                findings = [
                    _explain_lost_thinking(
                        found, events, sent, is_declared="thinking.delta" in compared
                    )
                    for found in one.findings
                ]
                made.add(one.rule.id, one.verdict, one.reason, findings, by="comparisons")
        self._withdraw_undeclared(made, sent)
        if made.findings:
            self._withdraw_faults_sent(made, setting, watched, sent)
            withdraw_followers(made, "sent bytes")
            if self._of_views & {found.rule for found in made.findings}:
                # A server's rules count and order what was reported, which is not what it sent.
                blamed = [f.rule for f in made.findings if f.rule.startswith("wire/")]
                made.withdraw(blamed, "what was reported differs from what was sent", "sent bytes")

    def _withdraw_undeclared(self, made: ClientLedger, sent: Transcript) -> None:
        """Rules 1 to 3."""
        rules = self._rules.values()
        silent = dict(undeclared_rules(rules, made.verdicts, sent.types, self.about.events))
        for rule, why in silent.items():
            made.withdraw([rule], why, "undeclared")
        if sent.client_end != "completed":
            judged = made.verdicts.keys() & self._rules.keys() - self._of_views - silent.keys()
            owed = [rule for rule in judged if not self._holds_of_parts(rule)]
            made.withdraw(owed, "the stream broke off", "broken stream")
        if "refusal.delta" in sent.types - self.about.events:
            views = made.verdicts.keys() & self._of_views
            made.withdraw(views, "the client does not report refusal.delta", "undeclared")

    def _holds_of_parts(self, rule: str) -> bool:
        """Rule 2: whether a part of an answer can break the rule for good."""
        known = self._rules[rule]
        return known.view == "client" and not isinstance(known.form, Answer)

    def _withdraw_faults_sent(
        self, made: ClientLedger, setting: JudgeSetting, watched: Exchange, sent: Transcript
    ) -> None:
        """Rule 5."""
        known = event_fields()
        answered = [
            {key: value for key, value in event.items() if key in known}
            for event in sent.client_events
            if event["type"] in self.about.events
        ]
        rightly = check_client(setting, watched, answered).result.verdicts
        failing = {rule for rule, verdict in rightly.items() if verdict is Verdict.FAIL}
        excused = ({found.rule for found in made.findings} & failing) - self._of_views
        made.withdraw(excused, "what was sent breaks it", "sent bytes")


def _explain_lost_thinking(
    found: Finding, events: Sequence[Mapping[str, Any]], sent: Transcript, *, is_declared: bool
) -> Finding:
    """A difference with what became of the thinking, where that is plain.

    Who declares no thinking has not lost any.
    """
    thinking = joined_text(sent.client_events, "thinking.delta")
    if not thinking or joined_text(events, "thinking.delta"):
        return found
    shown = thinking in joined_text(events, "text.delta")
    if not (shown or is_declared):
        return found
    fate = "the thinking is reported as text" if shown else "all thinking is lost"
    return replace(found, message=f"{found.message}; {fate}")


def client_place(exchange: Exchange) -> str:
    """Where findings place a client's answer to a case."""
    return f"{exchange.scenario}/{exchange.role}/{exchange.number}/client"


def no_answer(where: str, answered: AdapterAnswer) -> ClientLedger:
    """The verdict where no answer came that could be judged.

    Who writes what is none of the protocol has a fault to mend; of who crashes nothing is known.
    """
    made = ClientLedger()
    found = harness.client_finding(
        harness.ANSWERS, where, "an answer", answered.reason() or answered.how
    )
    verdict = Verdict.FAIL if answered.is_wrong else Verdict.ERROR
    found = replace(found, verdict=verdict)
    made.add(harness.ANSWERS.id, verdict, findings=[found], by="harness")
    return made


def request_exchange(
    request: Request, number: int, role: str, like: Exchange, chosen: Mapping[str, Any]
) -> Exchange:
    """An exchange that holds what a client would send; its answer, that of `like`, says nothing."""
    return replace(
        like,
        number=number,
        request=request,
        role=role,
        hop="",
        scenario="",
        seen=None,
        user_choices=chosen,
    )


def stream_result(
    judging: ClientJudge, exchange: Exchange, made: ClientLedger, notes: tuple[str, ...] = ()
) -> StreamResult:
    """The line in the report for one exchange, over all its replays."""
    stream = StreamResult(
        file=judging.setting.file,
        exchange=exchange.number,
        dialect=judging.dialect.name,
        profile=judging.profile.name,
        named=judging.setting.named,
        verdicts=made.verdicts,
        findings=tuple(sorted(made.findings, key=lambda each: (each.event, each.rule))),
        scenario=judging.name or exchange.scenario,
        role=exchange.role or (str(exchange.number) if judging.name else ""),
        view="client",
        target=judging.about.target,
        reasons={rule: why for rule, why in made.reasons.items() if rule in made.verdicts},
        notes=notes,
        changes=tuple(made.changes),
    )
    return judging.rulebook.narrowed(stream)


_CONTENT: Final = TEXTS | {"tool.end"}


def _compared_types(
    sent: Transcript, declared: frozenset[str], *, breaks_off: bool
) -> frozenset[str]:
    """Rule 2: the events that are compared with the bytes."""
    if breaks_off and is_broken(sent):
        declared -= _AT_THE_END
    if sent.client_end == "completed" or "error" in sent.types:
        return declared
    return declared - _OPEN - (_AFTER_FINISH if sent.finishes else frozenset())


def is_broken(sent: Transcript) -> bool:
    """Whether the answer broke off, be it after its last event."""
    return sent.client_end != "completed" or sent.exchange.end != "eof"


def _ending_fault(sent: Transcript, answered: AdapterAnswer) -> HarnessFault | None:
    if not is_broken(sent) and answered.how != "completed":
        return "completed", answered.ending_text()
    if sent.client_end == "broken" and answered.how not in _BROKEN:
        return "failed or cut", answered.ending_text()
    return None
