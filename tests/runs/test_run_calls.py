"""Which call of an application is which, and what a run says of what it did not do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.cassette import read
from conformance.core.errors import RemoteError
from conformance.core.events import Chunk, Exchange, Response
from conformance.core.shipped import cassettes
from conformance.dialects import get
from conformance.dialects.base import Reading
from conformance.judging.rulebook import Rulebook
from conformance.judging.transcript import read_transcript
from conformance.runs import RunOutcome, application_run, recorded_scenarios
from conformance.runs.outcome import _calls_note
from conformance.runs.recorded import recorded_calls
from conformance.scenarios import Step, load_scenarios
from conformance.targets.played_answers import RecordedCalls
from tests.fakes.chat_application import ChatApplication
from tests.runs.test_run_application import ran


def notes_on_calls(outcome: RunOutcome) -> list[str]:
    return [note for note in outcome.report.notes if note.startswith("calls of the model")]


def findings(outcome: RunOutcome) -> list[tuple[str, str]]:
    return [(f.rule, f.message) for f in outcome.report.findings]


@pytest.mark.parametrize("title", ["title", "title-inside"])
def test_title_request_is_no_part_of_the_turn(title: str, tmp_path: Path) -> None:
    outcome = ran(ChatApplication(asks=(title,)), tmp_path, scenarios=["app-answer"])
    assert findings(outcome) == []
    assert notes_on_calls(outcome) == [
        "calls of the model: title, turn in app-answer/turn, app-answer/next-turn"
    ]
    (path,) = tmp_path.rglob("app-answer.cassette.jsonl")
    roles = [each.role for each in read(path).exchanges if each.hop == "upstream"]
    assert roles == ["side-call", "turn", "side-call", "next-turn"]


def test_many_retries_of_one_call_are_one_span() -> None:
    retries = [f"retry {number}" for number in range(1, 12)]
    (note,) = _calls_note({"a/one": ["turn", *retries, "turn", "retry 1"], "a/two": ["turn"]})
    spans = "turn, retry 1 to 11, turn, retry 1 in a/one"
    assert note == f"calls of the model: {spans}; turn in a/two"


def test_a_tool_that_only_the_turn_offers_is_offered(tmp_path: Path) -> None:
    outcome = ran(ChatApplication(asks=("title",)), tmp_path, scenarios=["app-tools"])
    # The application shows no calls: what was left out before is a finding.
    assert {rule for rule, _ in findings(outcome)} == {"hop/tools"}


def test_a_router_is_given_what_it_asks_for(tmp_path: Path) -> None:
    application = ChatApplication(asks=("router",))
    outcome = ran(application, tmp_path, scenarios=["app-answer"])
    assert findings(outcome) == []
    assert len(application.scores) == 4  # both turns, and both of the first scenario
    assert "router, turn in" in notes_on_calls(outcome)[0]


def test_what_is_made_of_a_routers_answer_is_not_compared_with_it(tmp_path: Path) -> None:
    application = ChatApplication(asks=("router",), shows_score=True)
    assert findings(ran(application, tmp_path, scenarios=["app-answer"])) == []


def test_an_answer_may_be_the_argument_of_a_call_that_is_demanded(tmp_path: Path) -> None:
    """BeeAI's agents demand a call of `final_answer`, and put words before those of the user."""
    application = ChatApplication(answers_by_call=True, streams=False)
    outcome = ran(application, tmp_path, scenarios=["app-answer"])
    assert findings(outcome) == []
    assert notes_on_calls(outcome) == []  # they are calls of the turn, and none of a router
    application.shows_less = True
    outcome = ran(application, tmp_path / "less", scenarios=["app-answer"])
    assert {rule for rule, _ in findings(outcome)} >= {"hop/text"}


def test_a_model_that_the_user_chooses_is_named_in_the_request(tmp_path: Path) -> None:
    application = ChatApplication(wants_model=True)
    assert findings(ran(application, tmp_path, scenarios=["app-answer"])) == []
    assert application.model == "think-1"
    with pytest.raises(RemoteError, match="must be set") as caught:
        ran(application, tmp_path / "none", scenarios=["app-answer"], model="")
    assert "--model ID" in str(caught.value)


def test_closing_application_does_not_end_the_run(
    tmp_path: Path,
) -> None:
    chosen = ["app-failures", "app-inline"]
    outcome = ran(ChatApplication(tries=3), tmp_path, scenarios=chosen)
    assert outcome.unanswered == ()
    assert outcome.scenarios == len(chosen)
    found = [note for note in outcome.report.notes if "was not answered, as its model" in note]
    roles = [note.partition(" was")[0].rpartition("/")[2] for note in found]
    assert roles == ["cut", "refused"]
    assert "turn, retry 1, retry 2 in app-failures/refused" in notes_on_calls(outcome)[0]


