"""One cause is one finding: what cannot but follow from another fault is no second one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance import Checker
from conformance.judging.consequences import (
    withdraw_compared,
    withdraw_followers,
    withdraw_unsent_wishes,
)
from conformance.judging.ledger import Ledger
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from conformance.targets.client.client_judge import ClientLedger
from tests.evidence.two_hops import broken_hops, judged_hops, responses, vercel, vercel_part

THOUGHTS = ["Ferries wait for the tide.", "So nine it is."]
TEXT = "The ferry leaves at nine."
BEFORE_FINISH = "thinking/stream/before-finish"


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


LATE = (
    {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
    {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"},
    {"type": "REASONING_START", "messageId": "m"},
    {"type": "REASONING_MESSAGE_START", "messageId": "m", "role": "reasoning"},
    {"type": "REASONING_MESSAGE_CONTENT", "messageId": "m", "delta": "Too late."},
    {"type": "REASONING_MESSAGE_END", "messageId": "m"},
    {"type": "REASONING_END", "messageId": "m"},
)


def failing(*rules: str, by: str = "harness") -> Ledger:
    """A ledger in which these rules were broken."""
    ledger = ClientLedger()
    for rule in rules:
        ledger.add(rule, Verdict.FAIL, by=by)
    return ledger


@pytest.mark.parametrize(
    ("leader", "follower"),
    [
        ("history/messages/signed-unchanged", "history/messages/turn-signed"),
        ("history/messages/signature-present", "history/messages/always-carried"),
        ("history/gemini/step-signed", "history/gemini/turn-signed"),
        ("history/responses/sealed-unchanged", "history/responses/turn-sealed"),
        ("history/responses/sealed-or-left-out", "history/responses/summary-carried"),
        ("thinking/client/agrees-with-wire", "thinking/stream/before-call"),
        ("thinking/client/agrees-with-wire", "thinking/start/before-delta"),
    ],
)
def test_what_follows_from_another_fault_is_withdrawn(leader: str, follower: str) -> None:
    ledger = failing(follower, leader)
    withdraw_followers(ledger, "harness")
    assert ledger.rules_with(Verdict.FAIL) == [leader]
    alone = failing(follower)
    withdraw_followers(alone, "harness")
    assert alone.rules_with(Verdict.FAIL) == [follower]


def test_a_wish_that_is_not_sent_at_all_is_one_finding() -> None:
    wish, forms = "harness/next-request", ("effort/chat/sent", "summary/request/auto-beside-effort")
    ledger = failing(wish, *forms)
    withdraw_unsent_wishes(ledger, wish)
    assert ledger.rules_with(Verdict.FAIL) == [wish]
    sent = failing(*forms)
    withdraw_unsent_wishes(sent, wish)
    assert sent.rules_with(Verdict.FAIL) == list(forms)


@pytest.mark.parametrize(
    ("leader", "follower"),
    [
        ("wire/responses-parts/raw-agrees", "stripping/opt-in/stream-thinks-as-body"),
        ("stripping/visible-text/no-markers", "stripping/opt-in/stream-equals-body"),
    ],
)
def test_two_answers_differ_because_one_of_them_is_broken(leader: str, follower: str) -> None:
    broken, compared = (failing(rule, by="comparisons") for rule in (leader, follower))
    withdraw_compared([broken, compared])
    assert broken.rules_with(Verdict.FAIL) == [leader]
    assert compared.rules_with(Verdict.FAIL) == []
    sound, alone = (failing(rule, by="comparisons") for rule in ("wire/sse/utf8", follower))
    withdraw_compared([sound, alone])
    assert alone.rules_with(Verdict.FAIL) == [follower]


def test_a_held_checker_reports_a_cause_once_as_check_does(tmp_path: Path) -> None:
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in LATE).encode()
    path = tmp_path / "late.sse"
    path.write_bytes(body)
    checker = Checker("agui")
    passing = checker.stream()
    passing.feed(body)
    whole = check_paths([path], dialect="agui")
    results = (checker.check([body]), passing.close(), whole.streams[0])
    for result in results:
        broken = {finding.rule for finding in result.findings}
        assert "wire/agui/silent-after-run" in broken
        assert BEFORE_FINISH not in broken
        assert result.verdicts[BEFORE_FINISH] is Verdict.NOT_APPLICABLE


SHOWN = {"ends": ["complete"], "thinking": True}


@pytest.mark.parametrize(
    ("thinking", "text", "broken"),
    [
        ("Two and two.", "4", set[str]()),
        ("", "4", {"scenario/thinking"}),
        ("Two.", "4", {"stripping/opt-in/stream-thinks-as-body"}),
        ("", "Four", {"scenario/thinking", "stripping/opt-in/stream-equals-body"}),
    ],
)
def test_what_differs_because_one_of_two_answers_is_broken_is_no_second_finding(
    thinking: str, text: str, broken: set[str], tmp_path: Path
) -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": False}
    lines: list[dict[str, Any]] = [
        {
            "cassette": "1.0",
            "dialect": "openai.chat",
            "profile": "strict",
            "run": {"target": "server", "steps": {"stream": SHOWN, "body": SHOWN}},
        }
    ]
    said = {"stream": ("Two and two.", "4"), "body": (thinking, text)}
    for number, (role, (thought, spoken)) in enumerate(said.items(), 1):
        message = {"role": "assistant", "content": spoken, "reasoning_content": thought}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        head = {"id": f"c{number}", "object": "chat.completion", "created": 1, "model": "m"}
        lines += [
            {
                "exchange": number,
                "request": {"method": "POST", "path": "/v1/chat/completions", "json": asked},
                "scenario": "think",
                "role": role,
            },
            {"response": {"status": 200, "headers": [["content-type", "application/json"]]}},
            {"text": json.dumps({**head, "choices": [choice]})},
            {"end": "eof"},
        ]
    path = tmp_path / "own.cassette.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    report = check_paths([path], trust=[path])
    assert report.errors == ()
    assert {each.rule for each in report.findings} == broken
