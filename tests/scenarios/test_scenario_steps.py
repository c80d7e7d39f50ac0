"""A user's own request becomes a scenario that sends it as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.core.errors import SpecError, UsageError
from conformance.rules import document
from conformance.scenarios import Scenario, own_request
from conformance.scenarios.load import read_scenario


def test_a_body_is_one_step_of_its_dialect(tmp_path: Path) -> None:
    path = tmp_path / "My request.json"
    path.write_text('{"model": "m", "stream": true}')
    scenario = own_request(path, "openai.chat")
    (step,) = scenario.steps_for("openai.chat")
    assert scenario.name == "my-request"
    assert step.bodies["openai.chat"] == {"model": "m", "stream": True}
    assert scenario.steps_for("openai.responses") == ()


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"[", "no JSON"), (b"[1]", "expected a JSON object"), (b"\xff", "no JSON")],
)
def test_bad_body_is_reported_with_its_file(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=message) as caught:
        own_request(path, "openai.chat")
    assert str(path) in str(caught.value)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        own_request(tmp_path / "none.json", "openai.chat")


STEPS = """\
scenario: own
title: Several requests
steps:
  - {{role: one, openai.responses: {{model: $model, input: Hello}}}}
  - {{role: two, like: one, after: one, openai.responses: {{previous_response_id: $response}}}}
  - {{role: three, like: one, {}}}
"""


def read(more: str) -> Scenario:
    return read_scenario(document.parse(STEPS.format(more), "own.yaml"))


def test_a_step_names_what_is_asked_next_to_it() -> None:
    assert read("beside: [one, one]").steps[2].beside == ("one", "one")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("beside: []", "expected 1 to 16 roles, got 0"),
        ("beside: [three]", "no earlier step has the role 'three'"),
        ("beside: [two]", "a step that continues another one is not sent again"),
        ("openai.responses: {previous_response_id: $response}", "nothing is called '$response'"),
    ],
)
def test_what_cannot_be_asked_is_refused(more: str, reason: str) -> None:
    with pytest.raises(SpecError, match=reason.replace("$", r"\$")) as refused:
        read(more)
    assert refused.value.place is not None
