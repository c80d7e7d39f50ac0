"""A message of the phase commentary is said on the way: more thinking may come after it."""

from __future__ import annotations

import pytest

import conformance
from conformance.rules.verdicts import Verdict
from tests.authoring.pieces import encoded
from tests.authoring.responses import Answer, Item, message, stream, summarised

ORDER = ("thinking/stream/before-text", "wire/responses/reasoning-before-message")


@pytest.mark.parametrize(
    ("phase", "verdict"), [("commentary", Verdict.PASS), ("final_answer", Verdict.FAIL)]
)
def test_thinking_comes_after_a_commentary_only(phase: str, verdict: Verdict) -> None:
    said = message(Item(1, "msg_02"), "Let me look that up.")
    for event in said:
        if "item" in event:
            event["item"]["phase"] = phase
    items = [
        *summarised(Item(0, "rs_01"), ["A search is needed."]),
        *said,
        *summarised(Item(2, "rs_03"), ["It was found."]),
        *message(Item(3, "msg_04"), "It rains."),
    ]
    events = Answer("resp_00", "think-1", {}).completed(items, (20, 40, 22))

    report = conformance.Checker("openai.responses").check(map(encoded, stream(events)))

    assert {report.verdicts[rule] for rule in ORDER} == {verdict}
