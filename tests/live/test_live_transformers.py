"""`transformers serve` under `conformance run`: its faults are found, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.judging import faults, listed, run
from tests.live.systems import Live, transformers_serve

pytestmark = pytest.mark.live

MARKERS = "stripping/visible-text/no-markers"
PARTS = "wire/responses-parts/raw-part-lifecycle"


def arguments(live: Live, profile: str = "transformers-serve") -> tuple[str, ...]:
    return ("--url", live.url, "--model", live.model, "--profile", profile)


def test_its_faults_are_found_and_no_other(work: Path, tmp_path: Path) -> None:
    with transformers_serve(work) as live:
        judged = run(*arguments(live), save=tmp_path / "named")
        strict = run(
            *arguments(live, "strict"),
            *("--api", "responses", "--scenario", "think"),
            save=tmp_path / "strict",
        )
    assert judged.found == listed("transformers-serve")
    assert "scenario/ending" in judged.rules
    # The profile permits thinking without content parts; who goes by the letter hears of it.
    assert PARTS in strict.rules
    assert PARTS not in judged.rules


def test_markers_that_are_special_tokens_leak(work: Path, tmp_path: Path) -> None:
    bracketed = work / "bracket"
    bracketed.mkdir()
    with transformers_serve(bracketed, "bracket") as live:
        judged = run(*arguments(live), save=tmp_path)
    assert judged.found == listed("transformers-serve-bracket")
    assert {api for rule, api, _ in judged.found if rule == MARKERS} == {
        "openai.chat",
        "openai.responses",
    }


@pytest.mark.parametrize("name", ["transformers-serve", "transformers-serve-bracket"])
def test_every_fault_of_the_table_is_shown_by_a_rule(name: str) -> None:
    assert all(faults(name).values())
