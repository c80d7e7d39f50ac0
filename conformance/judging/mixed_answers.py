"""A stream that holds parts of another answer, or one answer twice: one finding says so.

Rule 1: an answer shows as another one by its id, or by a start of its own; one that is given twice
by the second start. Where its id, its model, its time and its number in the stream change in one
frame, the finding is that of the id.
Rule 2: where another answer also begins in the stream, what breaks from there on because two
answers are in one place (their order, their indices, what comes once) follows from that, in the
choices that it begins. What a frame holds, and what is missing, does not.
Rule 3: an end too many shows that, too, if something before it breaks as well. Where each answer is
judged by itself, the first one lacks the end that comes after all; what the pieces of it lack
follows, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from conformance.judging.ledger import Ledger
from conformance.judging.result import Finding


class _Sign(NamedTuple):
    """The rule by which another answer shows, and one that breaks where it begins: in that frame.

    With `later` the first is about the start itself, and the other one breaks after it. `ends`
    break where an end comes too many, or where a piece has no beginning.
    """

    shown_by: str
    begun: tuple[str, ...] = ()
    later: bool = False
    ends: tuple[str, ...] = ()


_SIGNS: Final = (
    _Sign("wire/chat/same-id", ("wire/chat/role-once",), ends=("wire/chat/done-once",)),
    _Sign("wire/responses/response-id", ("wire/responses/created-once",)),
    _Sign(
        "wire/responses/created-once",
        ("wire/responses/item-index-contiguous", "wire/responses/item-index-unused"),
        later=True,
    ),
    _Sign("wire/responses/item-id"),
    _Sign(
        "wire/interactions/same-id",
        ("wire/interactions/created-once", "wire/interactions/created-repeated"),
    ),
    _Sign(
        "wire/messages/start-once",
        ("wire/messages-blocks/index-contiguous", "wire/messages/blocks-before-delta"),
        later=True,
    ),
    _Sign(
        "wire/cohere/start-once",
        ("wire/cohere/index-contiguous", "wire/cohere/end-last"),
        later=True,
    ),
    _Sign("wire/chat/role-once", ("wire/chat/finish-once",), later=True),
    _Sign(
        "wire/interactions/created-once",
        ("wire/interactions-steps/index-contiguous",),
        later=True,
    ),
    _Sign(
        "wire/chat/done-present",
        ends=("wire/chat/done-once", "wire/chat/role-first", "wire/chat/answer-present"),
    ),
    _Sign("wire/messages/stop-present", ends=("wire/messages/stop-once",)),
    _Sign("wire/cohere/end-present", ends=("wire/cohere/end-once",)),
    _Sign("wire/interactions/end-present", ends=("wire/interactions/end-once",)),
    _Sign(
        "wire/responses/terminal-present",
        ends=tuple(
            f"wire/responses/{name}" for name in ("response-id", "item-id", "terminal-once")
        ),
    ),
)
_AT_THE_SAME_EVENT: Final = frozenset({"same-created", "same-model", "sequence-from-zero"})
_OF_ENDS: Final = frozenset(
    {
        *("finish-once", "usage-once", "done-once", "done-last", "stop-once", "stop-last"),
        *("end-once", "end-last", "sentinel-last", "finish-last", "terminal-once"),
        *("terminal-last", "blocks-before-delta", "counts-never-fall", "status-in-time"),
    }
)
_OF_CONTENT: Final = frozenset(
    {
        *("role-once", "start-once", "start-repeated", "created-once", "created-repeated"),
        *("index-contiguous", *_AT_THE_SAME_EVENT),
        *("said-once", "text-said-once"),
        *("before-text", "before-call", "before-finish", "thinking-before-text"),
        *("detail-before-text", "tool-index", "tool-named-once", "tool-typed-once"),
        *("tool-arguments-json", "input-json", "block-lifecycle", "blocks-serial"),
        *("signature-once", "signature-last", "sequence-from-zero", "item-id", "items-serial"),
        *("item-index-contiguous", "item-index-unused", "content-index"),
        *("text-part-lifecycle", "summary-part-lifecycle", "step-lifecycle", "steps-serial"),
        *("raw-part-lifecycle", "raw-agrees", "raw-item-agrees", "text-item-agrees"),
        *("part-index", "part-lifecycle", "text-agrees", "part-agrees", "item-agrees"),
        *("reasoning-before-message", "tool-ids-distinct", "tool-id-unused"),
        *("item-done-last", "output-agrees", "call-ids-distinct", "arguments-done-last"),
        *("arguments-agree", "arguments-item-agree", "arguments-json"),
    }
)
_OF_TWO: Final = _OF_CONTENT | _OF_ENDS
_OF_PIECES: Final = frozenset(
    {
        *("done-present", "finish-present", "answer-present", "role-first", "usage-last"),
        *("empty-choices-last", "finished-calls-there", "same-id", "response-id"),
        *("part-closed", "item-closed"),
    }
)


def withdraw_mixed(ledger: Ledger) -> None:
    """Withdraws what breaks because a stream holds parts of another answer, too."""
    for sign in _SIGNS:
        findings = tuple(ledger.findings)
        lead = next((each for each in findings if each.rule == sign.shown_by), None)
        if lead is not None:
            why = f"what breaks {lead.rule} may be why"
            ledger.withdraw(list(_following(findings, lead, sign)), why, "consequences")


def _following(findings: Sequence[Finding], lead: Finding, sign: _Sign) -> Iterator[str]:
    ends = [each for each in findings if each.rule in sign.ends and each.event > lead.event]
    if sign.begun and not any(_name(each) in _OF_CONTENT for each in findings):
        ends = []
    begun = [*ends, *(each for each in findings if _begins(each, sign, lead))]
    choices = {None, *(each.slice.get("choice", 0) for each in begun)}
    following = _OF_TWO | _OF_PIECES if ends else _OF_TWO
    for rule in dict.fromkeys(each.rule for each in findings if each.rule != lead.rule):
        found = [each for each in findings if each.rule == rule]
        name = _name(found[0])
        if begun and name in following:
            if all(
                _is_later(each, lead, anywhere=bool(ends)) and each.slice.get("choice") in choices
                for each in found
            ):
                yield rule
        elif name in _AT_THE_SAME_EVENT and all(each.event == lead.event for each in found):
            yield rule


def _name(finding: Finding) -> str:
    return finding.rule.rpartition("/")[2]


def _begins(finding: Finding, sign: _Sign, lead: Finding) -> bool:
    is_there = finding.event >= lead.event if sign.later else finding.event == lead.event
    return finding.rule in sign.begun and is_there and not _ends_by_itself(finding, lead)


def _ends_by_itself(finding: Finding, lead: Finding) -> bool:
    """Whether an end is too many in one answer: the first is after the start, or the second in it.

    Servers that write the role into each delta start nothing by it.
    """
    kind, event = finding.about.behind or ("", 0)
    is_again = kind == finding.about.type and finding.event == lead.event
    return _name(finding) in _OF_ENDS and (event >= lead.event or is_again)


def _is_later(finding: Finding, lead: Finding, *, anywhere: bool) -> bool:
    """Whether it comes after the lead: in its answer, or `anywhere` in the stream."""
    is_apart = finding.unit and set(finding.answers).isdisjoint(lead.answers)
    return finding.event >= lead.event and (anywhere or not is_apart)
