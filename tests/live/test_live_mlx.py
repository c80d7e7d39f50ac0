"""mlx-lm's server under `conformance run`: a call in the visible text, and no alarm else."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from tests.live.judging import run
from tests.live.systems import Live

pytestmark = pytest.mark.live

# Its parsers of tool calls know no template like that of this model.
CALL_IN_TEXT = "stripping/visible-text/no-call-markers"


def test_only_the_markers_of_calls_are_found(mlx: Live, tmp_path: Path) -> None:
    target = ("--url", mlx.url, "--model", mlx.model)
    judged = run(*target, "--api", "chat", "--profile", "mlx-lm", save=tmp_path)
    assert judged.rules == {CALL_IN_TEXT}
    assert judged.code == 0
    assert "thinking/stream/before-text" in judged.passed


def test_it_is_recognised_without_a_name(mlx: Live, tmp_path: Path) -> None:
    target = ("--url", mlx.url, "--model", mlx.model)
    judged = run(*target, "--api", "chat", "--scenario", "think", save=tmp_path)
    assert {stream["profile"] for stream in judged.report["streams"]} == {"mlx-lm"}
    assert judged.found == frozenset()


def test_the_recordings_are_judged_alike(mlx: Live, tmp_path: Path) -> None:
    where = ("--url", mlx.url, "--model", mlx.model, "--profile", "mlx-lm")
    judged = run(*where, "--api", "chat", "--scenario", "length", save=tmp_path)
    again = check_paths([tmp_path])
    assert {rule for rule, won in again.verdicts.items() if won is Verdict.PASS} == judged.passed
