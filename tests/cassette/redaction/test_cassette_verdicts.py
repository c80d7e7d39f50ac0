"""Redaction changes no verdict but of rules that the recording names; these are neither."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from conformance.cassette import Cassette, open_recording, redact, write
from conformance.core.errors import ConformanceError
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.redaction import redact_evidence
from conformance.rules.verdicts import Verdict
from tests.sampled import of_every_kind

SHIPPED = of_every_kind()


@cache
def rulebook() -> Rulebook:
    return Rulebook.load()


def verdicts(cassette: Cassette, path: Path) -> Sequence[Mapping[str, Verdict]]:
    write(path, cassette, seal=False)
    results = check_recording(open_recording(path), rulebook(), CheckChoices())
    return [stream.verdicts for stream in results]


def compare(paths: Sequence[Path], folder: Path) -> None:
    target = folder / "a.cassette.jsonl"
    for path in paths:
        try:
            original = open_recording(path).cassette
            clean = redact_evidence(original)
            if clean == original:
                continue  # the same recording has the same verdicts
            expected = verdicts(original, target)
        except ConformanceError:
            continue  # of a dialect that nobody knows
        touched = {rule for exchange in clean.exchanges for rule in exchange.touched}
        for before, after in zip(expected, verdicts(clean, target), strict=True):
            differ = {rule for rule in before if before[rule] is not after[rule]}
            assert differ <= touched, path
            assert not {after[rule] for rule in differ} & {Verdict.PASS, Verdict.FAIL}, path
        assert [each.chunks for each in redact(clean).exchanges] == [
            each.chunks for each in clean.exchanges
        ], path


@pytest.mark.one_in(9)
@pytest.mark.parametrize("part", range(9))
def test_all_shipped_cassettes_keep_their_verdicts(part: int, tmp_path: Path) -> None:
    compare(SHIPPED[part::9], tmp_path)


@pytest.mark.captures
@pytest.mark.one_in(9)
@pytest.mark.parametrize("part", range(9))
@pytest.mark.skipif(
    "CONFORMANCE_CAPTURES" not in os.environ, reason="CONFORMANCE_CAPTURES is not set"
)
def test_real_recordings_keep_their_verdicts(part: int, tmp_path: Path) -> None:
    folder = Path(os.environ["CONFORMANCE_CAPTURES"])
    compare(sorted([*folder.rglob("*.sse"), *folder.rglob("*.jsonl")])[part::9], tmp_path)
