"""A message of the phase commentary is said on the way: more thinking may come after it."""

from __future__ import annotations

import pytest

import conformance
from conformance.rules.verdicts import Verdict
from tests.authoring.pieces import encoded
from tests.authoring.responses import stream, thinking_again

ORDER = ("thinking/stream/before-text", "wire/responses/reasoning-before-message")


@pytest.mark.parametrize(
    ("phase", "verdict"), [("commentary", Verdict.PASS), ("final_answer", Verdict.FAIL)]
)
def test_thinking_comes_after_a_commentary_only(phase: str, verdict: Verdict) -> None:
    chunks = map(encoded, stream(thinking_again(phase)))
    report = conformance.Checker("openai.responses").check(chunks)

    assert {report.verdicts[rule] for rule in ORDER} == {verdict}
