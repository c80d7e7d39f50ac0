"""What a profile permitted is told in one line each, and only what was really met."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cassette import open_recording
from conformance.core.shipped import cassettes
from conformance.judging.result import Report
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.report.files import render
from conformance.report.permitted import permission_lines

SHIPPED = cassettes()


def permitted_lines(*paths: Path, profile: str | None = None) -> list[str]:
    rulebook = Rulebook.load()
    choices = CheckChoices(profile=profile)
    recordings = [open_recording(path) for path in paths]
    checked = [(each, check_recording(each, rulebook, choices)) for each in recordings]
    return list(permission_lines(checked, rulebook))


OGX = SHIPPED / "openai.responses/ogx/live-think.cassette.jsonl"
SERVE = SHIPPED / "openai.responses/transformers-serve/live-think.cassette.jsonl"


def test_a_knob_that_was_met_is_reported_with_its_evidence_and_what_strict_says() -> None:
    line, _ = permitted_lines(OGX)
    assert line.startswith("permitted by profile ogx (openai.responses): event_lines: absent; ")
    assert "met in 1 stream; the profile has it from 21 of 21 recordings" in line
    assert line.endswith("Strict fails wire/responses/event-lines")


def test_streams_are_counted_over_recordings() -> None:
    once, twice = permitted_lines(OGX), permitted_lines(OGX, OGX)
    assert "event_lines: absent; met in 1 stream;" in once[0]
    assert "event_lines: absent; met in 2 streams;" in twice[0]


def test_missing_parts_are_a_permission() -> None:
    lines = permitted_lines(SERVE)
    assert any(": raw_parts: none; " in each for each in lines)
    assert all("permitted by profile transformers-serve" in each for each in lines)


@pytest.mark.parametrize(
    "path", [OGX, SHIPPED / "openai.responses/demo/summary.cassette.jsonl"], ids=["ogx", "demo"]
)
def test_strict_permits_nothing(path: Path) -> None:
    assert permitted_lines(path, profile="strict") == []


def test_what_the_toolkit_sent_through_a_gateway_is_nobodys() -> None:
    lines = permitted_lines(SHIPPED / "openai.responses/ogx/live-gateway-tools.cassette.jsonl")
    assert not any("(openai.chat)" in each for each in lines)


@pytest.mark.parametrize("format_", ["text", "markdown", "html", "json"])
def test_every_reader_meets_it(format_: str) -> None:
    notes = tuple(permitted_lines(OGX))
    page = render(Report(notes=notes), format_)
    assert "permitted by profile ogx" in page
    assert "21 of 21 recordings" in page
