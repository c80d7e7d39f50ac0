"""The words in which a broken rule over an answer and the turn that brings it back is reported."""

from __future__ import annotations

from typing import Final

from conformance.evidence.links.assignment import TurnLink
from conformance.evidence.links.gathering import GatheredEnd, LinkedRule
from conformance.evidence.links.kept import AGAIN, MOVED, NAMED, RESUMED
from conformance.evidence.links.prefixes import BEFORE
from conformance.evidence.links.returned import ASKED_TWICE, DOUBLED, MISPLACED, RIVAL
from conformance.rules.about import Change
from conformance.rules.forms.compare import Compare
from conformance.rules.forms.differences import first_difference, view, without_repeats

_OUT_OF_PLACE: Final = {
    DOUBLED: "{where} brings exchange {name} back, and {other} does so once more",
    ASKED_TWICE: "{where} answers a question once, but {other} says it once more before it",
    RIVAL: "{where} and {other} are two answers to one request; only one can go on",
    MISPLACED: "{where} brings exchange {name} back, but {other} stands {side} it",
}


def link_message(
    rule: LinkedRule,
    link: TurnLink,
    given: GatheredEnd,
    back: GatheredEnd,
    *,
    name: str,
    where: str,
) -> tuple[str, Change]:
    """What the rule found; `name` is that of the exchange, `where` the entries of the request."""
    if template := _OUT_OF_PLACE.get(back.type):
        is_after = link.misplaced > max(link.entries, default=-1)
        side, other = "behind" if is_after else "before", view(back.taken.parts[0])
        return template.format(name=name, where=where, other=other, side=side), Change.NONE
    if rule.is_of_own_answer:
        return _restatement(rule.form, given, back, name=name), Change.NONE
    if link.entries:
        return _difference(rule.form, given, back, name=name, where=where)
    return _of_kept_answer(given, back, name=name, where=where), Change.NONE


def _difference(
    form: Compare, given: GatheredEnd, back: GatheredEnd, *, name: str, where: str
) -> tuple[str, Change]:
    gave = f"exchange {name} gave"
    if form.are == "in-order":
        came, stands = (view(without_repeats(each.taken.parts)) for each in (given, back))
        return f"{gave} {came} in this order, but {where} holds {stands}", Change.NONE
    at, had, has, change = first_difference(given.taken.value(), back.taken.value())
    if form.are == "not-both":
        return f"{gave} {had}, but {where} sends {has} back without it", Change.LOST
    if form.are == "lacks":
        both = f"{where} has that as well as the text of the answer"
        return f"{gave} {had}, but {both}", Change.NONE
    if given.type == BEFORE:
        before = f"{has} comes before {where} (at {at})"
        return f"exchange {name} received {had}, but {before}", Change.NONE
    if not back.taken.parts:
        return f"{gave} {had}, but {where} sends nothing of it back", Change.LOST
    return f"{gave} {had}, but {where} sends back {has} (they differ at {at})", change


def _restatement(form: Compare, given: GatheredEnd, back: GatheredEnd, *, name: str) -> str:
    gave, states = given.taken.parts, back.taken.parts
    if form.are == "lacks":
        return f"exchange {name} gave {view(next(e for e in gave if e in states))} before"
    other = next((each for each in states if each not in gave), states)
    return f"exchange {name} gave {view(gave)}, but the answer has {view(other)} of it"


def _of_kept_answer(given: GatheredEnd, back: GatheredEnd, *, name: str, where: str) -> str:
    """What is wrong besides the id of an answer that the server keeps."""
    if back.type == MOVED:
        return f"exchange {name} is of another conversation than the one that the request names"
    if back.type == RESUMED:
        had = view(given.taken.parts[0])
        return f"exchange {name} ended as {had}, but the request continues it"
    if back.type == NAMED:
        return f"exchange {name} was not to be stored, but the request continues it"
    if back.type == AGAIN:
        again = view(back.taken.parts[0])
        return f"the server keeps exchange {name}, but {where} has {again} of it again"
    made, answered = (view(each.taken.parts) for each in (given, back))
    return f"exchange {name} made the calls {made}, but {where} has results for {answered}"
