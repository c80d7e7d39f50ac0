"""A broken answer that comes back is one finding; what a request breaks itself is its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from conformance.cassette import Cassette, Header, Recording
from conformance.core.events import Exchange, Request
from conformance.evidence.returned_answers import withdraw_returned
from conformance.judging.ledger import Ledger
from conformance.judging.result import StreamResult
from conformance.rules.verdicts import Verdict
from tests.plain_results import plain_finding

FILLED: Final = "wire/messages-blocks/signature-filled"
PRESENT: Final = "history/messages/signature-present"
TURN: Final = {"role": "assistant", "content": [{"type": "thinking", "thinking": "2 and 2"}]}
ASK: Final = {"role": "user", "content": "Twice that?"}


def exchange(number: int, hop: str, role: str, *entries: Any, after: int | None = None) -> Exchange:
    asked = Request("POST", "/v1/messages", (), json={"messages": list(entries)})
    return replace(
        Exchange(number, asked, None, (), "eof", dialect="anthropic.messages"),
        hop=hop,
        role=role,
        scenario="gateway-turns",
        after=after,
    )


def ledger(number: int, *rules: str, **fields: Any) -> Ledger:
    made = Ledger(StreamResult("", number, "", "", named=False, verdicts={}, findings=()))
    for rule in rules:
        made.add(rule, Verdict.FAIL, findings=[plain_finding(rule=rule, **fields)], by="hops")
    return made


def recorded(*exchanges: Exchange) -> Recording:
    return Recording(Path("a.jsonl"), "cassette", Cassette(Header(), exchanges))


@pytest.mark.parametrize(
    ("before", "passed", "is_why"),
    [
        (FILLED, (TURN, ASK), True),
        ("scenario/hop-opaque", (TURN, ASK), True),
        ("wire/messages/role-once", (TURN, ASK), False),  # of another matter
        ("scenario/hop-text", (TURN, ASK), False),
        (FILLED, ({**TURN, "content": []}, ASK), False),  # the gateway altered it, too
    ],
)
def test_passed_history_is_not_blamed(before: str, passed: tuple[Any, ...], is_why: bool) -> None:
    recording = recorded(
        exchange(1, "downstream", "first", ASK),
        exchange(2, "downstream", "second", TURN, ASK, after=1),
        exchange(3, "upstream", "second", *passed),
    )
    ledgers = [ledger(1, before), ledger(2), ledger(3, PRESENT, event=0)]
    withdraw_returned(ledgers, recording)
    assert ledgers[2].rules_with(Verdict.FAIL) == ([] if is_why else [PRESENT])
    assert ledgers[0].rules_with(Verdict.FAIL) == [before]


@pytest.mark.parametrize(
    ("before", "text", "is_why"),
    [
        (FILLED, "Invalid `signature` in `thinking` block", True),
        (FILLED, "history is not supported", False),
        ("wire/messages/role-once", "Invalid `signature` in `thinking` block", False),
    ],
)
def test_refusal_follows_from_a_broken_signature(before: str, text: str, is_why: bool) -> None:
    recording = recorded(
        exchange(1, "", "first", ASK), exchange(2, "", "second", TURN, ASK, after=1)
    )
    message = f"expected complete, got refused: HTTP 400, {text}"
    ledgers = [ledger(1, before), ledger(2, "scenario/ending", got="refused", message=message)]
    withdraw_returned(ledgers, recording)
    assert ledgers[1].rules_with(Verdict.FAIL) == ([] if is_why else ["scenario/ending"])
