"""Shipped baselines describe the recorded systems exactly: one entry more or less fails."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.baseline.applying import apply_baseline
from conformance.baseline.entries import load_baseline
from conformance.core.shipped import specs
from conformance.judging.result import Report
from conformance.recordings.check import check_paths

# Folder of recordings, named as the baseline is -> the profile it is judged by.
SYSTEMS = {
    "ogx-1.5.0": "ogx",
    "transformers-serve-5.23": "transformers-serve",
    "apps/vercel-ai-5.0.277": "ai-5",
}

pytestmark = pytest.mark.captures


@cache
def judged(folder: Path, profile: str) -> Report:
    return check_paths([folder], profile=profile)


def baseline_of(system: str) -> Path:
    return specs() / "baselines" / f"{Path(system).name}.yaml"


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_violation_is_expected(system: str, captures: Path) -> None:
    report = judged(captures / system, SYSTEMS[system])
    expected = apply_baseline(report, load_baseline(baseline_of(system)))
    assert expected.baseline is not None
    assert expected.baseline.stale == ()
    assert [(each.rule, each.event) for each in expected.unexpected] == []
    assert expected.exit_code(strict=True) == 0


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_one_entry_more_or_less_fails(system: str, captures: Path) -> None:
    report = judged(captures / system, SYSTEMS[system])
    baseline = load_baseline(baseline_of(system))
    assert baseline.entries
    for number, entry in enumerate(baseline.entries):
        fewer = baseline.entries[:number] + baseline.entries[number + 1 :]
        more = (*baseline.entries, replace(entry, exchange="another"))
        for entries in (fewer, more):
            assert apply_baseline(report, replace(baseline, entries=entries)).exit_code() == 1, (
                entry
            )