def test_nothing_to_stop_is_no_broken_model() -> None:
    """An agent that hides thinking is silent while its model is: the connection is whole."""
    steps = (
        SimpleNamespace(role="stopped", stops=True, breaks="hangs", upstream=()),
        SimpleNamespace(role="cut", stops=False, breaks="cut", upstream=()),
    )
    run: Any = SimpleNamespace(faults=[], silent=[])
    outcome: Any = SimpleNamespace(
        run=SimpleNamespace(name="app", steps=steps),
        silent={"stopped": "nothing came", "cut": "it closed"},
        step_facts={},
        anew={},
    )
    application_run._note_faults(run, outcome)
    assert [each.what for each in run.faults] == [
        "showed nothing for its user to stop, while its model was silent: nothing came",
        "was not answered, as its model broke off: it closed",
    ]


def test_scenarios_that_a_dead_application_is_not_asked_are_named(tmp_path: Path) -> None:
    application = ChatApplication()
    alive = application.answer
    left = 2  # the turns of the first scenario

    def answer(history: list[dict[str, str]]) -> object:
        nonlocal left
        left -= 1
        if left < 0:
            raise ConnectionError
        return alive(history)

    application.answer = answer  # type: ignore[assignment, method-assign]  # it dies
    outcome = ran(application, tmp_path, scenarios=["app-answer", "app-inline"])
    assert any("stopped answering at app-answer/turn" in line for line in outcome.unanswered)
    why = "vercel.ui app-inline was not run: the application had stopped answering"
    assert why in outcome.report.notes


def test_whole_bodies_are_no_recorded_streams(
    tmp_path: Path,
) -> None:
    chosen = ["app-answer", "app-cut-in-thinking", "app-inline", "app-stop"]
    outcome = ran(ChatApplication(streams=False), tmp_path, scenarios=chosen)
    assert findings(outcome) == []
    left_out = (
        "vercel.ui app-cut-in-thinking, app-inline, app-stop were not run: "
        "upstream got a request for a whole body, a stream was recorded"
    )
    assert left_out in outcome.report.notes


def test_a_model_of_openai_shows_an_application_no_thinking_in_chat(tmp_path: Path) -> None:
    application = ChatApplication(model="gpt-5.4", reads_thinking=False)
    outcome = ran(application, tmp_path / "own", scenarios=["app-answer", "app-parts"])
    assert findings(outcome) == []
    why = "app-parts was not run: OpenAI shows no thinking of its models in this API"
    assert any(why in note for note in outcome.report.notes)
    elsewhere = ran(
        ChatApplication(model="m", reads_thinking=False),
        tmp_path / "other",
        scenarios=["app-answer"],
    )
    assert {rule for rule, _ in findings(elsewhere)} == {"hop/thinking"}


def test_a_recording_stands_after_the_turn_and_not_after_a_title(tmp_path: Path) -> None:
    chosen = [cassettes() / "openai.chat" / "deepseek" / "thinking-then-text.cassette.jsonl"]
    recorded = recorded_scenarios(chosen, Rulebook.load())
    outcome = ran(ChatApplication(asks=("title",)), tmp_path, recorded=recorded)
    assert findings(outcome) == []
    (path,) = tmp_path.rglob("thinking-then-text.cassette.jsonl")
    calls = [each for each in read(path).exchanges if each.hop == "upstream"]
    assert [each.role for each in calls] == ["side-call", "exchange-1"]
    (shipped,) = read(chosen[0]).exchanges
    assert calls[1].body == shipped.body


def breaking() -> Iterator[tuple[str, Step]]:
    for scenario in load_scenarios():
        for step in scenario.steps:
            yield from ((dialect, step) for dialect in step.behind if step.breaks)


CASES = list(breaking())


@pytest.mark.parametrize(("dialect", "step"), CASES, ids=[f"{d}-{s.role}" for d, s in CASES])
def test_a_played_answer_breaks_inside_its_thinking(dialect: str, step: Step) -> None:
    source = RecordedCalls(recorded_calls(step.behind), step.breaks)
    answered = source.answer_call(dialect, 0, 1, {"stream": True})
    assert not answered.misfit
    assert (answered.is_cut, answered.hangs) == (step.breaks == "cut", step.breaks == "hangs")
    head = Response(answered.status, "1.1", (("content-type", answered.content_type),))
    exchange = Exchange(dialect=dialect, response=head, chunks=tuple(map(Chunk, answered.chunks)))
    answer = read_transcript(exchange, get(dialect), Reading())
    assert "".join(answer.thinking)
    assert not answer.text
    assert answer.ending == "cut"
