"""Applications of real packages under `conformance run --app`: known faults, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.applications.hosting import BASELINES, LiveApplication, applications

pytestmark = pytest.mark.live


@pytest.mark.parametrize("application", applications(), ids=lambda each: each.target)
def test_its_findings_are_the_known_ones(application: LiveApplication, tmp_path: Path) -> None:
    known = BASELINES / f"{application.target}.yaml"
    if not known.is_file():
        assert application.run(tmp_path).found == frozenset()
        return
    judged = application.run(tmp_path, "--expected-failures", str(known))
    assert judged.report["stale"] == []
    assert judged.code == 0, sorted(judged.found)
