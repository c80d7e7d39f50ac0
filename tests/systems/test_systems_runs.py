"""Every preset, run: its requirements come to what is expected, other profiles to what is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace

from conformance.rules.verdicts import Verdict
from conformance.systems import Preset, Requirement, System, find_system, system_names, verdict_of
from tests.systems import matrix
from tests.systems.runs import Ran, presets

Run = Callable[[Preset, str], Ran]

EXERCISED = frozenset({Verdict.PASS, Verdict.FAIL})
SYSTEMS = tuple(find_system(name) for name in system_names())
OWN = [(system, preset) for system in SYSTEMS for preset in system.presets]
FOREIGN = [
    (preset, profile)
    for side in matrix.SIDES
    for preset, profile in matrix.cells(side)
    if preset.profile != profile
]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with presets() as run:
        yield run


@pytest.mark.one_in(40)
@pytest.mark.parametrize(
    ("system", "preset"), OWN, ids=[f"{system.name}-{preset.name}" for system, preset in OWN]
)
def test_preset_meets_what_its_system_asks_for(system: System, preset: Preset, run: Run) -> None:
    ran = run(preset, preset.profile)
    asked = [each for each in system.requirements if preset in each.presets and each.rules]
    assert asked
    came = {each.id: verdict_of(each, ran.streams) for each in asked}
    assert came == {each.id: each.verdict for each in asked}
    assert ran.broken == frozenset()


@pytest.mark.long
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_rule_of_a_requirement_is_exercised(system: System, run: Run) -> None:
    idle = [
        (each.id, rule)
        for each in system.requirements
        for rule in each.rules
        if EXERCISED.isdisjoint(verdicts(each, rule, run))
    ]
    assert idle == []


def verdicts(requirement: Requirement, rule: str, run: Run) -> set[Verdict | None]:
    """Those of one rule, over the presets that show the requirement."""
    alone = replace(requirement, rules=(rule,))
    shown = ((each, each.profile) for each in requirement.presets)
    return {verdict_of(alone, run(*cell).streams) for cell in shown}


@pytest.mark.long
@pytest.mark.parametrize(
    ("preset", "profile"),
    FOREIGN,
    ids=[f"{preset.name}-by-{profile}" for preset, profile in FOREIGN],
)
def test_preset_breaks_a_contradicting_profile(preset: Preset, profile: str, run: Run) -> None:
    assert run(preset, profile).broken == matrix.contradictions().failing(preset.name, profile)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_judged_requirement_is_shown_by_a_preset(system: System) -> None:
    assert [each.id for each in system.requirements if each.rules and not each.presets] == []


def test_page_is_what_the_runs_report() -> None:
    text = "stale: python -m tests.systems.matrix"
    assert matrix.PAGE.read_text(encoding="utf-8") == matrix.page(matrix.declared()), text


def test_no_system_contradicts_itself() -> None:
    broken = {cell for cell, rules in matrix.declared().items() if rules}
    assert {cell for cell in broken if cell[0] == cell[1]} == set()
