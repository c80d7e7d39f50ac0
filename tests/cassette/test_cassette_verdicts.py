"""Redaction changes no verdict: faults stay faults, and none is added."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from conformance.cassette import Cassette, discover, open_recording, redact, write
from conformance.core.errors import CassetteError
from conformance.recordings.api import check_cassette

ROOT = Path(__file__).resolve().parents[2] / "cassettes"
SHIPPED = sorted({*discover(ROOT), *(ROOT / "mutants").rglob("*.cassette.jsonl")})


def verdicts(cassette: Cassette, path: Path) -> Sequence[Mapping[str, object]]:
    write(path, cassette, seal=False)
    return [stream.verdicts for stream in check_cassette(path).streams]


def compare(paths: Sequence[Path], folder: Path) -> None:
    target = folder / "a.cassette.jsonl"
    for path in paths:
        try:
            original = open_recording(path).cassette
            expected = verdicts(original, target)
        except CassetteError:
            continue  # of a dialect that nobody knows
        clean = redact(original)
        assert verdicts(clean, target) == expected, path
        assert [each.chunks for each in redact(clean).exchanges] == [
            each.chunks for each in clean.exchanges
        ], path


def test_some_shipped_cassettes_keep_their_verdicts(tmp_path: Path) -> None:
    compare(SHIPPED[::8], tmp_path)


@pytest.mark.slow
def test_all_shipped_cassettes_keep_their_verdicts(tmp_path: Path) -> None:
    compare(SHIPPED, tmp_path)


@pytest.mark.captures
@pytest.mark.slow
@pytest.mark.skipif(
    "CONFORMANCE_CAPTURES" not in os.environ, reason="CONFORMANCE_CAPTURES is not set"
)
def test_real_recordings_keep_their_verdicts(tmp_path: Path) -> None:
    folder = Path(os.environ["CONFORMANCE_CAPTURES"])
    compare([*folder.rglob("*.sse"), *folder.rglob("*.jsonl")], tmp_path)
