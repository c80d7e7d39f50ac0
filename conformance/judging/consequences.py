"""What follows from another fault is no finding of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from conformance.judging.explained_difference import explains
from conformance.judging.following_rules import (
    COMPARED,
    FOLLOWING,
    HALVED,
    ITEM_CLOSED,
    LEADS_BY,
    LEADS_BY_SLICE,
    LED_BY,
    PART_ORDERS,
)
from conformance.judging.hop_rules import OPAQUE, RETURNED, TALK_KEPT, THINKING_PARTS
from conformance.judging.ledger import Ledger
from conformance.judging.mixed_answers import withdraw_mixed
from conformance.judging.result import Finding, StreamResult
from conformance.judging.run_rules import ANSWER_SAID, ENDING
from conformance.judging.transcript import WHOLE_ENDS
from conformance.judging.view import JudgedView
from conformance.rules.about import Change
from conformance.rules.forms.contributions import ComparedPairs, Contribution
from conformance.rules.verdicts import Level, Verdict

_END: Final = "end of "  # what a rule got where something never came
# What shows where a call goes on, before it shows that the call was not closed.
_SHOWN_BEFORE: Final = (
    "/output-of-call",
    "/result-after-call",
    *("/fragment-says-something", "/result-present", "/turn-ended", "/blocks-finished"),
    "/marked-before-text",
    "hop/tools",
    "hop/thinking-apart",
)
_OF_REPORTS: Final = "/client/"
_OF_COUNTS: Final = re.compile("usage|count|total")  # no text is lost by these
_HISTORY: Final = "history/"
_RETURNED: Final = "history/returned/"
_SWITCHES: Final = "effort/"  # rules of the thinking that a request sets
_WISHES: Final = (_SWITCHES, "summary/request/")


def result_of_bytes(judged: JudgedView) -> StreamResult:
    """What came of one stream of which nothing but its bytes is known."""
    if len(judged.judged.findings) > 1:
        withdraw_consequences(judged.ledger)
    return judged.result


def withdraw_consequences(ledger: Ledger) -> None:
    """What follows from another fault: one cause, one finding.

    An answer is empty because something else broke; a call has no result as that names another.
    """
    withdraw_followers(ledger, "consequences")
    if ledger.verdicts.get(ANSWER_SAID) is not Verdict.FAIL:
        return
    others = (each for each in ledger.findings if each.rule != ANSWER_SAID)
    for found in others:
        if _OF_COUNTS.search(found.rule):
            continue
        if found.level is Level.MUST or found.rule.startswith(_SWITCHES):
            why = f"what breaks {found.rule} may be why"
            ledger.withdraw([ANSWER_SAID], why, "consequences")
            return


def withdraw_followers(ledger: Ledger, by: str) -> None:
    """Withdraws a rule where one that it may follow from fails, too; `by` is the writer's name.

    A cause comes first, in the same answer, unless it is something that never came: that shows
    later, some of it only where the answer ends. It binds as much as what follows, too: who reads
    of MUST alone would read of neither.
    """
    fail = Verdict.FAIL  # looked up once for hundreds of rules
    failing = [rule for rule, verdict in ledger.verdicts.items() if verdict is fail]
    findings = tuple(ledger.findings)  # what is withdrawn may lead on
    slight = {each.rule for each in findings if each.level is not Level.MUST}
    grave = [rule for rule in failing if rule not in slight]
    for rule in failing:
        leaders = FOLLOWING.get(rule.rpartition("/")[2])
        binding = failing if rule in slight else grave
        known = [each for each in binding if follows(rule, each)] if leaders else ()
        why = next((each for each in known if _may_cause(findings, each, rule)), None)
        why = why or _reported_cause(ledger, rule)
        if why is not None:
            ledger.withdraw([rule], f"what breaks {why} may be why", by)
    if len(failing) > 1:
        withdraw_mixed(ledger)


def _reported_cause(ledger: Ledger, rule: str) -> str | None:
    """The rule that an earlier request broke for the same turn, if what this one lacks follows."""
    found = [each for each in ledger.findings if each.rule == rule]
    if any(map(_of_answer, found)):
        return None  # it names the answer: whose turn is broken is known
    is_grave = any(each.level is Level.MUST for each in found)
    before = sorted(ledger.reported_before.items())
    binding = (each for each, level in before if level is Level.MUST or not is_grave)
    return next((each for each in binding if follows(rule, each)), None)


def follows(rule: str, leader: str) -> bool:
    """Whether a breach of the one rule may be due to one of the other rule."""
    suite, _, name = rule.rpartition("/")
    return any(_is_leader(leader, each, suite) for each in FOLLOWING.get(name, ()))


def is_made_up(finding: Finding) -> bool:
    """Whether an answer that broke off, or failed, came as a whole one."""
    is_whole = finding.got in WHOLE_ENDS and WHOLE_ENDS.isdisjoint(finding.expected)
    return finding.rule == ENDING.id and is_whole


def _may_cause(findings: Sequence[Finding], leader: str, rule: str) -> bool:
    """Whether a finding of the leader is where it may cause every finding of the rule."""
    causes = [each for each in findings if each.rule == leader]
    found = [each for each in findings if each.rule == rule]
    of_answers = (each.upstream for each in found if _of_answer(each))
    answers = {(each.file, each.exchange) for each in of_answers if each is not None}
    if len(answers) > 1 and not any(map(_of_answer, causes)):
        return False  # it says once what a request holds, wherever that is
    if rule in HALVED and len({tuple(each.slice.values()) for each in found}) < 2:
        return False  # nothing was to be found under the other id
    return all(any(_comes_first(cause, each) for cause in causes) for each in found)


def _comes_first(cause: Finding, finding: Finding) -> bool:
    if ENDING.id in (cause.rule, finding.rule):
        return is_made_up(cause) or (finding.got == "cut" and _is_nothing_read(cause))
    if _OF_REPORTS in cause.rule:
        return True  # it compares the whole report, and shows at its end
    is_other = finding.unit and set(cause.answers).isdisjoint(finding.answers)
    if is_other or not (_of_one_answer(cause, finding) and _leads_by_its_field(cause, finding)):
        return False
    if finding.rule == THINKING_PARTS.id:
        return cause.event == finding.event  # elsewhere it is another part
    if (finding if cause.rule == ITEM_CLOSED else cause).rule.endswith(PART_ORDERS):
        return _is_part_left_open(cause, finding)
    is_late = cause.got.startswith(_END) or finding.rule.endswith(_SHOWN_BEFORE)
    return is_late or cause.event <= finding.event or _names_its_slice(cause, finding)


def _names_its_slice(cause: Finding, finding: Finding) -> bool:
    """Whether the finding states the id of what the cause is about, and so may show before it."""
    stated = {value for _, value in finding.about.fields}
    return any(isinstance(each, str) and each in stated for each in cause.slice.values())


def _leads_by_its_field(cause: Finding, finding: Finding) -> bool:
    """Whether the field that breaks the rule is one without which more is lost."""
    is_of_slice = cause.rule.endswith(LEADS_BY_SLICE)
    leading = tuple(finding.slice) if is_of_slice else _leading_fields(cause, finding)
    own = LEADS_BY.get(finding.rule)
    return _is_by_one_of(leading, cause) and _is_by_one_of(own, finding)


def _leading_fields(cause: Finding, finding: Finding) -> Sequence[str] | None:
    return LED_BY.get(finding.rule) or LEADS_BY.get(cause.rule)


def _is_by_one_of(fields: Sequence[str] | None, finding: Finding) -> bool:
    """Whether it is of one of these fields, or of none; None: of any."""
    broken = [path.rpartition(".")[2] for path, _ in finding.about.fields]
    return fields is None or not broken or not set(fields).isdisjoint(broken)


def _is_nothing_read(cause: Finding) -> bool:
    """Whether the first event of an answer could not be read: those after it are like it."""
    return cause.event == 1 and cause.rule.endswith("/event-typed")


def _is_part_left_open(cause: Finding, finding: Finding) -> bool:
    """Whether one of two findings is that a part is never closed, and the other of its item."""
    if cause.rule != ITEM_CLOSED:
        return cause.got.startswith(_END) and cause.slice == finding.slice
    is_late = finding.got.startswith(_END) and not cause.got.startswith(_END)
    return is_late and cause.slice.items() <= finding.slice.items()


def _of_answer(finding: Finding) -> bool:
    """Whether it compares an answer with a turn that brings it back."""
    return finding.upstream is not None and finding.upstream.side == "answer"


def _of_one_answer(cause: Finding, finding: Finding) -> bool:
    """Whether two findings of a history may be of the same answer."""
    one, other = cause.upstream, finding.upstream
    if one is None or other is None or not (_of_answer(cause) and _of_answer(finding)):
        return True
    return (one.file, one.exchange) == (other.file, other.exchange)


def withdraw_compared(ledgers: Sequence[Ledger], compared: Mapping[str, ComparedPairs]) -> None:
    """Withdraws what differs between two answers of a recording because one breaks another rule.

    `compared` has by rule the two answers that were compared. A fault of a third one is not why,
    nor is one that explains only part of what differs.
    """
    by_exchange = {each.exchange: each for each in ledgers}
    for rule, pairs in compared.items():
        failing = [each for each in ledgers if each.verdicts.get(rule) is Verdict.FAIL]
        if not failing or rule not in COMPARED:
            continue
        whys = [_why_they_differ(by_exchange, rule, pair) for pair in pairs]
        for ledger in failing if whys and all(whys) else ():
            ledger.withdraw([rule], f"what breaks {whys[0]} may be why", "consequences")


def _why_they_differ(
    ledgers: Mapping[int, Ledger], rule: str, pair: tuple[Contribution, Contribution]
) -> str:
    """The rule that one of both answers breaks, and that explains it; empty where none does."""
    left, right = pair
    sides = (left, left.sides.left, right.sides.right), (right, right.sides.right, left.sides.left)
    for one, own, other in sides:
        ledger = ledgers.get(one.exchange)
        for leader in ledger.rules_with(Verdict.FAIL) if ledger else ():
            if any(_is_leader(leader, of, "") for of in COMPARED[rule]):
                found = [each for each in ledger.findings if each.rule == leader] if ledger else []
                if explains(leader, found, own, other):
                    return leader
    return ""


def withdraw_returned(ledgers: Iterable[Ledger], answers: AbstractSet[int]) -> None:
    """Withdraws what requests send back of these answers: the application has the finding."""
    for ledger in ledgers:
        given: dict[str, set[int]] = {}
        for found in ledger.findings:
            if found.rule.startswith(_RETURNED) and found.upstream is not None:
                given.setdefault(found.rule, set()).add(found.upstream.exchange)
        rules = [rule for rule, of in given.items() if of <= answers]
        ledger.withdraw(rules, f"what breaks {TALK_KEPT.id} may be why", "links")


def withdraw_changed_history(ledger: Ledger, why: str) -> None:
    """Withdraws what an upstream request sends back otherwise: it was compared with another one."""
    rules = [each for each in ledger.rules_with(Verdict.FAIL) if each.startswith(_RETURNED)]
    ledger.withdraw(rules, why, "links")


def withdraw_lost_seals(ledgers: Sequence[Ledger]) -> None:
    """Withdraws what an application lost of sealed data, if its request to the model is blamed.

    A rule on that request says the same of the same event of the model's answer, or the text of
    that answer is lost, too.
    """
    for ledger in ledgers:
        _withdraw_lost_turn(ledger)
    findings = [found for each in ledgers for found in each.findings]
    of_requests = (each for each in findings if each.rule.startswith(_HISTORY) and each.upstream)
    history = {_answer_place(each): each.rule for each in of_requests}
    for ledger in ledgers if history else ():
        for rule in (OPAQUE.id, RETURNED.id):
            places = [_answer_place(found) for found in ledger.findings if found.rule == rule]
            if places and all(each in history for each in places):
                ledger.withdraw(
                    [rule], f"what breaks {history[places[0]]} may be why", "consequences"
                )


def _withdraw_lost_turn(ledger: Ledger) -> None:
    """Of a turn that a request lacks altogether nothing is lost besides."""
    by_rule = {found.rule: found for found in ledger.findings}
    turn, sealed = by_rule.get(TALK_KEPT.id), by_rule.get(OPAQUE.id)
    if turn is None or sealed is None or turn.about.change is not Change.LOST:
        return
    lost, data = _answer_place(turn), _answer_place(sealed)
    if lost is not None and data is not None and lost[:2] == data[:2]:
        ledger.withdraw([OPAQUE.id], f"what breaks {TALK_KEPT.id} may be why", "consequences")


def _answer_place(found: Finding) -> tuple[str, int, int] | None:
    place = found.upstream
    return None if place is None else (place.file, place.exchange, place.event)


def withdraw_unsent_wishes(ledger: Ledger, wish: str) -> None:
    """What a request lacks altogether, by the rule `wish`, is in no form of its API either."""
    if ledger.verdicts.get(wish) is Verdict.FAIL:
        failing = [each for each in ledger.rules_with(Verdict.FAIL) if each.startswith(_WISHES)]
        ledger.withdraw(failing, f"what breaks {wish} may be why", "harness")


def _is_leader(rule: str, leader: str, suite: str) -> bool:
    """Whether a rule is the one that a rule of `suite` may follow from."""
    if leader.startswith("*"):
        return rule.endswith(leader.removeprefix("*"))
    return rule == (leader if "/" in leader else f"{suite}/{leader}")
