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
from conformance.targets.client.adapter import AdapterAnswer
from conformance.targets.client.client_judge import (
    ClientJudge,
    ClientLedger,
    no_answer,
    skipped_result,
    stream_result,
)
from conformance.targets.client.exchange_replays import CaseTally
from conformance.targets.client.protocol import EXTRACT
from conformance.targets.client.replay_endpoint import ReplayEndpoint

IN_ORDER: Final = "extracts-in-order"
SCENARIO: Final = "extracted"


def judge_extraction(
    endpoint: ReplayEndpoint, judging: ClientJudge, tally: CaseTally
) -> Iterator[StreamResult]:
    """What a client makes of thinking that stands in several places of one message."""
    if EXTRACT not in endpoint.about.ops or "thinking.delta" not in endpoint.about.events:
        return
    if IN_ORDER not in judging.profile.promises:
        made = ClientLedger()
        why = f"the profile says promises.{IN_ORDER} is not promised"
        made.withdraw([harness.IN_ORDER.id], why, "profile")
        yield stream_result(judging, Exchange(number=1, scenario=SCENARIO), made)
        return
    cases = required(judging.dialect.client, judging.dialect.name, "cases of clients")
    for number, whole in enumerate(cases.scattered, 1):
        answered = endpoint.extract_events(judging.dialect.name, whole.message)
        tally.count_case(EXTRACT, judging.dialect.name, answered)
        place = Exchange(number=number, scenario=SCENARIO, role=whole.name)
        if answered.how == "skipped":
            yield skipped_result(judging, place, answered)
        else:
            where = f"{SCENARIO}/{whole.name}/{number}/client"
            yield stream_result(judging, place, _judge_extracted(whole, answered, where))


def _judge_extracted(whole: ScatteredThinking, answered: AdapterAnswer, where: str) -> ClientLedger:
    """Rule 2."""
    if answered.how != "told":
        return no_answer(where, answered)
    made = ClientLedger()
    texts = (
        event.get("text", "") for event in answered.events if event["type"] == "thinking.delta"
    )
    got = "".join(map(str, texts))
    found = harness.client_finding(
        harness.IN_ORDER, where, repr(whole.thinking), repr(got), answered.events
    )
    made.state_harness_rule(harness.IN_ORDER, found if got != whole.thinking else None)
    return made
