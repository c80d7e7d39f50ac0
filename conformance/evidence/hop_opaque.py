"""What becomes of data that is never displayed: signatures, and thinking that is sealed.

Rule 1: it is kept if the interface gets it, in any place, or if a later request to the provider has
        it. Of several values of one block the last one counts.
Rule 2: a protocol without a place for it is judged by later requests alone. If these continue
        answers that the provider keeps, the data need not be sent back.
Rule 3: an application that keeps its history itself sends the data back with its next request. If
        there is no next request, the data of the last answer cannot be judged. An application keeps
        its history if its request to the model holds data of an earlier answer, and the user's
        request does not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from conformance.core.events import Request
from conformance.dialects.history_calls import goes_on_from_kept
from conformance.evidence.hop_sides import (
    TELLING,
    ApplicationHops,
    Compared,
    HopDifference,
    ReadAnswer,
)
from conformance.evidence.side_content import OpaqueValue, read_content
from conformance.judging import hop_rules as rules
from conformance.rules.about import Change

NO_LATER_CALL: Final = (
    "the application keeps its history itself, and no later request shows whether this is kept"
)
"""Why nothing is known of what the last answer sealed."""
SHOWN_ELSEWHERE: Final = (
    "the recording says that another scenario shows what the application does with this, and no"
    " later request does here"
)
"""The same, where a run knows more than the one recording."""


_CALL_LOST: Final = f"what breaks {rules.TALK_KEPT.id} may be why"
"""Where an entry of the history is lost as a whole."""


def brings_back(
    first: Request | None, request: Request | None, earlier: Iterable[ReadAnswer]
) -> bool:
    """Whether a request has what an earlier answer sealed, and what the user asked has not."""
    if first is None or first.json is None or request is None or request.json is None:
        return False
    given, sent = (json.dumps(each.json, ensure_ascii=False) for each in (first, request))
    sealed = (value.data for each in earlier for value in read_content([each.transcript]).opaque)
    return any(len(each) >= TELLING and each in sent and each not in given for each in sealed)


def opaque_kept(hops: ApplicationHops) -> Compared:
    """Every value is kept in the interface, or by the application for the model."""
    lost = _lost_values(hops)
    if isinstance(lost, str):
        return lost
    if not lost:
        return lost is not None
    # The kind is a value: who has no place for such data loses all kinds of it.
    message = f"expected the provider's {lost[0].kind!r} data, got it nowhere"
    return HopDifference(message, lost[0].place, hops.sent.last, Change.LOST)


def _lost_values(hops: ApplicationHops) -> list[OpaqueValue] | str | None:
    """The values kept nowhere, or why that is unknown; None if there was nothing to keep."""
    if hops.hides or not hops.are_whole:
        return None
    values = [each for each in _last_values(hops.made.opaque) if each.data]
    if values and hops.has_no_place:
        return f"this release of {hops.shown.dialect.name} {rules.NO_PLACE}"
    if values and not hops.shown.dialect.carries_opaque and not hops.later:
        why = "no later request shows whether they are kept"
        return f"{hops.shown.dialect.name} {rules.NO_PLACE}, and {why}"
    if values and _continues_stored_answers(hops):
        return "the provider keeps what it sealed"
    kept = list(_kept_strings(hops)) if values else []
    lost = [each for each in values if not any(each.data in text for text in kept)]
    return (_owed(hops, lost) if lost else lost) if values else None


def _owed(hops: ApplicationHops, lost: list[OpaqueValue]) -> list[OpaqueValue] | str:
    """Of the values that are lost those that have no other cause, or why nothing is known."""
    if not (lost := [each for each in lost if not _is_of_lost_call(hops, each)]):
        return _CALL_LOST
    why = "" if hops.later else hops.keeps_history()
    return lost if not why else [each for each in lost if _goes_back_within(hops, each)] or why


def _goes_back_within(hops: ApplicationHops, value: OpaqueValue) -> bool:
    """Whether a later call of the same turn has to bring a value back."""
    answer = value.owner[0]
    return answer < len(hops.calls) - 1 and bool(hops.calls[answer].transcript.own_tools)


def _continues_stored_answers(hops: ApplicationHops) -> bool:
    """Whether a later request continues from answers that the provider keeps."""
    first, *others = hops.calls
    later = (*(each.exchange.request for each in others), *hops.later)
    bodies = (request.json for request in later if request is not None)
    return any(goes_on_from_kept(first.exchange.dialect or "", body) for body in bodies)


def opaque_returned(hops: ApplicationHops) -> Compared:
    """The opaque data that came before a tool call is in the request with the call's result.

    Data that is kept nowhere has its own rule.
    """
    lost = _lost_values(hops)
    nowhere = [] if lost is None or isinstance(lost, str) else lost
    found = is_reported = False
    for number, (answer, later) in enumerate(pairwise(hops.calls)):
        request = later.exchange.request
        if request is None or request.json is None or not answer.transcript.own_tools:
            continue
        if number in hops.tries or goes_on_from_kept(later.exchange.dialect or "", request.json):
            continue
        text = json.dumps(request.json, ensure_ascii=False)
        if hops.is_played and _lacks_calls(answer, text):
            continue
        for value in _last_values([e for e in hops.made.opaque if e.owner[0] == number]):
            if value in nowhere:
                is_reported = True
                continue
            found = True
            if value.data and value.data not in text:
                message = f"expected the {value.kind!r} data in the next request, got it nowhere"
                return HopDifference(message, value.place, hops.sent.last, Change.LOST)
    why = f"{rules.OPAQUE.id} reports what is kept nowhere"
    return found or (is_reported and why)


def _is_of_lost_call(hops: ApplicationHops, value: OpaqueValue) -> bool:
    """Whether the next call of the turn lacks all that the answer said which sealed a value."""
    number = value.owner[0]
    following = hops.calls[number + 1 : number + 2] if hops.is_played else ()
    requests = [each.exchange.request for each in following]
    bodies = [each.json for each in requests if each is not None and each.json is not None]
    shown = [json.dumps(body, ensure_ascii=False) for body in bodies]
    return any(_lacks_calls(hops.calls[number], text) for text in shown)


def _lacks_calls(answer: ReadAnswer, text: str) -> bool:
    ids = [str(call.get("id") or "") for call in answer.transcript.own_tools]
    return all(ids) and not any(each in text for each in ids)


def _last_values(values: Sequence[OpaqueValue]) -> Iterator[OpaqueValue]:
    yield from {(each.owner, each.kind): each for each in values}.values()


def _kept_strings(hops: ApplicationHops) -> Iterator[str]:
    yield from (each.data for each in hops.sent.opaque)
    for pieces in hops.strings.values():
        yield from (piece for _, piece in pieces)
    for request in (*(answer.exchange.request for answer in hops.calls), *hops.later):
        if request is not None and request.json is not None:
            yield json.dumps(request.json, ensure_ascii=False)
