"""Of two faults that an application has, each keeps a finding of its own."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Final

import pytest

from tests.fakes.application import Application, Fault
from tests.runs.test_run_application import FAULTS, ran, violated

# One rule of the first may follow from the second; it is below that, and no more.
PAIRS: Final[tuple[tuple[Fault, Fault], ...]] = tuple(combinations(FAULTS, 2))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_two_planted_faults_are_two_findings(one: Fault, other: Fault, tmp_path: Path) -> None:
    found = violated(ran(Application(faults=frozenset({one, other})), tmp_path).report)
    assert found & (FAULTS[one] - FAULTS[other])
    assert found & (FAULTS[other] - FAULTS[one])
