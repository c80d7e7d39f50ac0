"""What follows from another fault is no finding of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from conformance.judging.ledger import Ledger
from conformance.judging.result import StreamResult
from conformance.judging.run_rules import ANSWER_SAID
from conformance.judging.view import JudgedView
from conformance.rules.verdicts import Level, Verdict

_OF_CLIENT: Final = "thinking/client/agrees-with-wire"
_UNPLACED: Final = ("carries", "message-identified", "type-known", "tuple", "last-comes")
# Rule -> the ones whose breach may be why; a bare name is that of a rule in the same suite, a name
# behind `*/` that of one in any suite.
_FOLLOWING: Final[Mapping[str, tuple[str, ...]]] = {
    "before-its-turn": ("history/calls/asked",),
    "signed-calls": ("history/calls/asked",),
    "sealed-unchanged": ("sealed-or-left-out",),
    "call-answered": ("output-of-call", "result-of-call", "result-asked"),
    "snapshot-has-calls": ("result-of-call",),
    "input-agrees": ("hop/tools",),
    "output-of-call": ("input-complete",),  # a call that never ends is not known
    "result-after-call": ("call-closed",),
    "sealed-owner": ("span-opened",),
    "turned-off": ("wire/chat/answer-present", "wire/chat/finish-present"),  # no answer came
    "finish-last": ("done-last",),
    "parts-in-step": ("finish-last",),
    "step-finished": ("steps-in-order",),
    # The wire says the same of its own end, whatever comes behind it.
    "before-finish": (
        "*/done-last",
        "*/finish-last",
        "*/silent-after-response",
        "*/silent-after-run",
        "*/step-last",
        "*/turn-last",
        _OF_CLIENT,
    ),
    # What a client reports is not what was sent, so its order and its counts are others, too.
    **dict.fromkeys(
        (
            *("answer-counted", "before-call", "before-delta", "before-text", "delta-not-empty"),
            *("marked-before-text", "said"),
        ),
        (_OF_CLIENT,),
    ),
    # What is lost of a turn, or altered, is none of what other rules compare in it.
    "always-carried": ("signed-unchanged", "signature-present", "turn-signed"),
    "turn-sealed": ("sealed-unchanged", "sealed-or-left-out"),
    "summary-carried": ("sealed-unchanged", "sealed-or-left-out"),
    "turn-signed": ("signed-unchanged", "signature-present", "step-signed"),
    # A part that is lost or comes again changes how many there are.
    "thinking-parts": ("hop/thinking", "*/reasoning-over"),
    "said-once": ("hop/try-replaced", "*/not-doubled", _OF_CLIENT),
    "text-said-once": ("hop/try-replaced",),
    "concise-is-short": ("summary/client/text-agrees",),  # a client says it twice
    "encrypted-streamed": ("wire/responses/item-closed",),
    # A chunk of no message, or of another one, is missing where LangGraph restates the message.
    "state-keeps-thinking": _UNPLACED,
    "state-keeps-text": _UNPLACED,
    "state-keeps-calls": _UNPLACED,
    # Counts that are no counts cannot be right.
    **dict.fromkeys(
        (
            *("thinking-counted", "thoughts-counted", "whole-thinking-counted"),
            *("thinking-count-true", "total-is-sum"),
        ),
        (
            *("usage-details", "usage-present", "counts-are-whole", "counts-stated"),
            *("body-fields", "result-fields", "thinking/stream/answer-counted"),
            *("wire/responses/usage-present", "wire/responses-items/usage-details"),
        ),
    ),
    "usage-details": ("wire/responses/usage-present",),
    "usage-as-streamed": ("*/usage-present", "*/counts-stated", "*/body-fields", "*/body-counted"),
    # What is turned off is counted: one rule of the API says so, too.
    "off-uncounted": ("effort/gemini/nought-means-none", "effort/responses/none-means-none"),
    # Thinking that came as text is counted as thinking, and lost as such.
    "text-counted": ("scenario/thinking", "*/no-markers", "*/no-thinking-body"),
    "thinking-shown": ("scenario/thinking",),
    "tail-kept": ("wire/chat/error-without-success",),
}
# Rule over two answers -> the ones whose breach in either may be why their texts differ.
_COMPARED: Final[Mapping[str, tuple[str, ...]]] = {
    "stripping/opt-in/stream-thinks-as-body": (
        *("scenario/thinking", "thinking/stream/increments"),
        *("*/raw-agrees", "*/result-states-thinking"),
    ),
    "stripping/opt-in/stream-equals-body": (
        *("stripping/visible-text/no-markers", "stripping/visible-text/no-thinking-body"),
        *("thinking/stream/text-increments", "thinking/stream/decoded-once"),
        *("*/text-agrees", "*/result-states-text"),
    ),
}
_SWITCHES: Final = "effort/"  # rules of what is asked of the thinking
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
        if found.level is Level.MUST or found.rule.startswith(_SWITCHES):
            why = f"what breaks {found.rule} may be why"
            ledger.withdraw([ANSWER_SAID], why, "consequences")
            return


def withdraw_followers(ledger: Ledger, by: str) -> None:
    """Withdraws a rule where one that it may follow from fails, too; `by` is the writer's name."""
    fail = Verdict.FAIL  # looked up once for hundreds of rules
    failing = [rule for rule, verdict in ledger.verdicts.items() if verdict is fail]
    for rule in failing:
        suite, _, name = rule.rpartition("/")
        for leader in _FOLLOWING.get(name, ()):
            why = next((each for each in failing if _is_leader(each, leader, suite)), None)
            if why is not None:
                ledger.withdraw([rule], f"what breaks {why} may be why", by)


def withdraw_compared(ledgers: Sequence[Ledger]) -> None:
    """Withdraws what differs between two answers of a recording because one breaks another rule."""
    failing = {rule for each in ledgers for rule in each.rules_with(Verdict.FAIL)}
    for rule in failing.intersection(_COMPARED):
        leaders = _COMPARED[rule]
        why = next((e for e in sorted(failing) for of in leaders if _is_leader(e, of, "")), None)
        for ledger in ledgers if why else ():
            if ledger.verdicts.get(rule) is Verdict.FAIL:
                ledger.withdraw([rule], f"what breaks {why} may be why", "consequences")


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
