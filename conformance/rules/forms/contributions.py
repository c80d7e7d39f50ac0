"""What exchanges bring to a comparison, and the comparison once all are in."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from conformance.rules.forms.base import Violation
from conformance.rules.forms.compare import BothSides, Compare
from conformance.rules.forms.differences import first_difference
from conformance.rules.forms.gathered_side import Side
from conformance.rules.verdicts import Verdict, combine


class Contribution(Struct, frozen=True):
    """What one exchange, seen in one view, brings to a comparison."""

    exchange: int
    role: str
    hop: str
    view: str
    last: int
    sides: BothSides


ComparedPairs = Sequence[tuple[Contribution, Contribution]]
"""What was compared with what."""


def _side_matches(side: Side, given: Contribution) -> bool:
    wanted = (side.role or given.role, side.hop or given.hop, side.view)
    return wanted == (given.role, given.hop, given.view)


def compare(
    form: Compare, given: Sequence[Contribution]
) -> tuple[Verdict, str, tuple[Violation, ...]]:
    """Verdict, reason and violations over all exchanges of a run."""
    pairs = compared_pairs(form, given)
    if not pairs:
        return Verdict.NOT_APPLICABLE, "no exchange has the role, hop or view it names", ()
    results = [_compared_result(form, *pair) for pair in pairs]
    verdict = combine(each for each, _, _ in results)
    reason = next(why for each, why, _ in results if each is verdict)
    found = tuple(v for each, _, v in results if each is verdict and v is not None)
    return verdict, reason, found


def _compared_result(
    form: Compare, left: Contribution, right: Contribution
) -> tuple[Verdict, str, Violation | None]:
    if error := left.sides.error or right.sides.error:
        return Verdict.ERROR, error, None
    # Two views of one exchange saw the same end, however it came: that is comparable.
    broken = left.sides.inconclusive or right.sides.inconclusive
    if broken and left.exchange != right.exchange:
        return Verdict.INCONCLUSIVE, broken, None
    compared = left.sides.left.parts, right.sides.right.parts
    if not any(compared):
        return Verdict.VACUOUS, "never fired: neither side has anything to compare", None
    is_left_out = form.may_lack and not compared[1]
    violation = None if is_left_out else _first_difference(form, left, right)
    if violation is None and not form.fires_on(*compared):
        # Nothing is less than something, and part of everything.
        return Verdict.VACUOUS, "never fired: one side has nothing to compare", None
    return (Verdict.FAIL if violation else Verdict.PASS), "", violation


def compared_pairs(form: Compare, given: Sequence[Contribution]) -> ComparedPairs:
    """What is compared with what: one answer of each role, or two views of each exchange."""
    lefts = [each for each in given if _side_matches(form.left, each)]
    rights = [each for each in given if _side_matches(form.right, each)]
    if (form.left.role, form.left.hop) != (form.right.role, form.right.hop):
        return list(zip(lefts[:1], rights[:1], strict=False))
    by_exchange = {each.exchange: each for each in rights}
    return [(left, by_exchange[left.exchange]) for left in lefts if left.exchange in by_exchange]


def _first_difference(form: Compare, left: Contribution, right: Contribution) -> Violation | None:
    one, other = left.sides.left.value(), right.sides.right.value()
    if form.holds(one, other):
        return None
    where, had, has, _ = first_difference(one, other)
    relation = form.are.removesuffix("-or-none")
    message = (
        f"{_label(left)} and {_label(right)} are not {relation} at {where}: {had} against {has}"
    )
    return Violation(left.last, {"exchange": left.exchange}, (has,), had, "", message)


def _label(given: Contribution) -> str:
    words = [f"exchange {given.exchange}", given.role, given.hop]
    if given.view == "client":
        words.append("as the client saw it")
    return " ".join(word for word in words if word)
