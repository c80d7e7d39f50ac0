"""OGX under `conformance run`, in front of mlx-lm and between two halves of the toolkit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.judging import Judged, faults, listed, run
from tests.live.processes import ROOT, free_port
from tests.live.systems import SCRIPTED, Live, ogx

pytestmark = pytest.mark.live

EVENT_LINES = "wire/responses/event-lines"


@pytest.fixture(scope="module")
def behind(work: Path) -> Judged:
    """A run with OGX as a gateway; what stands behind it breaks off, too."""
    port, place = free_port(), work / "gateway"
    place.mkdir()
    with ogx(place, f"http://127.0.0.1:{port}", SCRIPTED) as live:
        target = ("--gateway", live.url, "--upstream-port", str(port), "--model", live.model)
        return run(*target, "--profile", "ogx", save=place / "saved")


def test_as_a_gateway_its_faults_are_found_and_no_other(behind: Judged) -> None:
    assert behind.found == listed("ogx-gateway")


def test_a_summary_that_fails_takes_the_answer_with_it(behind: Judged) -> None:
    """Point 5, third part: what the client saw is not in the response that failed."""
    lost = {
        (rule, where)
        for rule, api, where in behind.found
        if api == "openai.responses" and rule == "wire/responses/interrupted-items-kept"
    }
    steps = ("gateway-summary/no-worker", "gateway-summary/broken-off")
    assert {where for _, where in lost} >= set(steps)


def test_what_its_profile_permits_is_told(behind: Judged) -> None:
    """Point 6: no `event:` lines, which readers that go by `type` do not miss."""
    notes = [note for note in behind.report["notes"] if note.startswith("permitted by profile ogx")]
    assert any("event_lines: absent" in note for note in notes)


def test_recordings_of_another_server_go_through_it(work: Path) -> None:
    """Text and thinking of a recorded chat arrive; its own faults are those of every run."""
    port, place = free_port(), work / "recorded"
    place.mkdir()
    with ogx(place, f"http://127.0.0.1:{port}", SCRIPTED) as live:
        target = ("--gateway", live.url, "--upstream-port", str(port), "--model", live.model)
        recorded = str(ROOT / "cassettes/openai.chat/deepseek/thinking-then-text.cassette.jsonl")
        what = ("--cassette", recorded, "--api", "responses", "--profile", "ogx")
        judged = run(*target, *what, save=place / "saved")
    assert {"scenario/hop-text", "scenario/hop-thinking", "scenario/hop-order"} <= judged.passed
    assert judged.rules <= {rule for rule, _, _ in listed("ogx-gateway")}


def test_a_summary_costs_one_call_more(behind: Judged) -> None:
    assert "scenario/hop-calls" in behind.passed


def test_in_front_of_mlx_its_faults_are_found_and_no_other(
    ogx_on_mlx: Live, tmp_path: Path
) -> None:
    target = ("--url", ogx_on_mlx.url, "--model", ogx_on_mlx.model)
    judged = run(*target, "--profile", "ogx", save=tmp_path)
    assert judged.found == listed("ogx-on-mlx-lm")


def test_it_sends_no_event_lines(ogx_on_mlx: Live, tmp_path: Path) -> None:
    """The profile permits that; who goes by the letter hears of it."""
    target = ("--url", ogx_on_mlx.url, "--model", ogx_on_mlx.model, "--profile", "strict")
    judged = run(*target, "--api", "responses", "--scenario", "think", save=tmp_path)
    assert EVENT_LINES in judged.rules


@pytest.mark.parametrize("name", ["ogx-gateway", "ogx-on-mlx-lm"])
def test_every_fault_of_the_table_is_shown_by_a_rule(name: str) -> None:
    assert all(faults(name).values())
    numbers = {fault.partition(" ")[0] for fault in faults(name)}
    assert numbers >= {"1", "2", "3", "4", "5"}
