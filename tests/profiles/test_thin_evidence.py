"""A MUST that a profile rests on few recordings is a SHOULD for its system, and says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.core import shipped
from conformance.judging.checker import Checker
from conformance.judging.result import Finding
from conformance.judging.rulebook import Rulebook
from conformance.profiles.lookup import find
from conformance.profiles.profile import KnobReason, Profile
from conformance.profiles.thin_evidence import thin_demand, thin_knobs
from conformance.rules.authority import first_tally
from conformance.rules.verdicts import Level

SENTINEL = "wire/responses/sentinel-present"
RESPONSES = "openai.responses"


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ("2 of 2 recordings", 2),
        ("30 of 30 streams of two repositories; 2 of 2 earlier ones have it", 30),
        ("OpenAI 1 of 1 resumed stream", 1),
        ("1 recording", 1),
        ("3 published answers of 2025-05 to 2026-06; its documentation", 3),
        ("7 clients and proxies describe it, 2026; no recording counted", None),
        ("1,024 of 1,024 recordings", 1024),
        ("Stated by the specification; OpenRouter 2 of 2", None),
        ("Its source; no recording", None),
        ("both documents name it", None),
    ],
)
def test_the_first_clause_counts(seen: str, expected: int | None) -> None:
    assert first_tally(seen) == expected


def backed(profile: Profile, knob: str, seen: str) -> Profile:
    return replace(profile, reasons={**profile.reasons, knob: KnobReason("b", seen)})


def demand(profile: Profile, rule: str) -> str:
    (found,) = [each for each in Rulebook.load().rules if each.id == rule]
    return thin_demand(found, profile, thin_knobs(profile))


def test_eight_recordings_back_a_must() -> None:
    openrouter = find("openrouter", RESPONSES)
    assert "done required: 7 of 7" in demand(backed(openrouter, "done", "7 of 7"), SENTINEL)
    assert demand(backed(openrouter, "done", "8 of 8"), SENTINEL) == ""
    assert demand(backed(openrouter, "done", "its documentation"), SENTINEL) == ""
    assert demand(find("strict", RESPONSES), SENTINEL) == "", "strict is all systems"


def test_what_breaks_a_client_stays_a_must() -> None:
    claude = find("claude", "bedrock.converse")
    assert "signature" in thin_knobs(claude)
    assert demand(claude, "wire/converse-blocks/signature-present") == ""


def test_what_thirty_recordings_hold_stays_a_must() -> None:
    openai = find("openai", RESPONSES)
    assert "reasoning_tokens" in thin_knobs(openai)
    assert demand(openai, "wire/responses-items/usage-details") == ""


def test_documents_of_a_client_are_not_thin() -> None:
    for profile in ("opal", "openhands-sdk"):
        assert thin_knobs(find(profile, "openai.chat")) == frozenset()


def without_sentinel(profile: str) -> Finding:
    path = shipped.cassettes() / RESPONSES / "demo" / "summary.cassette.jsonl"
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    chunks = [line["text"].encode() for line in lines if "text" in line]
    result = Checker(RESPONSES, profile).check(chunks)
    return next(each for each in result.findings if each.rule == SENTINEL)


def test_a_finding_says_why_its_level_is_lower(tmp_path: Path) -> None:
    thin = without_sentinel("openrouter")
    assert thin.level is Level.SHOULD
    assert any("few recordings back it for openrouter" in str(each) for each in thin.source)

    mine = tmp_path / "mine.yaml"
    head = f"profile: mine\ndialect: {RESPONSES}\ntitle: Mine\nextends: strict\n"
    knob = 'knobs: {done: {value: required, because: "b", seen: "9 of 9 recordings"}}\n'
    mine.write_text(head + knob, encoding="utf-8")
    assert without_sentinel(str(mine)).level is Level.MUST
