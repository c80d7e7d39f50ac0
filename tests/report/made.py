"""Hand-made results that the renderers' tests share."""

from __future__ import annotations

from typing import Any

from conformance.core.errors import Place
from conformance.judging.result import ContextLine, Finding, StreamResult
from conformance.rules.alias import Alias
from conformance.rules.forms.never import Never
from conformance.rules.model import Applies, Rule
from conformance.rules.verdicts import Level, Verdict


def finding(**changes: Any) -> Finding:
    """Make a finding about a summary part that closes too early; any field can be replaced."""
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
        "hint": "A profile may allow it (knob summary_carrier).",
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


def stream(*findings: Finding, **changes: Any) -> StreamResult:
    """Make an exchange whose verdicts follow from its findings, unless they are given."""
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


def rule(**changes: Any) -> Rule:
    """Make a rule that two values of a knob bring to speak; any field can be replaced."""
    fields: dict[str, Any] = {
        "id": "wire/chat/done",
        "level": Level.MUST,
        "says": "The stream ends with a [DONE] line.",
        "source": ({"spec": "https://example.org", "quote": "It ends."}, {"breaks": "a client"}),
        "since": "0.1.0",
        "form": Never(events=("done",)),
        "aliases": {"done": Alias("done", "[DONE]")},
        "place": Place("specs/wire/chat.yaml", 12),
        "applies": Applies(profile=(("done", ["required", "optional"]),)),
        "dialects": ("openai.chat",),
        "hint": "Send it last.",
        "fix": "Write the line before closing.",
    }
    return Rule(**(fields | changes))
