"""A stream that holds parts of another answer: one finding says so, and others follow from it.

Rule 1: an answer shows as another one by its id, or by a start of its own. Where its id, its model
and its time change in one frame, the id is told.
Rule 2: where another answer also begins in the stream, what breaks from there on because two
answers stand in one place (their order, their indices, what comes once) follows from that, in the
choices that it begins. What a frame holds, and what is missing, does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from conformance.judging.ledger import Ledger
from conformance.judging.result import Finding


class _Sign(NamedTuple):
    """The rule that tells of another answer, and one that breaks where it begins: in that frame.

    With `later` the start is told, and what it begins comes behind it.
    """

    told: str
    begun: str
    later: bool = False


_SIGNS: Final = (
    _Sign("wire/chat/same-id", "wire/chat/role-once"),
    _Sign("wire/responses/response-id", "wire/responses/created-once"),
    _Sign("wire/interactions/same-id", "wire/interactions/created-once"),
    _Sign("wire/messages/start-once", "wire/messages-blocks/index-contiguous", later=True),
    _Sign("wire/cohere/start-once", "wire/cohere/index-contiguous", later=True),
)
_NAMED_BESIDE: Final = frozenset({"same-created", "same-model"})
_OF_TWO: Final = frozenset(
    {
        *("role-once", "start-once", "created-once", "index-contiguous", *_NAMED_BESIDE),
        *("finish-once", "usage-once", "done-once", "done-last", "stop-once", "stop-last"),
        *("end-once", "sentinel-last", "finish-last", "said-once", "text-said-once"),
        *("before-text", "before-call", "before-finish", "thinking-before-text"),
        *("detail-before-text", "tool-index", "tool-named-once", "tool-typed-once"),
        *("tool-arguments-json", "input-json", "block-lifecycle", "blocks-serial"),
        *("signature-once", "signature-last", "sequence-from-zero", "item-id", "items-serial"),
        *("item-index-contiguous", "item-index-unused", "content-index"),
        *("text-part-lifecycle", "summary-part-lifecycle", "step-lifecycle", "steps-serial"),
    }
)


def withdraw_mixed(ledger: Ledger) -> None:
    """Withdraws what breaks because a stream holds parts of another answer, too."""
    findings = tuple(ledger.findings)
    for sign in _SIGNS:
        told = next((each for each in findings if each.rule == sign.told), None)
        if told is not None:
            why = f"what breaks {told.rule} may be why"
            ledger.withdraw(list(_following(findings, told, sign)), why, "consequences")


def _following(findings: Sequence[Finding], told: Finding, sign: _Sign) -> Iterator[str]:
    begun = [each for each in findings if _begins(each, sign, told)]
    choices = {None, *(each.slice.get("choice", 0) for each in begun)}
    for rule in dict.fromkeys(each.rule for each in findings if each.rule != told.rule):
        name = rule.rpartition("/")[2]
        found = [each for each in findings if each.rule == rule]
        if begun and name in _OF_TWO:
            if all(
                _is_behind(each, told) and each.slice.get("choice") in choices for each in found
            ):
                yield rule
        elif name in _NAMED_BESIDE and all(each.event == told.event for each in found):
            yield rule


def _begins(finding: Finding, sign: _Sign, told: Finding) -> bool:
    is_there = finding.event >= told.event if sign.later else finding.event == told.event
    return finding.rule == sign.begun and is_there


def _is_behind(finding: Finding, told: Finding) -> bool:
    is_apart = finding.unit and set(finding.answers).isdisjoint(told.answers)
    return finding.event >= told.event and not is_apart
