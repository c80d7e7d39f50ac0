"""`beside` and `$response`: what a step may have with it, and what it knows of an answer."""

from __future__ import annotations

import pytest

from conformance.core.errors import SpecError
from conformance.rules import document
from conformance.scenarios import Scenario
from conformance.scenarios.load import read_scenario

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


def test_a_step_names_what_is_asked_beside_it() -> None:
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
