"""Reasons of verdicts are true of the events, over real recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.captures.test_subjects import OTHER
from tests.rules.test_reasons import check_reasons

pytestmark = pytest.mark.captures


@pytest.mark.slow
def test_reasons_are_true_of_real_recordings(
    monkeypatch: pytest.MonkeyPatch, captures: Path
) -> None:
    files = sorted(path for path in captures.rglob("*") if path.is_file())
    check_reasons(monkeypatch, [path for path in files if not path.name.endswith(OTHER)])
