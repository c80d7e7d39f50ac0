"""Whole messages that hold thinking in several places, with different texts.

Rule 1: which of several places is read is a client's own business, but for one whose profile
promises `extracts-in-order`; most servers mirror one thought, so no recording asks for more.
Rule 2: the order is the dialect's, then that of the blocks as they stand, joined by newlines. The
same text in two places is one thought, told once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.core.events import Exchange
from conformance.dialects import required
from conformance.dialects.client_cases import ScatteredThinking
from conformance.judging import harness
from conformance.judging.result import StreamResult
from conformance.targets.client.adapter import Told
from conformance.targets.client.judging import ClientLedger, Judging, error, result
from conformance.targets.client.protocol import EXTRACT
from conformance.targets.client.station import Station
from conformance.targets.client.visit import Tally

IN_ORDER: Final = "extracts-in-order"
SCENARIO: Final = "extracted"


def extract(station: Station, judging: Judging, tally: Tally) -> Iterator[StreamResult]:
    """What a client makes of thinking that stands in several places of one message."""
    if EXTRACT not in station.about.ops or "thinking.delta" not in station.about.events:
        return
    if IN_ORDER not in judging.profile.promises:
        made = ClientLedger()
        why = f"the profile says promises.{IN_ORDER} is not promised"
        made.withdraw([harness.IN_ORDER.id], why, "profile")
        yield result(judging, Exchange(number=1, scenario=SCENARIO), made)
        return
    cases = required(judging.dialect.client, judging.dialect.name, "cases of clients")
    for number, whole in enumerate(cases.scattered, 1):
        told = station.extract(judging.dialect.name, whole.message)
        tally.count(EXTRACT, judging.dialect.name, told)
        place = Exchange(number=number, scenario=SCENARIO, role=whole.name)
        if told.how == "skipped":
            note = f"not run: the client skips it: {told.why}"
            yield result(judging, place, ClientLedger(), (note,))
        else:
            where = f"{SCENARIO}/{whole.name}/{number}/client"
            yield result(judging, place, _judged(whole, told, where))


def _judged(whole: ScatteredThinking, told: Told, where: str) -> ClientLedger:
    """Rule 2."""
    if told.how != "told":
        return error(where, told)
    made = ClientLedger()
    texts = (event.get("text", "") for event in told.events if event["type"] == "thinking.delta")
    got = "".join(map(str, texts))
    found = harness.client_finding(
        harness.IN_ORDER, where, repr(whole.thinking), repr(got), told.events
    )
    made.state(harness.IN_ORDER, found if got != whole.thinking else None)
    return made
