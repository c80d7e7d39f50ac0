"""The shipped cassettes: every rule is kept by one and broken by another, and they say so."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from zlib import crc32

import pytest

from conformance.baseline.applying import apply_baseline
from conformance.baseline.entries import Baseline, load_baseline
from conformance.cassette import Recording, open_recording
from conformance.core.shipped import cassettes, specs
from conformance.judging.hop_rules import HOP_RULES
from conformance.judging.result import Report
from conformance.judging.suites import load_suites
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.rules.verdicts import Verdict
from tests.authoring.catalogue import good, mutants
from tests.authoring.draft import RECORDED, SUFFIX, Draft, write
from tests.rulebooks import rulebook

PROFILES = tuple(folder for folder in (cassettes() / "profiles",) if folder.is_dir())
"""Profiles that only these cassettes need."""
RECORDINGS = sorted(cassettes().rglob(f"{RECORDED}*{SUFFIX}"))
RULES = (*(rule.id for suite in load_suites() for rule in suite.rules), *(r.id for r in HOP_RULES))


@cache
def recording(name: str) -> Recording:
    return open_recording(cassettes() / f"{name}{SUFFIX}")


def names(drafts: tuple[Draft, ...]) -> list[str]:
    return [draft.name for draft in drafts]


def judged(held: Recording) -> Report:
    choices = CheckChoices(folders=PROFILES)
    return Report(tuple(check_recording(held, rulebook(), choices)))


@cache
def report(name: str) -> Report:
    return judged(recording(name))


def failing(found: Report) -> set[str]:
    return {rule for rule, verdict in found.verdicts.items() if verdict is Verdict.FAIL}


def test_good_cassettes_keep_every_rule() -> None:
    offenders = {
        name: [finding.message for finding in report(name).findings]
        for name in names(good())
        if report(name).findings or Verdict.ERROR in report(name).verdicts.values()
    }
    assert offenders == {}


def test_every_rule_is_kept_by_a_good_cassette() -> None:
    kept = {
        rule
        for name in names(good())
        for rule, verdict in report(name).verdicts.items()
        if verdict is Verdict.PASS
    }
    assert sorted(set(RULES) - kept) == []


def test_every_rule_has_a_mutant_that_is_to_break_it() -> None:
    """That it does is shown with all other mutants."""
    broken = {name: next(iter(recording(name).header.expect)) for name in names(mutants())}
    assert [rule for rule in RULES if broken.get(f"mutants/{rule}") != rule] == []


@pytest.mark.every_run
@pytest.mark.parametrize("share", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_mutants_fail_as_they_say(share: int) -> None:
    offenders = {
        name: sorted(failing(report(name)) ^ set(recording(name).header.expect))
        for name in names(mutants())
        if crc32(name.encode()) % 3 == share
        if failing(report(name)) != set(recording(name).header.expect)
        or Verdict.ERROR in report(name).verdicts.values()
    }
    assert offenders == {}


@pytest.mark.every_run
def test_base_of_a_mutant_keeps_what_the_mutant_breaks() -> None:
    offenders = {
        name: broken
        for name in names(mutants())
        for header in [recording(name).header]
        for verdicts in [report(str(header.extra["base"])).verdicts]
        for broken in [[rule for rule in header.expect if verdicts[rule] is Verdict.FAIL]]
        if broken or verdicts[next(iter(header.expect))] is not Verdict.PASS
    }
    assert offenders == {}


def test_every_shipped_cassette_is_written_by_the_authoring() -> None:
    shipped = {
        path.relative_to(cassettes()).as_posix().removesuffix(SUFFIX)
        for path in cassettes().rglob(f"*{SUFFIX}")
        if not path.name.startswith(RECORDED)
    }
    assert shipped == {*names(good()), *names(mutants())}


@pytest.mark.parametrize("system", sorted({path.parent.name for path in RECORDINGS}))
def test_recordings_of_a_real_server_show_its_known_faults_and_no_other(system: str) -> None:
    held = [open_recording(path) for path in RECORDINGS if path.parent.name == system]
    found = Report(tuple(stream for each in held for stream in judged(each).streams))
    assert {each.header.origin for each in held} == {"live"}
    assert all(each.header.profile for each in held)
    assert Verdict.ERROR not in found.verdicts.values()
    known = specs() / "baselines" / f"{RECORDED}{system}.yaml"
    expected = apply_baseline(
        found, load_baseline(known) if known.is_file() else Baseline("no known faults")
    )
    assert expected.baseline is not None
    assert expected.baseline.stale == ()
    assert [(each.rule, each.message) for each in expected.unexpected] == []


@pytest.mark.every_run
def test_authoring_writes_the_same_bytes_again(tmp_path: Path) -> None:
    offenders = [
        draft.name
        for draft in (*good(), *mutants())
        if write(draft, tmp_path).read_bytes()
        != (cassettes() / f"{draft.name}{SUFFIX}").read_bytes()
    ]
    assert offenders == [], "`make cassettes` writes them; a git diff shows what is different"


def test_there_are_chunks_that_end_inside_a_character() -> None:
    chunks = recording("openai.chat/llamacpp/split-characters").exchanges[0].chunks
    assert any(chunk.data[-1] >= 0xC0 for chunk in chunks)
