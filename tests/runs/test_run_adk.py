"""The server of ADK between two halves of the toolkit, in front of a played Gemini API."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cassette import read
from tests.fakes.adk_application import AdkApplication, Fault
from tests.plain_results import violated
from tests.runs.test_run_application import ran

PROTOCOL = "google.adk"
ENDS = "app-failures"


def test_a_right_agent_has_no_finding_and_every_gemini_scenario_is_run(tmp_path: Path) -> None:
    assert violated(ran(AdkApplication(), tmp_path, PROTOCOL).report) == set()
    taken = {path.name.partition(".")[0] for path in tmp_path.rglob("*.cassette.jsonl")}
    assert taken == {
        *("app-answer", "app-cut-in-thinking", "app-failures", "app-json", "app-length"),
        *("app-parts", "app-stop", "app-tools", "app-two-calls"),
    }


@pytest.mark.parametrize(
    ("fault", "scenario", "rules"),
    [
        ("unmarked-thoughts", "app-answer", {"hop/text"}),
        ("cut-as-answer", ENDS, {"hop/failure-no-success", "wire/adk/finish-stated"}),
        (
            "doubled-aggregate",
            "app-answer",
            {"wire/adk/whole-keeps-text", "wire/adk/whole-keeps-thoughts"},
        ),
    ],
)
def test_fault_is_found(fault: Fault, scenario: str, rules: set[str], tmp_path: Path) -> None:
    application = AdkApplication(faults=frozenset({fault}))
    report = ran(application, tmp_path, PROTOCOL, scenarios=(scenario,)).report
    assert rules <= violated(report)


def test_a_session_is_asked_what_is_new_alone(tmp_path: Path) -> None:
    application = AdkApplication()
    ran(application, tmp_path, PROTOCOL, scenarios=("app-answer",))
    (path,) = tmp_path.rglob("app-answer.cassette.jsonl")
    asked = [
        each.request.json for each in read(path).exchanges if each.hop == "app" and each.request
    ]
    first, second = asked
    assert first["sessionId"] == second["sessionId"]
    assert [part["text"] for part in second["newMessage"]["parts"]] == ["And what is twice that?"]
    history = application.sessions[first["sessionId"]]
    assert [each["role"] for each in history] == ["user", "model", "user", "model"]
