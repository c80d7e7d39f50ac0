"""An application between two halves of the toolkit: what it loses or covers up is found."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from conformance.cassette import open_recording, read
from conformance.evidence.hop_opaque import SHOWN_ELSEWHERE
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_paths, check_recording
from conformance.recordings.choices import CheckChoices
from conformance.rules.verdicts import Verdict
from conformance.runs import RunOptions, RunOutcome
from conformance.runs.api_run import UNSEEN, RunDisplay
from conformance.runs.application_run import run_application
from conformance.scenarios import Scenario, load_scenarios
from conformance.targets import asgi
from conformance.targets.gateway import serve_upstream
from conformance.targets.server import LiveServer
from tests.fakes.agui_application import AguiApplication
from tests.fakes.application import Application, Fault, Part
from tests.plain_results import violated


def ran(
    application: Any,
    folder: Path,
    protocol: str = "vercel.ui",
    *,
    is_kept: bool = True,
    scenarios: Sequence[str] = (),
    recorded: Sequence[Scenario] = (),
    display: RunDisplay = UNSEEN,
    model: str = "think-1",
) -> RunOutcome:
    save = folder if is_kept else None
    chosen = recorded or load_scenarios(scenarios)
    options = RunOptions(model=model, profile="strict", save=save)

    async def go() -> RunOutcome:
        async with serve_upstream(0) as upstream:
            inner = getattr(application, "inner", application)
            inner.upstream = f"http://127.0.0.1:{upstream.port}"
            transport = asgi.AsgiTransport(application)
            async with LiveServer(f"{asgi.URL}/api/chat", transport=transport) as server:
                return await run_application(
                    server,
                    protocol,
                    chosen,
                    options,
                    folder,
                    upstream=upstream,
                    display=display,
                )

    return asyncio.run(go())


@pytest.mark.every_run
def test_a_right_application_has_no_finding(tmp_path: Path) -> None:
    outcome = ran(Application(), tmp_path)
    assert [(f.rule, f.message) for f in outcome.report.findings] == []
    assert outcome.unanswered == ()
    passed = {rule for rule, won in outcome.report.verdicts.items() if won is Verdict.PASS}
    hops = ("text", "tools", "thinking", "thinking-parts", "thinking-apart", "order", "opaque")
    ends = ("failure-no-success", "failure-told", "answer-whole", "reason-kept")
    assert passed >= {f"hop/{each}" for each in (*hops, *ends)}


UI: Final = "wire/ui-message"
FAULTS: Final[dict[Fault, set[str]]] = {
    "late-end": {
        "hop/thinking-apart",
        f"{UI}/reasoning-ended-in-time",
        f"{UI}/reasoning-serial",
    },
    # The last part alone has the signature, so the next request says it of a piece of the thinking.
    "start-per-delta": {
        "hop/thinking-parts",
        f"{UI}/reasoning-id-unique",
        "history/messages/turn-unchanged",
    },
    "lost-signature": {"hop/opaque", f"{UI}/reasoning-says-something"},
    "leak": {"hop/text"},
    "success-after-cut": {"hop/failure-no-success"},
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.every_run
def test_a_planted_fault_is_found_and_no_other(fault: Fault, tmp_path: Path) -> None:
    assert (
        violated(ran(Application(faults=frozenset({fault})), tmp_path, is_kept=False).report)
        == FAULTS[fault]
    )


def test_a_finding_is_shown_before_the_next_scenario_begins(tmp_path: Path) -> None:
    came: list[str] = []
    display = RunDisplay(
        lambda line: came.append(line.split()[1]),
        lambda streams: came.extend(
            {f"{each.rule} in {stream.scenario}" for stream in streams for each in stream.findings}
        ),
    )
    faults: frozenset[Fault] = frozenset({"leak"})
    names = ("app-answer", "app-parts")
    outcome = ran(Application(faults=faults), tmp_path, scenarios=names, display=display)
    shown = [(name, f"hop/text in {name}") for name in names]
    assert came == [each for pair in shown for each in pair]
    assert violated(outcome.report) == {"hop/text"}


def test_a_limit_that_is_sold_as_a_finish_is_found(tmp_path: Path) -> None:
    faults: frozenset[Fault] = frozenset({"finish-for-limit"})
    names = ("app-answer", "app-length")
    outcome = ran(Application(faults=faults), tmp_path / "sold", is_kept=False, scenarios=names)
    assert violated(outcome.report) == {"hop/reason-kept"}
    outcome = ran(Application(), tmp_path / "told", is_kept=False, scenarios=names)
    assert violated(outcome.report) == set()
    assert outcome.report.verdicts["hop/reason-kept"] is Verdict.PASS


def test_an_application_may_keep_its_history_itself(tmp_path: Path) -> None:
    """No next turn follows the last one: what it sealed may be kept, or lost."""
    report = ran(Application(stored={}), tmp_path / "kept").report
    assert [(f.rule, f.message) for f in report.findings] == []
    unknown = {e.reasons.get("hop/opaque") for e in report.streams if e.scenario == "app-parts"}
    assert SHOWN_ELSEWHERE in unknown
    assert violated(check_paths([tmp_path / "kept"], trust=[tmp_path])) == set()
    # Where nobody trusts what the run states, a conversation that does not show it is silenced.
    judged = check_paths([tmp_path / "kept"])
    assert "hop/opaque" not in violated(judged)
    changes = [(each.scenario, change) for each in judged.streams for change in each.changes]
    of_claims = [each for each in changes if each[1].by == "claims"]
    silenced = {scenario for scenario, change in of_claims if change.rule == "hop/opaque"}
    assert silenced == {"app-json", "app-length", "app-parts", "app-sealed", "app-stop"}
    loses = Application(stored={}, faults=frozenset({"lost-signature"}))
    assert "hop/opaque" in violated(ran(loses, tmp_path / "lost").report)


@pytest.mark.parametrize(
    ("holds", "verdict"),
    [
        ({"app": False, "upstream": True}, Verdict.NOT_APPLICABLE),
        ({"app": True, "upstream": True}, Verdict.FAIL),  # the user keeps it
        ({"app": False, "upstream": False}, Verdict.FAIL),  # nobody does
    ],
)
def test_request_shows_the_owner(holds: dict[str, bool], verdict: Verdict, tmp_path: Path) -> None:
    ran(Application(stored={}), tmp_path, scenarios=("app-answer",))
    (path,) = tmp_path.rglob("app-answer.cassette.jsonl")
    recording = open_recording(path)
    shown, asked = recording.exchanges[2:]
    sealed = re.search(r'"signature": "([^"]+)"', json.dumps(asked.request and asked.request.json))
    assert sealed is not None
    edited = [*recording.exchanges[:2]]
    for each in (shown, asked):
        assert each.request is not None
        text = json.dumps(each.request.json).replace(sealed[1], "")
        if holds[each.hop]:
            text = json.dumps({**json.loads(text), "held": sealed[1]})
        edited.append(replace(each, request=replace(each.request, json=json.loads(text))))
    held = replace(recording, cassette=replace(recording.cassette, exchanges=tuple(edited)))
    last = check_recording(held, Rulebook.load(()), CheckChoices())[2]
    assert last.verdicts["hop/opaque"] is verdict


def test_of_five_faults_exactly_these_are_found(tmp_path: Path) -> None:
    found = violated(ran(Application(faults=frozenset(FAULTS)), tmp_path, is_kept=False).report)
    # Without its signature no thinking goes back, so nothing goes back shortened.
    unseen = {"history/messages/turn-unchanged"}
    assert found == {rule for rules in FAULTS.values() for rule in rules} - unseen


def test_what_is_not_kept_has_no_file_and_no_line(tmp_path: Path) -> None:
    outcome = ran(Application(faults=frozenset({"lost-signature"})), tmp_path, is_kept=False)
    extra = [f.upstream for f in outcome.report.findings if f.upstream is not None]
    assert {(each.file.partition("/")[0], each.line) for each in extra} == {("vercel.ui", None)}


def test_both_hops_are_in_one_recording_and_judged_the_same_offline(tmp_path: Path) -> None:
    outcome = ran(Application(faults=frozenset({"lost-signature"})), tmp_path)
    (path,) = tmp_path.rglob("app-tools.cassette.jsonl")
    hops = [each.hop for each in read(path).exchanges]
    turns = [["app", "upstream", "upstream"], ["app", "upstream"], ["app", *["upstream"] * 3]]
    assert hops == [hop for turn in turns for hop in turn]
    paths = [each.request.path for each in read(path).exchanges if each.request]
    assert paths == ["/api/chat" if hop == "app" else "/v1/messages" for hop in hops]
    first, second, third = (read(path).clocks[number].begun or 0.0 for number in (1, 2, 3))
    assert 0.0 == first < second < third
    offline = check_paths([tmp_path], trust=[tmp_path])
    assert violated(offline) == violated(outcome.report)


def test_an_agent_is_asked_in_its_protocol_and_judged_the_same(tmp_path: Path) -> None:
    agent = AguiApplication()
    outcome = ran(agent, tmp_path, "agui")
    assert [(f.rule, f.message) for f in outcome.report.findings] == []
    assert outcome.report.exit_code() == 0  # of what is refused an error is all that it can tell
    assert len(set(agent.begun)) == len(agent.begun) > 1, "agents keep what they were told"
    (path,) = tmp_path.rglob("app-answer.cassette.jsonl")
    asked = [
        each.request.json for each in read(path).exchanges if each.request and each.hop == "app"
    ]
    (_, thought, answer, _) = asked[1]["messages"]
    assert (thought["role"], answer["role"]) == ("reasoning", "assistant")
    assert thought["encryptedValue"]


@pytest.mark.parametrize(("protocol", "key"), [("agui", "threadId"), ("vercel.ui", "id")])
def test_conversation_keeps_an_id_of_its_own(protocol: str, key: str, tmp_path: Path) -> None:
    first, again = (turns_asked(protocol, tmp_path / name) for name in ("first", "again"))
    for (turn, next_turn), others in ((first, again), (again, first)):
        assert turn[key] == next_turn[key]
        assert turn[key] not in {each[key] for each in others}
    if protocol == "agui":
        runs = [each["runId"] for each in (*first, *again)]
        assert len(set(runs)) == len(runs)


def turns_asked(protocol: str, folder: Path) -> list[Any]:
    """What an application is asked in a conversation of two turns."""
    application = AguiApplication() if protocol == "agui" else Application()
    ran(application, folder, protocol, scenarios=("app-answer",))
    (path,) = folder.rglob("app-answer.cassette.jsonl")
    return [
        each.request.json for each in read(path).exchanges if each.request and each.hop == "app"
    ]


class Unpacking(Application):
    """It takes JSON for something that it asked for itself, and shows the answer within it."""

    async def answer(self, asked: Mapping[str, Any]) -> AsyncIterator[Part | str]:
        async for part in super().answer(asked):
            if (
                isinstance(part, str)
                or part["type"] != "text-delta"
                or not set('{}"').intersection(part["delta"])
            ):
                yield part


def test_a_text_that_is_json_is_shown_as_it_was_said(tmp_path: Path) -> None:
    right = ran(Application(), tmp_path, scenarios=["app-json"], is_kept=False)
    assert violated(right.report) == set()
    assert violated(ran(Unpacking(), tmp_path, scenarios=["app-json"]).report) == {"hop/text"}


class SlowToAsk(AguiApplication):
    """It says that a run begins, and prepares a while before it asks its model."""

    async def _events(self, asked: Mapping[str, Any]) -> AsyncIterator[Part]:
        async for event in super()._events(asked):
            yield event
            if event["type"] == "RUN_STARTED":
                await asyncio.sleep(0.2)


def test_stop_waits_for_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.targets.silence._MOMENT", 0.05)
    outcome = ran(SlowToAsk(), tmp_path, "agui", scenarios=["app-stop"])
    assert violated(outcome.report) == set()
    assert {"stopped", "again"} <= {stream.role for stream in outcome.report.streams}


def test_an_agent_that_loses_a_signature_is_found(tmp_path: Path) -> None:
    agent = AguiApplication(Application(faults=frozenset({"lost-signature"})))
    assert violated(ran(agent, tmp_path, "agui").report) == {"hop/opaque"}


def test_a_finding_of_a_live_run_names_both_turns(tmp_path: Path) -> None:
    faults: frozenset[Fault] = frozenset({"start-per-delta"})
    report = ran(Application(faults=faults), tmp_path, scenarios=("app-answer",)).report
    found = [
        (stream.turn, finding.upstream)
        for stream in report.streams
        for finding in stream.findings
        if finding.rule == "history/messages/turn-unchanged"
    ]
    ((turn, given),) = found
    assert given is not None
    assert (turn, given.turn, given.side, given.exchange) == (2, 1, "answer", 2)
    assert given.line is not None


# One rule of the first may follow from the second; it is below that, and no more.
PAIRS: Final[tuple[tuple[Fault, Fault], ...]] = tuple(combinations(FAULTS, 2))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_two_planted_faults_are_two_findings(one: Fault, other: Fault, tmp_path: Path) -> None:
    found = violated(
        ran(Application(faults=frozenset({one, other})), tmp_path, is_kept=False).report
    )
    assert found & (FAULTS[one] - FAULTS[other])
    assert found & (FAULTS[other] - FAULTS[one])
