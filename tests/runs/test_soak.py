"""A soak: what it counts, merges and finds, and how it ends."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.core.errors import UsageError
from conformance.judging.groups import finding_groups
from conformance.report import json as json_report
from conformance.report.files import render
from conformance.rules.verdicts import Verdict
from conformance.runs import RunOutcome
from conformance.runs.options import parse_duration
from tests.fakes import chatty
from tests.fakes.chatty import Chatty
from tests.runs.conftest import Runner

NAMES = ("think", "history", "effort")
CROSS_TALK = "scenario/cross-talk"
FORMATS = ("text", "json", "junit", "sarif", "github", "markdown", "html", "badge")


def soak(run: Runner, server: Chatty, *names: str, **options: Any) -> RunOutcome:
    return run(server, *(names or NAMES), **{"soak": 0.5, "jobs": 8, **options})


def test_a_right_server_is_found_right_under_load(run: Runner) -> None:
    server = Chatty()
    outcome = soak(run, server)
    figures = outcome.report.soak
    assert figures is not None
    assert outcome.report.findings == ()
    assert outcome.report.verdicts[CROSS_TALK] is Verdict.PASS
    assert (figures.jobs, figures.failures, figures.interrupted) == (8, (), False)
    assert figures.seconds >= 0.5
    assert figures.rate == pytest.approx(figures.requests / figures.seconds, rel=0.01)
    assert figures.first_thinking
    assert figures.first_text
    assert figures.first_thinking.p50 <= figures.first_thinking.p99
    merged = sum(each.merged.streams for each in outcome.report.streams if each.merged)
    assert merged == figures.requests


def test_what_is_not_there_is_absent(run: Runner) -> None:
    outcome = soak(run, Chatty(thoughtless=True), "history")
    soaked = json.loads(json_report.render(outcome.report))["soak"]
    assert "first_thinking" not in soaked
    assert soaked["first_text"]["answers"] > 0


@pytest.mark.parametrize("random", [False, True])
def test_mixed_up_streams_are_cross_talk_and_nothing_else(run: Runner, *, random: bool) -> None:
    report = soak(run, Chatty(mixed_up=True, random=random)).report
    assert {finding.rule for finding in report.findings} == {CROSS_TALK}
    (group,) = finding_groups(report)
    assert "is the word of request 'openai.chat " in group.first.message
    assert ", not of 'openai.chat " in group.first.message
    assert group.streams > len({place.stream.file for place in group.places}) - 1


def test_a_server_that_says_no_words_is_compared_with_what_it_says_alone(run: Runner) -> None:
    class Wordless(Chatty):
        """It does not repeat what it was given to say."""

        def _answer_parts(self, body: Any) -> Any:
            thinking, text, calls = super()._answer_parts(body)
            cut = "\nBegin your answer"
            return thinking.partition(cut)[0], text.partition(cut)[0], calls

    assert soak(run, Wordless()).report.verdicts[CROSS_TALK] is Verdict.PASS
    report = soak(run, Wordless(mixed_up=True)).report
    assert CROSS_TALK in {finding.rule for finding in report.findings}


class Paraphrasing(Chatty):
    """What it is asked shows in what it says, but not the word that it was given."""

    def _answer_parts(self, body: Any) -> Any:
        thinking, text, calls = super()._answer_parts(body)
        return thinking.swapcase(), text.swapcase(), calls


class Torn(Paraphrasing):
    """Its answers begin with the end of a parallel one, now more of it and now less."""

    def _answer_parts(self, body: Any) -> Any:
        thinking, text, calls = super()._answer_parts(body)
        taken = 9 + len(self.asked) % 7
        return thinking, "".join(self._open)[-taken:] + text, calls


def test_answers_that_vary_under_load_are_compared_with_single_ones(
    run: Runner,
) -> None:
    report = soak(run, Torn(), "think", "history", "company").report
    assert any("differ while other requests run" in note for note in report.notes)
    assert CROSS_TALK in {finding.rule for finding in report.findings}


def test_where_all_requests_ask_one_thing_they_ask_it_in_several_wordings(run: Runner) -> None:
    right = soak(run, Paraphrasing(), "think").report
    assert right.findings == ()
    assert right.verdicts[CROSS_TALK] is Verdict.PASS
    report = soak(run, Paraphrasing(mixed_up=True), "think").report
    messages = {f.message for f in report.findings if f.rule == CROSS_TALK}
    assert messages
    assert any("in wording" in message for message in messages)


def test_answers_that_are_all_the_same_tell_nothing_of_cross_talk(run: Runner) -> None:
    report = soak(run, Chatty(mute=True, thoughtless=True), "think").report
    assert report.verdicts[CROSS_TALK] is Verdict.UNTESTABLE


def test_findings_are_merged_while_it_runs(run: Runner, tmp_path: Path) -> None:
    outcome = soak(run, Chatty(thoughtless=True), "think", save=tmp_path)
    report, figures = outcome.report, outcome.report.soak
    assert figures is not None
    (group,) = finding_groups(report)
    assert group.first.rule == "scenario/thinking"
    # The first of each step is kept as it is, with its recording; the rest is counted.
    kept = [each for each in report.streams if each.findings]
    assert all(Path(each.file).is_file() for each in kept)
    assert len(kept) < group.streams == group.judged == figures.requests + 2
    assert len(list(tmp_path.rglob("think-*"))) <= len(kept)
    steps = {(each.scenario, each.role) for each in report.streams}
    assert len([each for each in report.streams if each.merged]) <= len(steps)


def test_failures_are_counted_by_kind(run: Runner) -> None:
    class Overloaded(Chatty):
        """Refuses every third request for good."""

        def _wrong(self, body: Any) -> str:
            assert body
            return "too much" if len(self.asked) > 10 and len(self.asked) % 3 == 0 else ""

    figures = soak(run, Overloaded(), "history").report.soak
    assert figures is not None
    assert [each.kind for each in figures.failures] == ["HTTP 400"]


def test_a_server_that_dies_ends_the_soak(run: Runner) -> None:
    outcome = soak(run, Chatty(dies_after=20), "history", soak=600.0)
    assert any("in the soak" in line for line in outcome.unanswered)
    assert outcome.report.soak is not None
    assert outcome.report.soak.failures[0].kind == "no answer"


def test_no_more_is_sent_than_allowed(run: Runner) -> None:
    server = Chatty()
    outcome = soak(run, server, "history", soak=600.0, max_requests=30)
    assert len(server.asked) == 30
    assert not outcome.interrupted


def test_every_format_has_room_for_a_soak(run: Runner) -> None:
    report = soak(run, Chatty(thoughtless=True), "think").report
    pages = {name: render(report, name) for name in FORMATS}
    assert all("per second" in pages[name] for name in ("text", "markdown", "html", "sarif"))
    document = json.loads(pages["json"])
    merged = sum(each["merged"]["streams"] for each in document["streams"] if each["merged"])
    kept = [each for each in document["streams"] if "/think-" in each["file"]]
    assert document["soak"]["requests"] == merged + len(kept)


class Interrupting(Chatty):
    """Somebody presses Ctrl-C, once, while the thirtieth request is answered."""

    pressed = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await super().__call__(scope, receive, send)
        if len(self.asked) >= 30 and not self.pressed:
            self.pressed = True  # a second one ends the process at once
            os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupted_soak_reports_what_was_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(chatty, "APP", Interrupting())
    app = ["--asgi", "tests.fakes.chatty:APP", "--api", "chat", "--profile", "strict"]
    assert main(["run", *app, "--scenario", "history", "--soak", "10m", "--jobs", "4"]) == 130
    out = capsys.readouterr().out
    assert "4 at a time, interrupted: " in out
    assert "first text after " in out


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("2m", 120), ("1.5h", 5400), ("0.5s", 0.5)]
)
def test_times(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0s", "-1", "2 m", "2min", "1e3", "9999h", "٢m"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(UsageError, match="is no time"):
        parse_duration(text)


def test_a_soak_goes_without_rounds(run: Runner) -> None:
    with pytest.raises(UsageError, match="without --repeat"):
        soak(run, Chatty(), repeat=2)
