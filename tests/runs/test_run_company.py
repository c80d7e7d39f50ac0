"""Steps that are not alone: others beside them, an opt-in in the body, a response that is named."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.result import Report
from conformance.rules.verdicts import Verdict
from conformance.runs import RunOptions, plan_requests
from conformance.scenarios import load_scenarios
from reference_impl.server.app import application
from reference_impl.server.service import Service
from reference_impl.server.settings import LIKENESSES
from tests.fakes.chatty import Chatty
from tests.reference.actor import Actor
from tests.runs.conftest import Runner

SAME_TEXT = "stripping/routing/same-text-in-company"
SANITY = 3


def test_others_are_asked_next_to_a_step_and_not_judged(run: Runner) -> None:
    server = Chatty()
    report = run(server, "company").report
    assert report.verdicts[SAME_TEXT] is Verdict.PASS
    assert [s.role for s in report.streams if s.scenario == "company"] == [
        "alone",
        "other",
        "among",
    ]
    assert len(server.asked) == SANITY + 3 + 3


def test_what_was_next_to_a_step_is_known(run: Runner) -> None:
    company = {s.role: s.beside for s in run(Chatty(), "company").report.streams}
    assert (company["alone"], company["other"], company["among"]) == (0, 0, 3)
    wide = run(Chatty(), "company", jobs=4).report.streams
    assert {s.role: s.beside for s in wide if s.scenario == "company"}["among"] == 6
    soak = run(Chatty(), "company", jobs=4, repeat=2).report.streams
    assert [s.beside for s in soak if s.role == "alone"] == [0, 3]


def test_plan_counts_requests_next_to_steps() -> None:
    plan = plan_requests(load_scenarios(["company"]), "openai.chat", RunOptions("m"))
    assert plan.request_count == SANITY + 3 + 3


def test_a_server_that_mixes_up_its_streams_is_found(run: Runner) -> None:
    report = run(Chatty(mixed_up=True), "company").report
    assert "stripping/routing" in {f.rule.rpartition("/")[0] for f in report.findings}


def test_the_requests_of_a_run_end_also_next_to_a_step(run: Runner) -> None:
    outcome = run(Chatty(), "company", max_requests=SANITY + 3)
    assert any("--max-requests" in note for note in outcome.report.notes)


def test_an_opt_in_goes_where_the_profile_says(run: Runner) -> None:
    server = Chatty()
    run(server, "opt-in", profile="neuron-may-field")
    asked = [
        (body.get("extra"), "x-include-thinking" in headers)
        for body, headers in zip(server.asked, server.headers, strict=True)
    ]
    assert [each for each in asked[2:-1] if each[1]] == []
    shown = [extra["include_thinking"] for extra, _ in asked if extra]
    assert shown == [True, True, False, True]


@pytest.mark.parametrize(
    ("preset", "role"), [("ogx-streamed", "remembered"), ("neuron-may", "not-remembered")]
)
def test_a_response_is_named_by_its_id(run: Runner, preset: str, role: str) -> None:
    app: Any = application(Service(Actor(), LIKENESSES[preset]))
    options = {"model": "actor", "dialects": ("openai.responses",), "profile": preset}
    report: Report = run(app, "stored-turn", **options).report
    (stream,) = [each for each in report.streams if each.role == role]
    assert stream.verdicts["scenario/ending"] is Verdict.PASS
