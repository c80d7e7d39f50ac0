"""Everything that writes to a ledger after the judge has closed, in the order in which it writes.

For each exchange of a recording that is
- no part of a run:         `http status`, `kept file`, `expectations` (stop sequences alone),
                            `hops` of an application, its model, `profile`, `consequences`
- of a run, ours behind
  a gateway:                `served recording`, `own answers`
- of a run, the target's:   `served recording`, `own requests`, `http status`, `expectations`,
                            `hops`, `hops` of an application, what its model explains,
                            `profile`, `consequences`
- reported by a client:     `undeclared`
then, in the ledger of a request that brings an answer back: `links` (`evidence.links`); and in that
of the last exchange: `comparisons`, `undeclared`, `own requests`, `randomness`, `consequences`,
and in all of them `redaction`.
Of a client under test, `targets.client.client_judge` writes after `comparisons` and `undeclared`:
`broken stream`, `undeclared` once more, `sent bytes` and `harness`.
Of an untrusted recording, `recordings.claims` writes `claims`.
Of several recordings that hold one conversation, `recordings.linked_files` writes `linked files`.
A run with streams side by side adds `streams beside`, a baseline comes last.

The names are those of `ledger.WRITERS`, which holds every ledger to this order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final

from msgspec import Struct

from conformance.cassette import Recording
from conformance.core.events import Exchange
from conformance.evidence.application import (
    APP,
    ReadExchange,
    compare_application,
    keeps_history,
    later_requests,
    provider_answers,
)
from conformance.evidence.blamed_elsewhere import upstream_of, withdraw_blamed_elsewhere
from conformance.evidence.compared_exchanges import compare_exchanges, is_ours
from conformance.evidence.demands import excuse_stopped, judge_step
from conformance.evidence.expectations import (
    compares_answers,
    expected_of,
    is_played,
    judges_refusals,
    judges_requests,
    stated_run,
)
from conformance.evidence.explained_by_model import withdraw_explained
from conformance.evidence.hops import compare_hops
from conformance.evidence.links.exchanges import NAME as LINKS
from conformance.evidence.links.exchanges import LinkedExchanges
from conformance.evidence.no_answer import withdraw_of_no_answer
from conformance.evidence.passed_requests import compare_requests
from conformance.evidence.replaced_texts import ReplacedTexts
from conformance.evidence.step_counts import StepCounts
from conformance.judging.client_view import compares_views, declared_events, undeclared_rules
from conformance.judging.consequences import (
    withdraw_consequences,
    withdraw_followers,
)
from conformance.judging.hop_rules import HOP_RULES
from conformance.judging.ledger import Ledger
from conformance.judging.passed_request_rules import ASKED_RULES
from conformance.judging.rulebook import Rulebook
from conformance.judging.run_rules import CROSS_TALK, SCENARIO_RULES
from conformance.judging.transcript import Transcript, is_refusal
from conformance.judging.view import JudgedView, JudgeSetting
from conformance.rules.forms.contributions import ComparedPairs, Contribution
from conformance.rules.model import Rule
from conformance.rules.verdicts import Level, Verdict

_REDACTED: Final = "redaction replaced what the rule reads"
_NOT_REDACTED: Final = (
    "the recording says that redaction did this, but no placeholder was read here"
)
_UNSEEN_END: Final = "the file ends there; how the connection ended was not recorded"
_END_RULES: Final = frozenset({"wire/sse/last-event-complete", "wire/lines/last-line-whole"})
_STATES_ENDS: Final = frozenset({"cassette", "row"})  # kinds of recordings
_SERIAL: Final = "overlap"  # the knob of rules by which parts come one after another
_OUR_REQUEST: Final = "the scenario wrote the request"
PLAYED_BROKEN: Final = "what was played upstream breaks"
_ENDED_BY_STATUS: Final = frozenset({"failed", "refused"})
_OF_REQUESTS: Final = frozenset(rule.id for rule in (*ASKED_RULES, CROSS_TALK))
_OF_UPSTREAM: Final = frozenset(rule.id for rule in (*SCENARIO_RULES, *HOP_RULES)) - _OF_REQUESTS
_FAIL: Final = Verdict.FAIL
_TARGETS: Final = frozenset({"server", "gateway", APP})
_PASS_OR_FAIL: Final = frozenset({Verdict.PASS, _FAIL})


class JudgedExchange(Struct, frozen=True):
    """An exchange of a recording, how it was judged, and whether the user trusts the recording."""

    setting: JudgeSetting
    exchange: Exchange
    recording: Recording
    transcript: Transcript
    counts: StepCounts
    read_hop: ReadExchange  # reads another exchange as the recording has it
    trusted: bool = True

    @property
    def rules(self) -> Iterable[Rule]:
        bound = self.setting.bound
        return (each.rule for each in chain(bound.rules.rules, bound.scenario.rules))


Write = Callable[[Ledger, JudgedExchange], None]


def looks_at_answers(recording: Recording, exchange: Exchange) -> bool:
    """Whether anything that writes to a ledger needs the transcript of an exchange."""
    is_run = stated_run(recording.header) is not None
    return is_run or exchange.seen is not None or is_refusal(exchange)


def withdraw_served_faults(ledger: Ledger, judged: JudgedExchange) -> None:
    """What failed already in the recording that a gateway passed on."""
    expected = expected_of(stated_run(judged.recording.header) or {}, judged.exchange)
    excused = {found.rule for found in ledger.findings} & set(expected.excused)
    ledger.withdraw(excused, "the recording breaks it, too", "served recording")


def is_own_request(recording: Recording, exchange: Exchange) -> bool:
    """Whether the toolkit wrote the request: in a run, all but those that the target sent on."""
    return _is_run(stated_run(recording.header) or {}) and exchange.hop != "upstream"


def _is_run(run: Mapping[str, Any]) -> bool:
    """Whether the toolkit sent the requests, to a server, a gateway or an application."""
    target = run.get("target")
    return isinstance(target, str) and target in _TARGETS


def withdraw_own_answers(ledger: Ledger, judged: JudgedExchange) -> None:
    """For an answer of the toolkit itself, only the gateway's request is judged.

    If only the recording claims that the toolkit answered, a broken rule stays broken.
    """
    answers = {rule.id for rule in judged.rules if not judges_requests(rule)}
    if not judged.trusted:
        answers -= set(ledger.rules_with(Verdict.FAIL))
    why = "the toolkit played the server here"
    ledger.withdraw(answers & ledger.verdicts.keys(), why, "own answers")


def withdraw_own_requests(ledger: Ledger, judged: JudgedExchange) -> None:
    """Requests that the toolkit wrote itself say nothing of the target.

    Where only the recording says that it wrote them, one that breaks a rule breaks it.
    """
    run = stated_run(judged.recording.header) or {}
    if not _is_run(run):
        return
    ours = {rule.id for rule in judged.rules if judges_requests(rule)}
    if not judged.trusted:
        ours -= set(ledger.rules_with(Verdict.FAIL))
    ledger.withdraw(ours & ledger.verdicts.keys(), _OUR_REQUEST, "own requests")
    request = judged.exchange.request
    if request is not None and request.method == "GET":
        untestable = ledger.rules_with(Verdict.UNTESTABLE)
        ledger.withdraw(untestable, "the request has no body", "own requests")


def withdraw_unstreamed(ledger: Ledger, judged: JudgedExchange) -> None:
    """HTTP 3xx to 5xx, in a run or not, is not a stream: only request, error and end are judged.

    A body that is an answer anyway is judged as one, whatever its status.
    """
    if is_refusal(judged.exchange) and not judged.transcript.answers:
        status = judged.exchange.response and judged.exchange.response.status
        others = {rule.id for rule in judged.rules if not judges_refusals(rule)}
        why = f"it was answered with HTTP {status}"
        ledger.withdraw(others & ledger.verdicts.keys(), why, "http status")


def write_expectations(ledger: Ledger, judged: JudgedExchange) -> None:
    """The ending and the thinking that the scenario expects, and what came through a gateway."""
    exchange, recording = judged.exchange, judged.recording
    expected = expected_of(stated_run(recording.header) or {}, exchange)
    if not expected.ends:
        return
    answer = judged.transcript
    calls = upstream_of(recording, exchange) if exchange.hop == "downstream" else []
    judge_step(ledger, answer, expected, judged.setting.dialect, judged.counts, calls=calls)
    if exchange.hop == "downstream":
        compare_requests(ledger, exchange, answer, calls, str(recording.path))
        compare_hops(ledger, exchange, answer, recording.exchanges, expected)


def write_application(ledger: Ledger, judged: JudgedExchange) -> None:
    """Compares an application's answer with its provider's, if both were recorded."""
    exchange, recording = judged.exchange, judged.recording
    calls = provider_answers(recording, exchange) if exchange.hop == APP else []
    run = stated_run(recording.header) or {}
    expected = expected_of(run, exchange) if calls else None
    if expected is not None and not expected.untestable:
        knobs, read = judged.setting.profile.knobs, judged.read_hop
        compare_application(
            *(ledger, read(exchange), [read(each) for each in calls]),
            later=later_requests(recording, exchange),
            hides=knobs.get("hidden") is True or "thinking" in expected.without,
            serial=frozenset(r.id for r in judged.rules if _SERIAL in dict(r.applies.profile)),
            has_no_place=knobs.get("opaque") == "none",
            is_played=run.get("target") == APP,
            keeps_history=partial(keeps_history, recording, exchange, read),
        )


def withdraw_what_its_model_explains(ledger: Ledger, judged: JudgedExchange) -> None:
    """Waits, and counts, of an application or a gateway."""
    withdraw_explained(ledger, judged.rules, judged.recording, judged.exchange, judged.read_hop)


def withdraw_of_broken_upstream(ledger: Ledger, judged: JudgedExchange) -> None:
    """A gateway may refuse an upstream answer that breaks a binding rule: nothing is owed then.

    If its answer came complete anyway, it is compared; breaking off without an error is a fault.
    """
    run = stated_run(judged.recording.header) or {}
    expected = expected_of(run, judged.exchange)
    if expected.broken and judged.transcript.ending in _ENDED_BY_STATUS:
        failed = _OF_UPSTREAM.intersection(ledger.rules_with(_FAIL))
        ledger.withdraw(failed, f"{PLAYED_BROKEN} {expected.broken[0]} itself", "hops")


def apply_overrides(ledger: Ledger, judged: JudgedExchange) -> None:
    """What the profile says of the rules that a run adds."""
    overrides = judged.setting.profile.overrides
    for rule in (*SCENARIO_RULES, *HOP_RULES) if overrides else ():
        override = overrides.get(rule.id)
        if override is None or rule.id not in ledger.verdicts:
            continue
        if override.level == "off":
            ledger.withdraw([rule.id], f"the profile says: {override.because}", "profile")
        else:
            why = f"{override.level}, {override.because}"
            ledger.remark(rule.id, why, "profile", Level(override.level))


def withdraw_unrecorded_end(ledger: Ledger, judged: JudgedExchange) -> None:
    """Withdraws the end of a stream that ends inside an event, if only a body was saved.

    A recording with the request, or with a length that fits, proves that the end was seen.
    """
    exchange = judged.exchange
    broken = _END_RULES.intersection(ledger.rules_with(_FAIL))
    if not broken or judged.recording.kind in _STATES_ENDS or exchange.request is not None:
        return
    length = exchange.response.header("content-length") if exchange.response else None
    if length != str(len(exchange.body)):
        ledger.withdraw(broken, _UNSEEN_END, "kept file", Verdict.UNTESTABLE)


OF_RECORDING: Final[Sequence[Write]] = (
    withdraw_unstreamed,
    withdraw_unrecorded_end,
    lambda ledger, judged: excuse_stopped(ledger, judged.setting.dialect, judged.exchange),
    write_application,
    withdraw_what_its_model_explains,
    apply_overrides,
    lambda ledger, judged: withdraw_of_no_answer(ledger, judged.setting, judged.exchange),
    lambda ledger, _judged: withdraw_consequences(ledger),
)
OF_OWN_ANSWER: Final[Sequence[Write]] = (withdraw_served_faults, withdraw_own_answers)
OF_TARGET: Final[Sequence[Write]] = (
    withdraw_served_faults,
    withdraw_own_requests,
    withdraw_unstreamed,
    write_expectations,
    write_application,
    withdraw_what_its_model_explains,
    withdraw_of_broken_upstream,
    apply_overrides,
    lambda ledger, judged: withdraw_of_no_answer(ledger, judged.setting, judged.exchange),
    lambda ledger, _judged: withdraw_consequences(ledger),
)


def write_exchange(ledger: Ledger, judged: JudgedExchange) -> None:
    """Writes all evidence on one exchange as the server sent it."""
    if stated_run(judged.recording.header) is None:
        writes = OF_RECORDING
    elif is_played(judged.recording.header, judged.exchange):
        writes = OF_OWN_ANSWER
    else:
        writes = OF_TARGET
    for write in writes:
        write(ledger, judged)


def withdraw_undeclared(ledger: Ledger, judged: JudgedExchange, rules: Iterable[Rule]) -> None:
    """What a client that reported the exchange did not declare is not held against it."""
    setting = judged.setting
    if setting.declared is not None:
        sent = judged.transcript.types
        for rule, why in undeclared_rules(rules, ledger.verdicts, sent, setting.declared):
            ledger.withdraw([rule], why, "undeclared")


def write_comparisons(
    judged: Sequence[JudgedView], rulebook: Rulebook, recording: Recording, *, trusted: bool = True
) -> Mapping[str, ComparedPairs]:
    """Rules over all exchanges of a recording, with the last of them; what they compared."""
    given_by_all = [each for one in judged for each in one.contributions]
    if not given_by_all:
        return {}
    ledger = judged[-1].ledger
    run = stated_run(recording.header) or {}
    is_run = _is_run(run)
    rules = {rule.id: rule for rule, _ in rulebook.comparing} if is_run else {}
    ours: list[tuple[str, Contribution]] = []
    theirs: list[tuple[str, Contribution]] = []
    for rule_id, given in given_by_all:
        is_own = rule_id in rules and is_ours(rules[rule_id], given)
        (ours if is_own else theirs).append((rule_id, given))
    found = list(compare_exchanges(rulebook, theirs))
    if not trusted:
        # The recording only claims that the toolkit wrote it: a broken rule stays broken.
        own = [each for each in ours if each[1].hop != "upstream"]
        found += (each for each in compare_exchanges(rulebook, own) if each.verdict is _FAIL)
    compared = {one.rule.id: one.rule for one in found}
    refused = {each.number for each in recording.exchanges if is_refusal(each)}
    for one in found:
        one.write(ledger, refused)
    declared = declared_events(recording.header)
    if declared is not None:
        between = filter(compares_views, compared.values())
        for rule, why in undeclared_rules(between, ledger.verdicts, frozenset(), declared):
            ledger.withdraw([rule], why, "undeclared")
    ledger.withdraw({rule for rule, _ in ours} - compared.keys(), _OUR_REQUEST, "own requests")
    if run.get("deterministic") is False:
        chance = [
            rule
            for rule, known in compared.items()
            if compares_answers(known) and ledger.verdicts[rule] in _PASS_OR_FAIL
        ]
        why = "the target is not deterministic"
        ledger.withdraw(chance, why, "randomness", Verdict.UNTESTABLE)
    return {one.rule.id: one.pairs for one in found}


def write_links(
    linked: LinkedExchanges | None,
    judged: Sequence[JudgedView],
    recording: Recording,
    *,
    trusted: bool,
) -> None:
    """Rules over an answer and the request that brings it back; they are with the request."""
    if linked is not None:
        ledgers = {one.judged.exchange: one.ledger for one in judged if one.judged.view == "wire"}
        ours = partial(is_own_request, recording)
        linked.write(ledgers, recording.judged, ours, trusted=trusted)
        for ledger in ledgers.values():
            withdraw_followers(ledger, LINKS)
        linked.withdraw_repeated(ledgers, recording.judged)
        withdraw_blamed_elsewhere(ledgers, recording)


def withdraw_touched(
    judged: Iterable[JudgedView],
    recording: Recording,
    rules: Iterable[Rule],
    texts: Callable[[Exchange], ReplacedTexts] | None = None,
) -> None:
    """Replaced text cannot be judged: a recording names the rules that redaction touched.

    With `texts`, for an untrusted recording, a broken rule stays broken unless the text that it
    read is a stand-in.
    """
    exchanges = {each.number: each for each in recording.exchanges if each.touched}
    if not exchanges:
        return
    known = {rule.id: rule for rule in rules}
    for one in judged:
        exchange = exchanges.get(one.ledger.exchange)
        if exchange is None:
            continue
        named, given = set(exchange.touched), one.ledger.verdicts.keys()
        read = set(given if "*" in named else given & named)
        broken = read & set(one.ledger.rules_with(_FAIL)) if texts is not None else set()
        if texts is not None and broken and one.judged.view == "wire":
            shown = texts(exchange)
            broken = {each for each in broken if not _is_explained(one.ledger, each, known, shown)}
        for rule in sorted(broken):
            one.ledger.remark(rule, _NOT_REDACTED, "redaction")
        one.ledger.withdraw(read - broken, _REDACTED, "redaction", Verdict.UNTESTABLE)


def _is_explained(
    ledger: Ledger, rule_id: str, known: Mapping[str, Rule], texts: ReplacedTexts
) -> bool:
    found = [each for each in ledger.findings if each.rule == rule_id]
    return rule_id in known and texts.explain(known[rule_id], found)
