"""A gateway between two halves of the toolkit: what it loses, invents or covers up is found."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Final

import pytest
from msgspec import structs

from conformance.cassette import read
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from conformance.runs import RunOptions, RunOutcome, run_server
from conformance.scenarios import Scenario, load_scenarios
from conformance.scenarios.model import CHARACTERS
from conformance.targets import asgi
from conformance.targets.gateway import serve_upstream
from conformance.targets.server import LiveServer
from reference_impl.client.wire import Api
from reference_impl.server.engine.events import (
    EngineEvent,
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    Usage,
)
from tests.fakes.gateway import Gateway
from tests.fakes.translating import (
    Change,
    Translator,
    forgets,
    invents,
    leaks,
    loses,
    loses_calls,
    miscounts,
    reorders,
)
from tests.plain_results import violated_steps

OPTIONS = RunOptions(model="scripted", dialects=("openai.chat",), profile="strict")


def ran(
    gateway: Gateway | Translator,
    folder: Path,
    scenarios: Sequence[Scenario] = (),
    **changes: object,
) -> RunOutcome:
    options = replace(OPTIONS, **changes)  # type: ignore[arg-type]  # by name

    async def go() -> RunOutcome:
        async with serve_upstream(0) as upstream:
            gateway.upstream = f"http://127.0.0.1:{upstream.port}/v1"
            async with LiveServer(asgi.URL, transport=asgi.AsgiTransport(gateway)) as server:
                taken = scenarios or load_scenarios()
                return await run_server(server, taken, options, folder, upstream=upstream)

    return asyncio.run(go())


@pytest.mark.parametrize("dialect", ["openai.chat", "ollama.chat"])
@pytest.mark.every_run
def test_a_right_gateway_has_no_finding(dialect: str, tmp_path: Path) -> None:
    outcome = ran(Gateway(), tmp_path, dialects=(dialect,))
    assert violated_steps(outcome.report) == set()
    assert outcome.unanswered == ()
    hops = ("hop-text", "hop-thinking", "hop-tools", "hop-usage", "hop-calls")
    assert {outcome.report.verdicts[f"scenario/{each}"] for each in hops} == {Verdict.PASS}


def test_only_scenarios_for_gateways_are_run(tmp_path: Path) -> None:
    report = ran(Gateway(), tmp_path).report
    assert {s.scenario.partition("-")[0] for s in report.streams} == {"gateway", "sanity"}


def test_both_hops_are_in_one_recording_and_judged_the_same_offline(tmp_path: Path) -> None:
    outcome = ran(Gateway(trims=True), tmp_path, save=tmp_path)
    (path,) = tmp_path.rglob("gateway-answer.cassette.jsonl")
    hops = [(each.hop, each.role) for each in read(path).exchanges]
    assert hops[:2] == [("downstream", "stream"), ("upstream", "stream")]
    assert violated_steps(check_paths([tmp_path], trust=[tmp_path])) == violated_steps(
        outcome.report
    )
    # Who does not trust it has only its word for whose answers broke off.
    played = ("wire/sse/ends-cleanly", "gateway-faults/cut")
    assert played in violated_steps(check_paths([tmp_path])) - violated_steps(outcome.report)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"NaN", b"\xff\x00", b'{"a":"\\ud800"}'])
def test_what_a_gateway_asks_is_read_back_whole(before: bytes, tmp_path: Path) -> None:
    outcome = ran(Gateway(spoils=before), tmp_path, save=tmp_path)
    (path,) = tmp_path.rglob("gateway-answer.cassette.jsonl")
    asked = [each.request for each in read(path).exchanges if each.hop == "upstream"]
    assert asked
    for each in asked:
        assert each is not None
        assert each.json is None
        assert (each.raw or b"").startswith(before + b"{")
    assert violated_steps(check_paths([tmp_path], trust=[tmp_path])) == violated_steps(
        outcome.report
    )


DEFECTS: list[tuple[Gateway, tuple[str, str]]] = [
    (Gateway(trims=True), ("scenario/hop-text", "gateway-answer/stream")),
    (Gateway(completes=True), ("scenario/ending", "gateway-faults/no-finish")),
    (Gateway(completes=True), ("scenario/ending", "gateway-faults/cut")),
    (Gateway(asks_twice=True), ("scenario/hop-calls", "gateway-answer/stream")),
    (Gateway(drops_thinking=True), ("scenario/hop-thinking", "gateway-answer/stream")),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("gateway", "found"), DEFECTS, ids=[e[1][1] + repr(e[0]) for e in DEFECTS])
def test_gateway_fault_is_found(gateway: Gateway, found: tuple[str, str], tmp_path: Path) -> None:
    assert found in violated_steps(ran(gateway, tmp_path).report)


def test_an_answer_from_a_cache_is_reported_and_not_blamed(tmp_path: Path) -> None:
    whole = [each for each in load_scenarios(["gateway-answer"]) if each.steps]
    again = [structs.replace(each, name="gateway-again") for each in whole]
    outcome = ran(Gateway(caches=True), tmp_path, [*whole, *again], save=tmp_path)
    assert violated_steps(outcome.report) == set()
    text = "openai.chat gateway-again/body answered without asking the upstream"
    assert any(note.startswith(text) for note in outcome.report.notes)
    assert violated_steps(check_paths([tmp_path], trust=[tmp_path])) == set()


def test_what_a_gateway_refuses_by_itself_is_one_finding(tmp_path: Path) -> None:
    outcome = ran(Gateway(refuses=b'"reasoning_content"'), tmp_path)
    assert {rule for rule, _ in violated_steps(outcome.report)} == {"scenario/ending"}
    assert "HTTP 400" in next(each.message for each in outcome.report.findings)


def test_a_gateway_need_not_write_a_summary_by_a_call_of_its_own(tmp_path: Path) -> None:
    summary = [each for each in load_scenarios(["gateway-summary"]) if each.steps]
    gateway = Translator("chat", change=forgets)
    outcome = ran(gateway, tmp_path, summary, dialects=("openai.responses",), save=tmp_path)
    (path,) = tmp_path.rglob("gateway-summary.cassette.jsonl")
    assert sum(each.hop == "upstream" for each in read(path).exchanges) == 4
    assert {rule for rule, _ in violated_steps(outcome.report)} == {"scenario/hop-thinking"}


def test_a_character_that_is_lost_is_found_in_its_own_scenario_alone(tmp_path: Path) -> None:
    report = ran(Gateway(splits=True), tmp_path).report
    assert violated_steps(report) == {
        (f"scenario/{rule}", "gateway-line-separator/stream")
        for rule in ("hop-text", "hop-thinking")
    }


@pytest.mark.parametrize("name", CHARACTERS)
def test_every_character_has_its_scenario(name: str) -> None:
    (scenario,) = load_scenarios([f"gateway-{name}"])
    assert [step.says for step in scenario.steps] == [name]
    others = [step.says for each in load_scenarios() for step in each.steps if each != scenario]
    assert name not in others


def test_a_gateway_that_hides_thinking_may_say_so(tmp_path: Path) -> None:
    report = ran(Gateway(drops_thinking=True), tmp_path, without=frozenset({"thinking"})).report
    assert violated_steps(report) == set()


def test_what_the_toolkit_said_itself_is_not_judged(tmp_path: Path) -> None:
    report = ran(Gateway(), tmp_path).report
    faults = [s for s in report.streams if (s.scenario, s.role) == ("gateway-faults", "cut")]
    assert faults[1].verdicts["wire/sse/ends-cleanly"] is Verdict.NOT_APPLICABLE


APIS: dict[Api, str] = {
    "chat": "openai.chat",
    "responses": "openai.responses",
    "messages": "anthropic.messages",
}
WAYS = [(here, behind) for here in APIS for behind in APIS]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("here", "upstream"), WAYS, ids=str)
def test_a_right_translation_has_no_finding(here: Api, upstream: Api, tmp_path: Path) -> None:
    outcome = ran(Translator(upstream), tmp_path, dialects=(APIS[here],), save=tmp_path)
    assert violated_steps(outcome.report) == set()
    assert outcome.unanswered == ()
    (path,) = tmp_path.rglob("gateway-tools.cassette.jsonl")
    assert {each.dialect for each in read(path).exchanges if each.hop == "upstream"} == {
        APIS[upstream]
    }
    passed = {rule for rule, won in outcome.report.verdicts.items() if won is Verdict.PASS}
    hops = ("hop-text", "hop-thinking", "hop-tools", "hop-order", "hop-usage", "hop-calls")
    assert passed >= {f"scenario/{each}" for each in hops}
    assert ("scenario/hop-summary" in passed) is (here == "responses")


WRONG: list[tuple[Translator, str]] = [
    (Translator("responses", change=loses), "scenario/hop-text"),
    (Translator("messages", change=invents), "scenario/hop-text"),
    (Translator("chat", change=leaks), "scenario/hop-text"),
    (Translator("messages", change=forgets), "scenario/hop-thinking"),
    (Translator("chat", change=reorders), "scenario/hop-order"),
    (Translator("messages", change=miscounts), "scenario/hop-usage"),
    (Translator("chat", defect="item-id-changes"), "wire/responses/item-id"),
    (Translator("messages", defect="index-reuse"), "wire/responses/item-index-contiguous"),
    (Translator("responses", defect="completed-on-cut"), "scenario/ending"),
]


@pytest.mark.one_in(9)
@pytest.mark.parametrize(("gateway", "rule"), WRONG, ids=[rule for _, rule in WRONG])
def test_translation_fault_is_found(gateway: Translator, rule: str, tmp_path: Path) -> None:
    report = ran(gateway, tmp_path, dialects=("openai.responses",)).report
    assert rule in {found for found, _ in violated_steps(report)}


def says_tail_of_thoughts(events: list[EngineEvent]) -> list[EngineEvent]:
    """The last piece of thinking is said aloud."""
    last = max((n for n, e in enumerate(events) if isinstance(e, ReasoningDelta)), default=-1)
    return [leaks([e])[0] if n == last else e for n, e in enumerate(events)]


def marks_thoughts(events: list[EngineEvent]) -> list[EngineEvent]:
    """Thinking is text between tags."""
    thought = "".join(e.text for e in events if isinstance(e, ReasoningDelta))
    return [TextDelta(f"<think>{thought}</think>"), *forgets(events)]


def empties_arguments(events: list[EngineEvent]) -> list[EngineEvent]:
    return [replace(e, arguments="{}") if isinstance(e, ToolCall) else e for e in events]


def counts_nothing(events: list[EngineEvent]) -> list[EngineEvent]:
    return [Finish(e.reason, Usage(0, 0, 0)) if isinstance(e, Finish) else e for e in events]


def repeats_the_first(joins: bool) -> Change:
    """What came first comes again: in place of each later answer, or before it."""
    first: list[EngineEvent] = []

    def change(events: list[EngineEvent]) -> list[EngineEvent]:
        if not first:
            first.extend(each for each in events if not isinstance(each, Finish))
            return events
        kept = events if joins else [each for each in events if isinstance(each, Finish)]
        return [*first, *kept]

    return change


ALTERED: Final[dict[str, tuple[Change, str]]] = {
    "thinking as text": (leaks, "scenario/hop-text"),
    "its tail as text": (says_tail_of_thoughts, "scenario/hop-text"),
    "thinking between tags": (marks_thoughts, "stripping/visible-text/no-markers"),
    "no arguments": (empties_arguments, "scenario/hop-tools"),
    "no counts": (counts_nothing, "scenario/hop-usage"),
    "another answer": (repeats_the_first(joins=False), "scenario/hop-text"),
    "another answer before it": (repeats_the_first(joins=True), "scenario/hop-text"),
}


# In Responses a summary is a further answer, which is altered, too.
WAYS_TO_ALTER: Final = [
    *(("anthropic.messages", name) for name in ALTERED),
    *(("openai.responses", name) for name in ALTERED if "another" not in name),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("here", "name"), WAYS_TO_ALTER)
def test_what_is_altered_in_one_way_is_one_finding(here: str, name: str, tmp_path: Path) -> None:
    change, rule = ALTERED[name]
    scenario = "gateway-tools" if rule.endswith("tools") else "gateway-answer"
    gateway = Translator("chat", change=change)
    report = ran(gateway, tmp_path, load_scenarios([scenario]), dialects=(here,)).report
    assert {each for each, _ in violated_steps(report)} == {rule}


CHANGES: Final[dict[str, tuple[Change, str]]] = {
    "loses": (loses, "scenario/hop-text"),
    "forgets": (forgets, "scenario/hop-thinking"),
    "miscounts": (miscounts, "scenario/hop-usage"),
    "loses calls": (loses_calls, "scenario/hop-tools"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("one", "other"), list(combinations(CHANGES, 2)))
def test_of_two_losses_each_keeps_finding_of_its_own(one: str, other: str, tmp_path: Path) -> None:
    (first, rule), (second, own) = CHANGES[one], CHANGES[other]
    gateway = Translator("chat", change=lambda events: second(first(events)))
    scenarios = load_scenarios(["gateway-answer", "gateway-tools"])
    found = {each for each, _ in violated_steps(ran(gateway, tmp_path, scenarios).report)}
    assert {rule, own} <= found


def test_lost_calls_are_one_finding_with_their_finish(
    tmp_path: Path,
) -> None:
    scenarios = load_scenarios(["gateway-two-calls"])
    found = violated_steps(ran(Translator("chat", change=loses_calls), tmp_path, scenarios).report)
    assert {rule for rule, _ in found} == {"scenario/hop-tools"}


def test_a_second_call_that_a_gateway_loses_is_found(tmp_path: Path) -> None:
    report = ran(Gateway(drops_second_call=True), tmp_path, load_scenarios(["gateway-two-calls"]))
    steps = {where for rule, where in violated_steps(report.report) if rule == "scenario/hop-tools"}
    assert steps == {"gateway-two-calls/tool-turn"}
