"""Operators on the calls of a history: one goes back without its result, or a result without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.core.json_values import Path, cut_at, list_at
from conformance.dialects import get
from conformance.dialects.history_calls import PAIRINGS, CallIdPlace, CallPairing
from conformance.editing.edits import request_body
from conformance.editing.operator import Edit, OperatorTable, Sites
from conformance.editing.stream import Stream

SENT_CALLS: Final = OperatorTable()


def _id_holders(stream: Stream, choose: Callable[[CallPairing], CallIdPlace]) -> list[Path]:
    """Where what holds an id of a call, or of a result, is in the request."""
    pairing = PAIRINGS.get(stream.dialect)
    form = get(stream.dialect).request if pairing is not None else None
    if pairing is None or form is None:
        return []
    place, body = choose(pairing), request_body(stream)
    found: list[Path] = []
    for at, entry in enumerate(list_at(body, form.history)):
        holders = list_at(entry, place.within) if place.within else [entry]
        for number, holder in enumerate(holders):
            alone = {place.within: [holder]} if place.within else holder
            if any(True for _ in place.ids(alone, numbered=pairing.is_numbered)):
                inner: Path = (place.within, number) if place.within else ()
                found.append((form.history, at, *inner))
    return found


def _holder_sites(choose: Callable[[CallPairing], CallIdPlace]) -> Sites:
    return lambda stream: list(range(len(_id_holders(stream, choose))))


def _drop_holder(choose: Callable[[CallPairing], CallIdPlace]) -> Edit:
    def edit(stream: Stream, site: int) -> Stream:
        return stream.with_request(cut_at(request_body(stream), _id_holders(stream, choose)[site]))

    return edit


def _call_ids(pairing: CallPairing) -> CallIdPlace:
    return pairing.calls


def _result_ids(pairing: CallPairing) -> CallIdPlace:
    return pairing.results


SENT_CALLS.add("H6-lost-result", "The result of a call is not sent back.")(
    _holder_sites(_result_ids), _drop_holder(_result_ids)
)
SENT_CALLS.add("H6-lost-call", "A call is not sent back, and its result is.")(
    _holder_sites(_call_ids), _drop_holder(_call_ids)
)
