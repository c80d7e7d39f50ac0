"""Harmless variations of real recordings raise nothing new."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from conformance.judging.rulebook import Rulebook
from conformance.mutate import OPERATORS, make_mutants, open_base
from conformance.mutate.allowances import Allowance, load_allowances
from tests.tables import read_table

TABLE: list[dict[str, Any]] = read_table(Path(__file__).parents[1] / "captures" / "table.yaml")
# A long recording has nothing that a short one has not, and takes its time.
MOST_BYTES = 200_000

pytestmark = pytest.mark.captures


@pytest.fixture(scope="module")
def folder() -> Path:
    name = os.environ.get("CONFORMANCE_CAPTURES")
    if not name:
        pytest.skip("CONFORMANCE_CAPTURES names no folder of recordings")
    return Path(name)


@pytest.fixture(scope="module")
def rulebook() -> Rulebook:
    return Rulebook.load()


@pytest.fixture(scope="module")
def gaps() -> tuple[Allowance, ...]:
    return tuple(each for each in load_allowances() if each.missing)


@pytest.mark.one_in(20)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: str(row["file"]))
def test_what_must_pass_raises_nothing(
    row: dict[str, Any], folder: Path, rulebook: Rulebook, gaps: tuple[Allowance, ...]
) -> None:
    path = folder / row["file"]
    if path.stat().st_size > MOST_BYTES:
        pytest.skip("long")
    recording = open_base(path, profile=row["profile"])
    known = recording.judge(rulebook).failing
    alarms: dict[str, list[str]] = {}
    for stream in recording.streams():
        for operator in OPERATORS:
            if operator.must != "pass" or any(g.fits(operator.name, row["file"]) for g in gaps):
                continue
            for mutant in make_mutants(operator, stream, most=1, seed=len(alarms)):
                if new := recording.judge(rulebook, mutant.exchange).failing - known:
                    alarms[mutant.name] = sorted(new)
    assert alarms == {}
