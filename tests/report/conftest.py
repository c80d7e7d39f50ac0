"""Hand-made results that the renderers' tests share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.judging.result import ContextLine, Finding, StreamResult
from conformance.rules.verdicts import Level, Verdict


@pytest.fixture(scope="session")
def finding() -> Callable[..., Finding]:
    """Make a finding about a summary part that closes too early; any field can be replaced."""

    def make(**changes: Any) -> Finding:
        fields: dict[str, Any] = {
            "rule": "summary/lifecycle/part-lifecycle",
            "level": Level.MUST,
            "verdict": Verdict.FAIL,
            "event": 8,
            "line": 26,
            "byte": 2641,
            "slice": {"output_index": 0, "summary_index": 1},
            "expected": ("text.delta", "text.done"),
            "got": "part.done",
            "after": "text.delta (event 7)",
            "message": "expected text.delta or text.done after text.delta (event 7), got part.done",
            "says": "A part opens, streams text, states its text, closes.",
            "hint": "See knob summary_carrier.",
            "context": (
                ContextLine(7, "text.delta", '{"delta":"w0"}'),
                ContextLine(8, "part.done", '{"part":{}}', at=True),
                ContextLine(9, "item.done", '{"item":{}}'),
            ),
            "source": (
                {"spec": "https://example.org/spec", "quote": "A part closes once."},
                {"observed": "33 of 33 streams"},
            ),
            "id": "3f2a90",
        }
        return Finding(**(fields | changes))

    return make


@pytest.fixture(scope="session")
def stream() -> Callable[..., StreamResult]:
    """Make an exchange whose verdicts follow from its findings, unless they are given."""

    def make(*findings: Finding, **changes: Any) -> StreamResult:
        fields: dict[str, Any] = {
            "file": "ogx.cassette.jsonl",
            "exchange": 1,
            "dialect": "openai.responses",
            "profile": "ogx",
            "named": True,
            "verdicts": {each.rule: each.verdict for each in findings},
            "findings": findings,
        }
        return StreamResult(**(fields | changes))

    return make
