"""One cause is one finding: what cannot but follow from another fault is no second one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from conformance import Checker
from conformance.judging.consequences import (
    withdraw_compared,
    withdraw_consequences,
    withdraw_followers,
    withdraw_lost_seals,
    withdraw_unsent_wishes,
)
from conformance.judging.ledger import Ledger
from conformance.judging.result import Finding, ReferencedEvent, StreamResult
from conformance.judging.run_rules import ENDING
from conformance.recordings.check import check_paths
from conformance.rules.forms.compare import BothSides
from conformance.rules.forms.contributions import Contribution
from conformance.rules.forms.gathered_side import GatheredSide, Side
from conformance.rules.verdicts import Level, Verdict
from tests.evidence.two_hops import broken_hops, judged_hops, responses, vercel, vercel_part
from tests.plain_results import failing, plain_finding

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
        (["", THOUGHTS[1]], {"hop/thinking"}),  # begun, and then lost
        ([*THOUGHTS, ""], {"hop/thinking-parts"}),
        # A part that nobody sent is a fault of its own.
        ([THOUGHTS[0], "So ten it is.", ""], {"hop/thinking", "hop/thinking-parts"}),
    ],
)
def test_lost_or_repeated_part_is_one_finding(shown: list[str], broken: set[str]) -> None:
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


@pytest.mark.parametrize(
    ("event", "got", "is_why"), [(1, "cut", True), (7, "cut", False), (1, "complete", False)]
)
def test_an_answer_of_events_without_a_type_is_not_cut(event: int, got: str, is_why: bool) -> None:
    """None of it is read, unless its first event was."""
    ledger = failing()
    for found in (found_at("wire/messages/event-typed", event), found_at(ENDING.id, 11, got)):
        ledger.add(found.rule, Verdict.FAIL, findings=(found,), by="expectations")
    withdraw_consequences(ledger)
    assert (ENDING.id in ledger.rules_with(Verdict.FAIL)) is not is_why


def found_at(rule: str, event: int, got: str = "") -> Finding:
    return plain_finding(rule=rule, event=event, got=got, level=Level.MUST)


@pytest.mark.parametrize(
    ("cause", "is_why"),
    [
        (found_at("wire/agui/span-opened", 3), True),
        (found_at("wire/agui/span-opened", 7), True),
        (found_at("wire/agui/span-opened", 9), False),  # of another message, later
        (found_at("wire/agui/span-opened", 9, "end of stream"), True),
    ],
)
def test_a_cause_comes_first_unless_it_is_what_never_came(cause: Finding, is_why: bool) -> None:
    rule = "wire/agui/sealed-owner"
    ledger = Ledger(StreamResult("", 1, "", "", named=False, verdicts={}, findings=()))
    for found in (found_at(rule, 7), cause):
        ledger.add(found.rule, Verdict.FAIL, findings=[found], by="hops")
    withdraw_followers(ledger, "consequences")
    assert (rule in ledger.rules_with(Verdict.FAIL)) is not is_why


@pytest.mark.parametrize(
    ("suite", "order"),
    [
        ("wire/responses-parts", "text-part-lifecycle"),
        ("wire/responses-parts", "raw-part-lifecycle"),
        ("wire/responses-parts", "refusal-part-lifecycle"),
        ("summary/lifecycle", "part-lifecycle"),
    ],
)
@pytest.mark.parametrize(
    ("got", "event", "part", "is_why"),
    [
        ("end of stream", 9, 0, True),
        ("end of stream", 9, 1, False),  # of another part: this one is closed late
        ("response.content_part.done", 8, 0, False),  # its text was not stated, and it is late
        ("response.content_part.done", 5, 0, False),
    ],
)
def test_a_part_that_is_never_closed_is_one_finding(
    suite: str, order: str, got: str, event: int, part: int, is_why: bool
) -> None:
    ledger = Ledger(StreamResult("", 1, "", "", named=False, verdicts={}, findings=()))
    open_part = plain_finding(rule=f"{suite}/part-closed", event=7, slice={"content_index": 0})
    place = {"content_index": part}
    cause = plain_finding(rule=f"{suite}/{order}", event=event, got=got, slice=place)
    for found in (open_part, cause):
        ledger.add(found.rule, Verdict.FAIL, findings=[found], by="hops")
    withdraw_followers(ledger, "consequences")
    assert {*ledger.rules_with(Verdict.FAIL)} == {cause.rule, *[open_part.rule][is_why:]}


@pytest.mark.parametrize(
    ("due", "came", "is_why"),
    [
        (("failed", "cut"), "complete", True),
        (("failed", "cut"), "length", True),
        (("complete",), "cut", False),  # the wire says more exactly what is missing
        (("length",), "complete", False),
    ],
)
@pytest.mark.parametrize(
    "rule",
    [
        *("wire/chat/usage-when-asked", "wire/chat/finish-present"),
        *("wire/responses/usage-present", "wire/responses-items/usage-details"),
        *("wire/responses/thinking-counted", "wire/messages/delta-present"),
    ],
)
def test_invented_end_has_no_count(
    due: tuple[str, ...], came: str, is_why: bool, rule: str
) -> None:
    ledger = Ledger(StreamResult("", 1, "", "", named=False, verdicts={}, findings=()))
    ending = plain_finding(rule="scenario/ending", event=9, expected=due, got=came)
    for found in (found_at(rule, 8), ending):
        ledger.add(found.rule, Verdict.FAIL, findings=[found], by="hops")
    withdraw_followers(ledger, "consequences")
    assert {*ledger.rules_with(Verdict.FAIL)} == {"scenario/ending", *[rule][is_why:]}


@pytest.mark.parametrize("rule", ["hop/opaque", "hop/opaque-returned"])
@pytest.mark.parametrize(
    ("leader", "event", "is_why"),
    [
        ("history/messages/signed-unchanged", 9, True),
        ("history/messages/signed-unchanged", 12, False),  # of another block
        ("hop/thinking", 9, False),
    ],
)
def test_lost_sealed_data_is_one_finding(rule: str, leader: str, event: int, is_why: bool) -> None:
    ledgers = [failing(exchange=1), failing(exchange=3)]
    for ledger, of, at in ((ledgers[0], rule, 9), (ledgers[1], leader, event)):
        place = ReferencedEvent("a.jsonl", 2, at, None, None, "", "")
        found = plain_finding(rule=of, upstream=place)
        ledger.add(of, Verdict.FAIL, findings=[found], by="hops")
    withdraw_lost_seals(ledgers)
    assert ledgers[0].rules_with(Verdict.FAIL) == ([] if is_why else [rule])
    assert ledgers[1].rules_with(Verdict.FAIL) == [leader]


def test_no_text_is_lost_by_wrong_counts() -> None:
    text = "thinking/answer/said"
    for cause, left in (("wire/chat/total-is-sum", {text}), ("wire/chat/carries", set[str]())):
        ledger = Ledger(StreamResult("", 1, "", "", named=False, verdicts={}, findings=()))
        for found in (found_at(text, 4), found_at(cause, 2)):
            ledger.add(found.rule, Verdict.FAIL, findings=[found], by="hops")
        withdraw_consequences(ledger)
        assert set(ledger.rules_with(Verdict.FAIL)) - {cause} == left


def test_a_wish_that_is_not_sent_at_all_is_one_finding() -> None:
    wish, forms = "harness/next-request", ("effort/chat/sent", "summary/request/auto-beside-effort")
    ledger = failing(wish, *forms)
    withdraw_unsent_wishes(ledger, wish)
    assert ledger.rules_with(Verdict.FAIL) == [wish]
    sent = failing(*forms)
    withdraw_unsent_wishes(sent, wish)
    assert sent.rules_with(Verdict.FAIL) == list(forms)


RAW: Final = "wire/responses-parts/raw-agrees"
THINKS: Final = "stripping/opt-in/stream-thinks-as-body"
MARKED: Final = "stripping/visible-text/no-markers"
SPEAKS: Final = "stripping/opt-in/stream-equals-body"


def compared_answer(number: int, *parts: str) -> Contribution:
    """What one of two answers that are compared says, in these deltas."""
    left, right = (GatheredSide(Side({}, "concat")) for _ in range(2))
    for each in (left, right):
        each.parts.extend(parts)
    return Contribution(number, "", "", "wire", 1, BothSides(left, right))


@pytest.mark.parametrize(
    ("leader", "rule", "stream", "body", "is_why"),
    [
        (RAW, THINKS, ["Two."], ["Two and two."], True),
        ("scenario/thinking", THINKS, [], ["Two."], True),
        ("scenario/thinking", THINKS, ["Two."], ["Two and two."], False),
        (MARKED, SPEAKS, ["<think>Hm.</think>", "Four."], ["Four."], True),
        (MARKED, SPEAKS, ["Four.</think>"], ["Four."], True),
        (MARKED, SPEAKS, ["<think>Hm.</think>", "Four."], ["Fo"], False),
        (
            "thinking/stream/text-increments",
            SPEAKS,
            ["It", "It is", "It is 4."],
            ["It is 4."],
            True,
        ),
        ("thinking/stream/text-increments", SPEAKS, ["It", "It is", "It is 4."], ["It is"], False),
        ("thinking/stream/decoded-once", SPEAKS, ["cafÃ©"], ["café"], True),
        ("thinking/stream/decoded-once", SPEAKS, ["cafÃ©"], ["caf"], False),
        ("stripping/visible-text/no-thinking-body", SPEAKS, ["Hm. ", "Four."], ["Four."], True),
        ("stripping/visible-text/no-thinking-body", SPEAKS, ["Hm. ", "Four."], ["For."], False),
        ("wire/sse/utf8", SPEAKS, ["Four."], ["For."], False),
        # The body lost its text, which no fault of the stream explains.
        (MARKED, SPEAKS, ["<think>Hm.</think>", "Four."], [], False),
        (MARKED, SPEAKS, ["<think>Hm.</think>"], [], True),
        ("stripping/visible-text/no-thinking-body", SPEAKS, ["Hm. ", "Four."], [], False),
    ],
)
def test_two_answers_differ_because_one_of_them_is_broken(
    leader: str, rule: str, stream: list[str], body: list[str], is_why: bool
) -> None:
    pair = compared_answer(1, *stream), compared_answer(2, *body)
    broken, last = (
        failing(each, by="comparisons", exchange=n) for n, each in enumerate((leader, rule), 1)
    )
    withdraw_compared([broken, last], {rule: [pair]})
    assert broken.rules_with(Verdict.FAIL) == [leader]
    assert last.rules_with(Verdict.FAIL) == ([] if is_why else [rule])


def test_a_fault_of_a_third_answer_is_not_why_two_others_differ() -> None:
    pair = compared_answer(1, "<think>Four."), compared_answer(2, "Four.")
    third = failing(MARKED, by="comparisons", exchange=3)
    last = failing(SPEAKS, by="comparisons", exchange=2)
    withdraw_compared([third, last], {SPEAKS: [pair]})
    assert last.rules_with(Verdict.FAIL) == [SPEAKS]


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
    texts = {"stream": ("Two and two.", "4"), "body": (thinking, text)}
    for number, (role, (thought, spoken)) in enumerate(texts.items(), 1):
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
