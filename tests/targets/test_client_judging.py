"""What a client reported, judged: nothing planted is missed, nothing right is blamed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.cassette import Cassette, Header, open_recording, write
from conformance.core import shipped
from conformance.core.events import SEMANTIC_EVENTS, Chunk, Exchange
from conformance.dialects import get
from conformance.judging.client_calls import calls_as_sent
from conformance.recordings.check import check_paths
from conformance.recordings.choices import CheckChoices, choose_profile
from conformance.rules.verdicts import Verdict
from conformance.targets.client.adapter import AdapterAnswer
from conformance.targets.client.client_judge import ClientJudge, ClientLedger
from conformance.targets.client.late_calls import sent_late
from conformance.targets.client.protocol import ClientImplementation, event_fields
from conformance.targets.client.variation import VariationKind
from tests.authoring.pieces import encoded
from tests.authoring.responses import stream, thinking_again
from tests.rulebooks import rulebook

AGREES = "thinking/client/agrees-with-wire"
ENDING = "harness/ending"
CHAT = "openai.chat/deepseek/thinking-then-text"
TOOLS = "openai.chat/deepseek/tool-round"
RESPONSES = "openai.responses/openai/summary-four-parts"
MESSAGES = "anthropic.messages/anthropic/thinking-then-tools"
CALLED = "openai.responses/client/summary-then-call"
REFUSAL = "openai.responses/openai/refusal"
REPEATED = "openai.chat/openrouter/talk"
Event = Mapping[str, Any]


def judging(
    name: str, *, silent: tuple[str, ...] = (), features: tuple[str, ...] = ()
) -> tuple[ClientJudge, Exchange]:
    recording = open_recording(shipped.cassettes() / f"{name}.cassette.jsonl")
    dialect = get(str(recording.header.dialect))
    profile, _ = choose_profile(dialect, CheckChoices(), recording.header.profile)
    events = frozenset(SEMANTIC_EVENTS) - set(silent)
    about = ClientImplementation(
        *("c", "python", "1", (dialect.name,), frozenset({"stream"}), events, frozenset(features))
    )
    return ClientJudge(rulebook(), profile, about, name, named=True), recording.exchanges[0]


def events_of(judge: ClientJudge, exchange: Exchange) -> tuple[Event, ...]:
    events = judge.read_sent(exchange).client_events
    return tuple(event for event in events if event["type"] in judge.about.events)


def judged(
    judge: ClientJudge, exchange: Exchange, answered: AdapterAnswer, kind: VariationKind
) -> ClientLedger:
    return judge.judge_stream(judge.read_sent(exchange), answered, kind)


def completed(
    judge: ClientJudge, exchange: Exchange, events: Iterable[Mapping[str, Any]]
) -> ClientLedger:
    return judge.judge_stream(
        judge.read_sent(exchange), AdapterAnswer("completed", tuple(events)), "same"
    )


def failing(made: ClientLedger) -> set[str]:
    assert {found.rule for found in made.findings} == {
        rule for rule, verdict in made.verdicts.items() if verdict is Verdict.FAIL
    }
    return {found.rule for found in made.findings}


@pytest.mark.parametrize("name", [CHAT, TOOLS, REFUSAL])
def test_a_client_that_tells_everything_breaks_nothing(name: str) -> None:
    judge, exchange = judging(name)
    made = completed(judge, exchange, events_of(judge, exchange))
    assert failing(made) == set()
    assert made.verdicts[AGREES] is made.verdicts[ENDING] is Verdict.PASS


@pytest.mark.parametrize("how", ["failed", "cut"])
def test_a_whole_answer_reported_as_broken_is_found(how: Any) -> None:
    judge, exchange = judging(CHAT)
    made = judge.judge_stream(
        judge.read_sent(exchange), AdapterAnswer(how, events_of(judge, exchange)), "same"
    )
    assert failing(made) == {ENDING}


def test_a_cut_reported_as_complete_is_found() -> None:
    judge, exchange = judging(CHAT, silent=("cut", "done", "error"))
    cut = replace(exchange, chunks=exchange.chunks[:5], end="protocol-error")
    report = AdapterAnswer("completed", events_of(judge, cut))
    assert failing(judged(judge, cut, report, "cut")) == {ENDING}
    assert failing(judged(judge, cut, replace(report, how="failed"), "cut")) == set()


def test_after_a_reset_only_the_ending_is_judged() -> None:
    judge, exchange = judging(CHAT)
    cut = replace(exchange, chunks=exchange.chunks[:5], end="protocol-error")
    assert failing(judged(judge, cut, AdapterAnswer("failed"), "reset")) == set()
    assert failing(judged(judge, cut, AdapterAnswer("completed"), "reset")) == {ENDING}


@pytest.mark.parametrize("how", ["failed", "cut"])
@pytest.mark.parametrize("name", [CHAT, TOOLS, RESPONSES, MESSAGES])
def test_what_breaks_off_need_not_be_reported_to_its_end(name: str, how: Any) -> None:
    """Of every cut: neither what a client opened nor the finish has to be closed or report."""
    judge, exchange = judging(name, silent=("cut", "done", "error"))
    for count in range(len(exchange.chunks) + 1):
        cut = replace(exchange, chunks=exchange.chunks[:count], end="protocol-error")
        report = events_of(judge, cut)
        parts = ("finish", "usage", "thinking.end", "text.end", "message.end", "tool.end")
        less = tuple(event for event in report if event["type"] not in parts)
        for events in (report, less):
            assert failing(judged(judge, cut, AdapterAnswer(how, events), "cut")) == set(), count
        if any(event["type"] == "thinking.delta" for event in report):
            rest = tuple(event for event in less if event["type"] != "thinking.delta")
            assert AGREES in failing(judged(judge, cut, AdapterAnswer(how, rest), "cut"))


def test_a_saved_report_of_what_broke_off_may_end_open(tmp_path: Path) -> None:
    _, exchange = judging(CHAT)
    chunks = exchange.chunks[:5]
    seen = (
        {"type": "thinking.start", "block": 0},
        {"type": "thinking.delta", "text": "x", "block": 0},
    )
    verdicts = {}
    for end in ("eof", "protocol-error"):
        path = tmp_path / f"{end}.cassette.jsonl"
        saved = replace(exchange, chunks=chunks, end=end, seen=seen)
        write(path, Cassette(Header(dialect="openai.chat", profile="deepseek"), (saved,)))
        verdicts[end] = check_paths([path]).verdicts["thinking/start/ended"]
    assert verdicts == {"eof": Verdict.FAIL, "protocol-error": Verdict.INCONCLUSIVE}


def test_what_ends_well_is_reported_to_its_end() -> None:
    judge, exchange = judging(CHAT)
    for kind in ("finish", "thinking.end"):
        report = [event for event in events_of(judge, exchange) if event["type"] != kind]
        assert failing(completed(judge, exchange, report))


HOSTED = "anthropic.messages/anthropic/interleaved-thinking"


def test_a_call_of_the_server_s_own_may_be_reported_or_not() -> None:
    judge, exchange = judging(HOSTED)
    report = events_of(judge, exchange)
    kept = [event for event in report if not event.get("hosted")]
    assert len(kept) < len(report)
    assert failing(completed(judge, exchange, report)) == set()
    assert failing(completed(judge, exchange, kept)) == set()
    plain = [{k: v for k, v in event.items() if k != "hosted"} for event in report]
    assert failing(completed(judge, exchange, plain)) == set()
    late = [*kept, *(event for event in plain if event not in kept)]
    assert AGREES not in failing(completed(judge, exchange, late))
    wrong = [{**e, "arguments": "{}"} if e["type"] == "tool.end" else e for e in report]
    assert AGREES in failing(completed(judge, exchange, wrong))


def test_where_nothing_ends_a_call_it_may_be_reported_as_soon_as_it_is_there() -> None:
    judge, exchange = judging("openai.chat/permits/permits-text-between-tools")
    report = list(events_of(judge, exchange))
    calls = [event for event in report if event["type"] == "tool.end"]
    rest = [event for event in report if event["type"] != "tool.end"]
    at = next(n for n, event in enumerate(rest) if event["type"] == "text.delta")
    assert AGREES not in failing(
        completed(judge, exchange, [*rest[: at + 1], *calls, *rest[at + 1 :]])
    )
    assert AGREES in failing(completed(judge, exchange, [*rest[:at], *calls[:1], *rest[at:]]))
    judge, exchange = judging(MESSAGES)
    report = list(events_of(judge, exchange))
    calls = [event for event in report if event["type"] == "tool.end"]
    rest = [event for event in report if event["type"] != "tool.end"]
    assert AGREES in failing(completed(judge, exchange, [*calls, *rest]))


@pytest.mark.parametrize("name", [MESSAGES, CALLED])
def test_a_client_may_tell_calls_when_the_answer_is_whole(name: str) -> None:
    judge, exchange = judging(name, features=("calls-at-end",))
    report = list(events_of(judge, exchange))
    calls = [event for event in report if event["type"] == "tool.end"]
    rest = [event for event in report if event["type"] != "tool.end"]
    assert calls
    for order in (report, [*rest, *calls], [*rest[:1], *calls, *rest[1:]]):
        assert AGREES not in failing(completed(judge, exchange, order))
    assert AGREES in failing(completed(judge, exchange, [*rest, *calls[1:]]))


@pytest.mark.parametrize("normalises", [True, False])
def test_a_client_that_says_so_may_tell_calls_for_a_stop(*, normalises: bool) -> None:
    judge, exchange = judging("gemini.generate/gemini/thinking-then-tools")
    judge.about = replace(judge.about, normalises_finish=normalises)
    report = events_of(judge, exchange)
    assert [event["reason"] for event in report if event["type"] == "finish"] == ["stop"]
    called = [{**e, "reason": "tool_calls"} if e["type"] == "finish" else e for e in report]
    assert (AGREES in failing(completed(judge, exchange, called))) is not normalises
    other = [{**e, "reason": "length"} if e["type"] == "finish" else e for e in report]
    assert AGREES in failing(completed(judge, exchange, other))


def test_a_call_reported_late_stands_in_the_frame_of_the_finish() -> None:
    judge, exchange = judging(MESSAGES)
    sent = judge.read_sent(exchange)
    moved = sent_late(sent)
    numbers = [event.number for event in moved.events]
    assert numbers == sorted(numbers)
    kinds = [event.type for event in moved.events]
    calls = kinds.count("tool.end")
    at = kinds.index("finish")
    assert kinds[at - calls : at] == ["tool.end"] * calls
    assert {numbers[n] for n in range(at - calls, at)} == {numbers[at]}
    assert sorted(kinds) == sorted(event.type for event in sent.events)


_ENDS = frozenset({"finish", "done"})


@pytest.mark.parametrize("name", ["deepseek/parallel-tools", "permits/permits-text-between-tools"])
def test_a_client_that_tells_no_finish_may_tell_a_call_as_soon(name: str) -> None:
    judge, exchange = judging(f"openai.chat/{name}", silent=tuple(_ENDS))
    report = [event for event in events_of(judge, exchange) if event["type"] not in _ENDS]
    assert failing(completed(judge, exchange, report)) == set()
    calls = [event for event in report if event["type"] == "tool.end"]
    rest = [event for event in report if event["type"] != "tool.end"]
    assert failing(completed(judge, exchange, [*rest[:1], *calls, *rest[1:]])) == set()
    assert AGREES in failing(completed(judge, exchange, [*rest[:1], *calls[1:], *rest[1:]]))


def test_a_call_of_the_client_s_own_must_be_reported() -> None:
    judge, exchange = judging("anthropic.messages/anthropic/thinking-then-tools")
    report = [event for event in events_of(judge, exchange) if event["type"] != "tool.end"]
    assert AGREES in failing(completed(judge, exchange, report))


def test_lost_thinking_is_found() -> None:
    judge, exchange = judging(CHAT, silent=("thinking.start", "thinking.end"))
    report = [e for e in events_of(judge, exchange) if e["type"] != "thinking.delta"]
    made = completed(judge, exchange, report)
    assert failing(made) == {AGREES}
    assert all("all thinking is lost" in each.message for each in made.findings)


@pytest.mark.parametrize("lost", ["finish", "thinking.delta"])
def test_what_is_lost_is_one_finding_and_none_of_a_server(lost: str) -> None:
    judge, exchange = judging(CHAT)
    report = [event for event in events_of(judge, exchange) if event["type"] != lost]
    assert failing(completed(judge, exchange, report)) == {AGREES}


def test_thinking_after_the_answer_is_one_finding() -> None:
    judge, exchange = judging(CHAT)
    events = events_of(judge, exchange)
    late = [event for event in events if event["type"].startswith("thinking.")]
    assert failing(completed(judge, exchange, [e for e in events if e not in late] + late)) == {
        AGREES
    }


def test_what_a_client_does_not_declare_is_not_held_against_it() -> None:
    judge, exchange = judging(CHAT, silent=("thinking.start", "thinking.end", "usage"))
    made = completed(judge, exchange, events_of(judge, exchange))
    assert failing(made) == set()
    rule = "thinking/start/before-delta"
    assert made.verdicts[rule] is Verdict.NOT_APPLICABLE
    assert made.reasons[rule] == "the client does not report thinking.start"


def test_who_declares_no_thinking_has_not_lost_any() -> None:
    judge, exchange = judging(CHAT, silent=("thinking.delta", "thinking.start", "thinking.end"))
    shown = [each for each in events_of(judge, exchange) if each["type"] != "text.delta"]
    (found,) = (each for each in completed(judge, exchange, shown).findings if each.rule == AGREES)
    assert "thinking" not in found.message


def test_arguments_that_are_the_same_json_are_the_same() -> None:
    judge, exchange = judging(TOOLS)
    spaced = respaced(events_of(judge, exchange), ": ")
    assert failing(completed(judge, exchange, spaced)) == set()


def test_no_arguments_are_an_empty_object() -> None:
    judge, exchange = judging("agui/allowed/call-without-arguments")
    events = events_of(judge, exchange)
    report = [{**e, "arguments": "{}"} if e["type"] == "tool.end" else e for e in events]
    assert report != [*events]
    assert failing(completed(judge, exchange, report)) == set()
    other = [{**e, "arguments": "[]"} if e["type"] == "tool.end" else e for e in events]
    assert failing(completed(judge, exchange, other)) == {AGREES}


def test_other_arguments_are_found() -> None:
    judge, exchange = judging(TOOLS)
    torn = respaced(events_of(judge, exchange), "")
    assert failing(completed(judge, exchange, torn)) == {AGREES}


def respaced(events: tuple[Event, ...], colon: str) -> tuple[Event, ...]:
    return tuple(
        {**e, "arguments": e["arguments"].replace(":", colon)} if e["type"] == "tool.end" else e
        for e in events
    )


def test_a_call_more_than_was_sent_keeps_its_spelling() -> None:
    call = {"type": "tool.end", "arguments": "{}"}
    assert calls_as_sent([call], []) == [call]


def test_refusals_may_be_shown_as_text() -> None:
    judge, exchange = judging(REFUSAL, silent=("refusal.delta",))
    sent = judge.read_sent(exchange).client_events
    shown = tuple({**e, "type": "text.delta"} if e["type"] == "refusal.delta" else e for e in sent)
    report = AdapterAnswer("completed", tuple(e for e in shown if e["type"] in judge.about.events))
    assert AGREES not in failing(judged(judge, exchange, report, "same"))


def test_what_no_client_can_tell_is_not_asked_of_one() -> None:
    judge, asked = judging(RESPONSES)
    body = b"".join(map(encoded, stream(thinking_again("commentary"))))
    exchange = replace(asked, chunks=(Chunk(body, 0.0),))
    assert any("phase" in event for event in events_of(judge, exchange))
    plain = [
        {key: value for key, value in event.items() if key in event_fields()}
        for event in events_of(judge, exchange)
    ]
    assert failing(completed(judge, exchange, plain)) == set()


def test_what_the_server_did_is_not_the_client_s_fault() -> None:
    judge, exchange = judging(CHAT)
    body = exchange.body
    leaking = body.replace(b'"content":"They are', b'"content":"</think>They are')
    assert leaking != body
    sent = replace(exchange, chunks=(Chunk(leaking, 0.0),))
    made = judge.judge_stream(
        judge.read_sent(sent), AdapterAnswer("completed", events_of(judge, sent)), "same"
    )
    assert failing(made) == set()
    assert made.reasons["stripping/visible-text/no-markers"] == "what was sent breaks it"
    assert "sent bytes" in {change.by for change in made.changes}


def test_a_summary_that_a_client_shows_twice_is_no_long_summary() -> None:
    judge, exchange = judging("openai.responses/ogx-streamed/summaries")
    events = events_of(judge, exchange)
    assert failing(completed(judge, exchange, events)) == set()
    twice = [each for each in events for _ in range(1 + (each["type"] == "thinking.delta"))]
    made = completed(judge, exchange, twice)
    assert failing(made) == {AGREES, "summary/client/text-agrees"}
    assert "text-agrees" in made.reasons["summary/request/concise-is-short"]


def test_a_call_that_was_cut_in_its_arguments_need_not_be_reported() -> None:
    """The SDKs of pi and Strands report calls where their block stops; this one never does."""
    judge, exchange = judging("anthropic.messages/allowed/call-cut-at-the-limit")
    report = events_of(judge, exchange)
    (call,) = [each for each in report if each["type"] == "tool.end"]
    without = [each for each in report if each is not call]
    assert not completed(judge, exchange, report).findings
    assert not completed(judge, exchange, without).findings
    # Nobody may make a whole call of it, nor leave out one that is whole.
    made_up = [{**each, "arguments": "{}"} if each is call else each for each in report]
    assert failing(completed(judge, exchange, made_up)) >= {AGREES}
    one, asked = judging(TOOLS)
    no_calls = [each for each in events_of(one, asked) if each["type"] != "tool.end"]
    assert failing(completed(one, asked, no_calls)) >= {AGREES}


@pytest.mark.parametrize("name", [RESPONSES, CHAT, "openai.responses/client/raw-thinking"])
def test_a_client_with_one_view_of_thinking_names_no_channel(name: str) -> None:
    judge, exchange = judging(name)
    report = [
        {key: value for key, value in each.items() if key != "channel"}
        for each in events_of(judge, exchange)
    ]
    assert not completed(judge, exchange, report).findings
    less = [each for each in report if each["type"] != "thinking.delta"]
    assert failing(completed(judge, exchange, less)) >= {AGREES}
    first = next(each for each in report if each["type"] == "thinking.delta")
    wrong = [{**each, "text": "Else."} if each is first else each for each in report]
    assert failing(completed(judge, exchange, wrong)) >= {AGREES}
