from __future__ import annotations

import pytest

from conformance.judging.alterations import alteration
from conformance.judging.groups import finding_groups
from conformance.judging.result import Report, StreamResult
from tests.plain_results import plain_finding

GAVE = "exchange 2 gave 'c2lnbmVk'"
MESSAGES = {
    f"{GAVE}, but messages.1 sends nothing of it back": "lost",
    f"{GAVE}, but input.1, 2 sends 'rs_3' back without it": "lost",
    "content.0.signature of request.item: expected a value, got nothing": "lost",
    "expected the provider's 'signature' data, got it nowhere": "lost",
    f"{GAVE}, but messages.1 sends back 'c2ln' (they differ at text (character 4))": "cut",
    f"{GAVE}, but messages.1 sends back 'c2lnbmVkIQ' (they differ at text (character 8))": "longer",
    f"{GAVE}, but messages.1 sends back 'QUFB' (they differ at text (character 0))": (
        "begins otherwise"
    ),
    f"{GAVE}, but messages.1 sends back 'c2lXXX' (they differ at text (character 3))": "differs",
    "something else": "",
}


@pytest.mark.parametrize(("message", "kind"), MESSAGES.items())
def test_the_ways_to_alter_a_turn(message: str, kind: str) -> None:
    assert alteration(plain_finding(message=message)) == kind


def shown(*messages: tuple[str, str]) -> list[tuple[str, list[str]]]:
    """The groups of findings, each in a stream of its own, with what follows them."""
    found = [plain_finding(rule=rule, message=message, event=0) for rule, message in messages]
    streams = (
        StreamResult("f", n, "openai.chat", "p", True, {each.rule: each.verdict}, (each,))
        for n, each in enumerate(found, 1)
    )
    groups = finding_groups(Report(tuple(streams)))
    return [(each.first.rule, [f.first.rule for f in each.following]) for each in groups]


def test_two_ways_in_two_streams_are_two_groups() -> None:
    lost, _, _, nowhere, cut, *_ = MESSAGES
    beside_calls, later, app = (
        *("history/messages/signed-unchanged", "history/messages/turn-signed"),
        "hop/opaque",
    )
    assert shown((beside_calls, lost), (later, lost)) == [(beside_calls, [later])]
    assert shown((beside_calls, lost), (app, nowhere)) == [(beside_calls, [app])]
    assert shown((beside_calls, lost), (later, cut)) == [(beside_calls, []), (later, [])]
    assert shown((beside_calls, cut), (app, nowhere)) == [(beside_calls, []), (app, [])]


def test_one_refusal_is_one_group_whatever_a_step_expected() -> None:
    why = "got refused: HTTP 400, history is not supported"
    rule = "scenario/ending"
    one, other = f"expected complete, {why}", f"expected complete or tools, {why}"
    assert shown((rule, one), (rule, other)) == [(rule, [])]
    failed = "expected complete, got failed: HTTP 500, content type text/plain"
    assert len(shown((rule, one), (rule, failed))) == 2
    # What came in place of an ending that was due is another fault each time.
    others = (rule, "expected length, got complete"), (rule, "expected refused, got complete")
    assert len(shown(*others)) == 2
