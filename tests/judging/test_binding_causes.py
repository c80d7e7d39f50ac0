"""A cause binds as much as what follows from it: no MUST is withdrawn for a SHOULD."""

from __future__ import annotations

import pytest

from conformance.judging.consequences import withdraw_followers
from conformance.rules.verdicts import Level, Verdict
from tests.plain_results import failing, plain_finding


@pytest.mark.parametrize(
    ("leader", "follower", "left"),
    [
        (Level.SHOULD, Level.MUST, 2),
        (Level.SHOULD, Level.SHOULD, 1),
        (Level.MUST, Level.MUST, 1),
        (Level.MUST, Level.SHOULD, 1),
    ],
)
@pytest.mark.parametrize("is_earlier", [False, True])
def test_no_must_follows_from_a_should(
    leader: Level, follower: Level, left: int, *, is_earlier: bool
) -> None:
    """A report of MUST alone, and the exit code, would be silent about both."""
    named, asked = "history/responses/named-stored", "history/responses/named-asked"
    ledger = failing()
    ledger.add(
        asked, Verdict.FAIL, findings=[plain_finding(rule=asked, level=follower)], by="links"
    )
    if is_earlier:
        ledger.reported_before[named] = leader
    else:
        cause = plain_finding(rule=named, level=leader)
        ledger.add(named, Verdict.FAIL, findings=[cause], by="links")
    withdraw_followers(ledger, "linked files")
    assert len(ledger.rules_with(Verdict.FAIL)) == left - is_earlier
