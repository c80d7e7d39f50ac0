"""A run from the first request to the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.core.errors import RemoteError
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from conformance.runs import RunOutcome
from tests.fakes.chatty import Chatty
from tests.plain_results import violated_steps
from tests.runs.conftest import Runner

ENDING = "scenario/ending"
THINKING = "scenario/thinking"
SAME_TEXT = "stripping/opt-in/stream-equals-body"
SAME_THINKING = "stripping/opt-in/stream-thinks-as-body"


def noted(outcome: RunOutcome, piece: str) -> bool:
    return any(piece in note for note in outcome.report.notes)


def test_a_right_server_has_no_finding_in_any_scenario(run: Runner) -> None:
    outcome = run(Chatty())
    assert violated_steps(outcome.report) == set()
    assert outcome.unanswered == ()
    assert outcome.report.exit_code(strict=True) == 0
    assert outcome.report.verdicts[SAME_TEXT] is Verdict.PASS


def test_a_saved_run_gives_the_same_verdicts_offline(run: Runner, tmp_path: Path) -> None:
    outcome = run(Chatty(thoughtless=True, random=True))
    offline = check_paths([tmp_path], trust=[tmp_path])
    assert offline.verdicts == outcome.report.verdicts
    assert violated_steps(offline) == violated_steps(outcome.report)
    assert {f.id for f in offline.findings} == {f.id for f in outcome.report.findings}


def test_findings_stand_at_a_line_of_what_was_saved(run: Runner) -> None:
    outcome = run(Chatty(thoughtless=True), "think")
    (finding, *_) = outcome.report.findings
    (stream, *_) = [each for each in outcome.report.streams if each.findings]
    assert finding.line is not None
    lines = Path(stream.file).read_text(encoding="utf-8").splitlines()
    assert finding.line <= len(lines)


def test_nothing_is_saved_unasked_and_no_line_is_reported(run: Runner) -> None:
    outcome = run(Chatty(thoughtless=True), "think", save=None)
    assert {finding.line for finding in outcome.report.findings} == {None}
    assert {stream.file for stream in outcome.report.streams} == {
        "openai.chat/sanity",
        "openai.chat/think",
    }


def test_missing_thinking_is_a_finding(run: Runner) -> None:
    outcome = run(Chatty(thoughtless=True), "think")
    assert violated_steps(outcome.report) == {(THINKING, "think/stream"), (THINKING, "think/body")}


def test_thinking_is_not_missed_without_the_capability(run: Runner) -> None:
    outcome = run(Chatty(thoughtless=True), without=frozenset({"thinking"}))
    assert violated_steps(outcome.report) == set()
    assert noted(outcome, "were not run: needs thinking, which --without leaves out")


def test_a_list_of_models_that_is_not_there_is_no_finding(run: Runner) -> None:
    outcome = run(Chatty(unlisted=True), "models", "think")
    assert violated_steps(outcome.report) == set()
    assert noted(outcome, "models/list was not run: the target has no /models (HTTP 404)")


def test_texts_of_a_random_target_are_untestable(run: Runner) -> None:
    found: list[str] = []
    report = run(Chatty(random=True), "think", found=found).report
    assert report.verdicts[SAME_TEXT] is Verdict.UNTESTABLE
    assert report.verdicts[SAME_THINKING] is Verdict.UNTESTABLE
    assert violated_steps(report) == set()
    assert found == []  # it seemed so before the scenario was asked again


def test_findings_are_shown_while_the_run_goes_on(run: Runner) -> None:
    found: list[str] = []
    outcome = run(Chatty(thoughtless=True), "think", found=found)
    assert set(found) == {"scenario/thinking"}
    assert {rule for rule, _ in violated_steps(outcome.report)} == set(found)


def test_requests_of_the_scenario_are_not_judged(run: Runner) -> None:
    report = run(Chatty(), "unknown-effort", "tools").report
    assert report.verdicts["effort/chat/known"] is Verdict.NOT_APPLICABLE
    assert report.verdicts["history/chat/one-field"] is Verdict.NOT_APPLICABLE


def test_a_target_that_ignores_effort_is_not_asked_for_it(run: Runner) -> None:
    server = Chatty(deaf=True)
    outcome = run(server)
    assert violated_steps(outcome.report) == set()
    assert noted(outcome, "effort, which the target ignores")
    assert not [each for each in server.asked if each.get("reasoning_effort") == "none"]


def test_a_follow_up_carries_the_answer_on(run: Runner) -> None:
    server = Chatty()
    run(server, "tools")
    (follow_up,) = [each for each in server.asked if each["messages"][-1]["role"] == "tool"]
    roles = [each["role"] for each in follow_up["messages"]]
    assert roles == ["user", "assistant", "tool"]
    turn = follow_up["messages"][1]
    assert turn["reasoning_content"].startswith("They said")
    assert turn["tool_calls"][0]["function"]["name"] == "calculator"
    assert follow_up["messages"][2] == {"role": "tool", "tool_call_id": "call_1", "content": "5"}


def test_history_is_sent_with_and_without_thinking(run: Runner) -> None:
    server = Chatty()
    run(server, "history")
    later = [each["messages"] for each in server.asked if len(each["messages"]) == 3]
    assert ["reasoning_content" in messages[1] for messages in later] == [True, False]


@pytest.mark.parametrize(
    ("refuses", "kept"),
    [
        (frozenset({"temperature"}), {"max_completion_tokens"}),
        (frozenset({"max_tokens"}), {"max_completion_tokens", "temperature", "seed"}),
        (frozenset({"max_completion_tokens", "seed"}), {"max_tokens"}),
    ],
)
def test_target_gets_its_own_style(run: Runner, refuses: frozenset[str], kept: set[str]) -> None:
    server = Chatty(refuses=refuses)
    assert violated_steps(run(server, "think").report) == set()
    names = {"max_tokens", "max_completion_tokens", "temperature", "seed"}
    assert names & server.asked[-1].keys() == kept


def test_a_busy_server_is_asked_again(run: Runner) -> None:
    outcome = run(Chatty(busy=2), "think")
    assert violated_steps(outcome.report) == set()
    assert noted(outcome, "7 requests")


def test_a_step_that_the_server_has_no_time_for_is_untestable(run: Runner) -> None:
    class Busy(Chatty):
        """Busy for the fourth request only."""

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            self.busy = int(len(self.asked) == 3)
            await super().__call__(scope, receive, send)

    report = run(Busy(retry_after="9999"), "think").report
    (body,) = [each for each in report.streams if each.role == "body"]
    assert body.verdicts[ENDING] is Verdict.UNTESTABLE
    assert body.reasons[ENDING] == "HTTP 429, also after 1 requests"
    assert violated_steps(report) == set()


def test_a_server_that_never_has_time_is_an_error_of_the_target(run: Runner) -> None:
    with pytest.raises(RemoteError, match="HTTP 429"):
        run(Chatty(busy=99, retry_after="9999"), "think")


def test_a_server_that_refuses_every_limit_is_asked_without_one(run: Runner) -> None:
    """langgraph-openai-serve takes neither `max_tokens` nor its newer name."""
    refused = frozenset({"max_tokens", "max_completion_tokens", "reasoning_effort"})
    assert violated_steps(run(Chatty(refuses=refused), "think").report) == {
        (ENDING, "sanity/first")
    }
    server = Chatty(refuses=refused)
    outcome = run(server, "think", "length", without=("limit", "effort"))
    assert ENDING not in {rule for rule, _ in violated_steps(outcome.report)}
    assert noted(outcome, "length was not run: ")
    assert not any(refused & each.keys() for each in server.asked)


def test_a_server_that_died_is_reported_with_the_step(run: Runner) -> None:
    outcome = run(Chatty(dies_after=3), "think", "tools")
    (note,) = outcome.unanswered
    assert note.startswith("the server stopped answering at think/body")
    assert "the worker died" in note
    assert noted(outcome, "tools was not run: the server had stopped answering")


def test_a_server_that_dies_at_the_end_is_reported(run: Runner) -> None:
    outcome = run(Chatty(dies_after=4), "think")
    (note,) = outcome.unanswered
    assert "no longer answers after the last scenario" in note


def test_nobody_there_is_an_error_of_the_target(run: Runner) -> None:
    with pytest.raises(RemoteError, match="the worker died"):
        run(Chatty(dies_after=0))


def test_a_wrong_key_is_reported_as_such_and_not_shown(run: Runner) -> None:
    bearer = {"authorization": "Bearer wrong-and-secret"}
    with pytest.raises(RemoteError, match="HTTP 401") as caught:
        run(Chatty(key="right"), secrets={"openai.chat": bearer})
    assert "is no key" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_the_key_is_sent_and_never_kept(run: Runner, tmp_path: Path) -> None:
    secret = "hunter2-and-more"
    server = Chatty(key=secret, echoes=True)
    bearer = {"authorization": f"Bearer {secret}"}
    run(server, "think", secrets={"openai.chat": bearer})
    assert server.headers[0]["authorization"] == f"Bearer {secret}"
    kept = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.jsonl")]
    assert kept
    assert not [text for text in kept if secret in text]


def test_an_api_that_is_not_there_is_reported(run: Runner) -> None:
    outcome = run(Chatty(), "think", dialects=())
    assert noted(outcome, "the target has no openai.responses, ")
    assert outcome.unanswered == ()
    with pytest.raises(RemoteError, match=r"openai\.responses: the target has no such API"):
        run(Chatty(), "think", dialects=("openai.responses",))


def test_a_refined_api_is_run_only_where_its_answers_show_it(run: Runner) -> None:
    outcome = run(Chatty(), "think", dialects=())
    assert noted(outcome, "mistral.chat: the target answers as openai.chat")
    named = run(Chatty(), "think", dialects=("mistral.chat",))
    assert {stream.dialect for stream in named.report.streams} == {"mistral.chat"}


def test_an_api_that_was_named_must_be_there(run: Runner) -> None:
    outcome = run(Chatty(), "think", dialects=("openai.chat", "openai.responses"))
    (note,) = outcome.unanswered
    assert note.startswith(
        "openai.responses: the target has no such API: HTTP 404 at /v1/responses (the URL names"
    )
    assert outcome.report.verdicts[ENDING] is Verdict.PASS


def test_what_one_api_was_judged_by_is_kept_when_the_next_is_gone(run: Runner) -> None:
    outcome = run(Chatty(dies_after=5), "think", dialects=())
    (note,) = outcome.unanswered
    assert "the worker died" in note
    assert outcome.report.verdicts[ENDING] is Verdict.PASS


def test_no_more_is_sent_than_allowed(run: Runner) -> None:
    server = Chatty()
    outcome = run(server, max_requests=5)
    assert len(server.asked) == 5
    assert noted(outcome, "--max-requests")
    assert noted(outcome, "5 requests")


def test_findings_are_confirmed_and_only_the_run_is_kept(run: Runner, tmp_path: Path) -> None:
    outcome = run(Chatty(thoughtless=True), "think", confirm=3)
    assert check_paths([tmp_path]).verdicts == outcome.report.verdicts
    notes = [note for stream in outcome.report.streams for note in stream.notes]
    assert len([note for note in notes if note.endswith(": 3 of 3 runs")]) == 2


def test_a_soak_finds_text_of_one_stream_in_another(run: Runner) -> None:
    names = ("think", "history", "effort")
    assert violated_steps(run(Chatty(), *names, repeat=3, jobs=4).report) == set()
    mixed = run(Chatty(mixed_up=True), *names, repeat=3, jobs=4).report
    assert "scenario/cross-talk" in {rule for rule, _ in violated_steps(mixed)}


def test_a_soak_of_a_random_server_goes_by_words_of_each_request(run: Runner) -> None:
    names = ("think", "history", "effort")
    right = run(Chatty(random=True), *names, repeat=3, jobs=4)
    assert violated_steps(right.report) == set()
    assert right.report.verdicts["scenario/cross-talk"] is Verdict.PASS
    mixed = run(Chatty(random=True, mixed_up=True), *names, repeat=3, jobs=4).report
    (found, *_) = [f for f in mixed.findings if f.rule == "scenario/cross-talk"]
    assert "is the word of request 'openai.chat " in found.message
    assert ", not of 'openai.chat " in found.message


def test_notes_are_a_line_for_each_reason(run: Runner) -> None:
    notes = run(Chatty(thoughtless=True), without=frozenset({"thinking"})).report.notes
    left_out = [note for note in notes if "not run" in note]
    assert len({note.partition(": ")[2] for note in left_out}) == len(left_out)
    assert any(" company, default-thinking, effort, " in note for note in left_out)
    assert sum(note.startswith("not exercised") for note in notes) == 1


def test_who_never_says_the_word_cannot_be_judged_and_that_is_reported(run: Runner) -> None:
    mute = run(Chatty(random=True, thoughtless=True, mute=True), "history", repeat=2)
    reasons = {s.reasons.get("scenario/cross-talk", "") for s in mute.report.streams}
    assert mute.report.verdicts["scenario/cross-talk"] is Verdict.UNTESTABLE
    assert any("no word, id or text that only its own request" in reason for reason in reasons)


def test_the_report_says_what_was_exercised_and_spent(run: Runner) -> None:
    outcome = run(Chatty(), "think")
    assert noted(outcome, "exercised ")
    assert noted(outcome, "5 requests; 20 tokens in, 28 out") or noted(outcome, "5 requests; ")


def test_an_unknown_model_is_no_missing_api(run: Runner) -> None:
    with pytest.raises(RemoteError, match=r"HTTP 404: there is no model 'x'.*--model"):
        run(Chatty(), "think", model="x")


def test_halves_of_characters_do_not_end_the_run(run: Runner) -> None:
    class Halved(Chatty):
        """Answers hold half a pair of surrogates."""

        def _answer_parts(self, body: Any) -> Any:
            thinking, text, calls = super()._answer_parts(body)
            return f"{thinking}\ud83e", f"{text}\udde0", calls

    outcome = run(Halved(), "history")
    assert outcome.scenarios == 1
    assert outcome.unanswered == ()


def test_texts_that_differ_only_now_and_then_are_chance(run: Runner) -> None:
    class Moody(Chatty):
        """Says the same to the first requests, and then never again."""

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            self.random = len(self.asked) >= 2
            await super().__call__(scope, receive, send)

    report = run(Moody(), "think").report
    assert report.verdicts[SAME_TEXT] is Verdict.UNTESTABLE
    assert violated_steps(report) == set()
