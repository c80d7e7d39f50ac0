"""One cause is one finding: what cannot but follow from another fault is no second one."""

from __future__ import annotations

import pytest

from conformance.rules.verdicts import Verdict
from tests.evidence.two_hops import broken_hops, judged_hops, responses, vercel, vercel_part

THOUGHTS = ["Ferries wait for the tide.", "So nine it is."]
TEXT = "The ferry leaves at nine."


@pytest.mark.parametrize(
    ("shown", "broken"),
    [
        (THOUGHTS, set[str]()),
        (THOUGHTS[:1], {"hop/thinking"}),
        ([*THOUGHTS, THOUGHTS[0]], {"hop/thinking"}),
        ([THOUGHTS[0], "So nine", " it is."], {"hop/thinking-parts"}),
    ],
)
def test_a_part_that_is_lost_or_comes_again_is_one_finding(
    shown: list[str], broken: set[str]
) -> None:
    parts = [
        {**event, "id": str(number)}
        for number, text in enumerate(shown)
        for event in vercel_part("reasoning", text)
    ]
    found = judged_hops(vercel(*parts, *vercel_part("text", TEXT)), responses(THOUGHTS, TEXT))
    assert broken_hops(found) == broken
    if broken == {"hop/thinking"}:
        assert found.verdicts["hop/thinking-parts"] is not Verdict.PASS
        assert "hop/thinking" in found.reasons["hop/thinking-parts"]
