"""Logs of inspect_ai: what a call sent and got is put together, within bounds."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import discover, open_recording
from conformance.cassette.importers.recorders import inspect_log
from conformance.core.errors import CassetteError
from conformance.recordings.check import check_paths
from tests.cassette.recorder_files import ANSWER, INSPECT, QUESTION, SAMPLE
from tests.cassette.saved_files import stored


def packed(*samples: Any, name: str = "samples/{}_epoch_1.json") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for number, sample in enumerate(samples, 1):
            text = sample if isinstance(sample, str) else json.dumps(sample)
            archive.writestr(name.format(number), text)
    return buffer.getvalue()


def sample(**call: Any) -> dict[str, Any]:
    event = {"event": "model", "call": {**SAMPLE["events"][1]["call"], **call}}
    return {**SAMPLE, "events": [event]}


@pytest.mark.parametrize("data", [packed(SAMPLE), json.dumps(INSPECT)])
def test_what_a_call_refers_to_is_put_back(tmp_path: Path, data: bytes | str) -> None:
    name = "log.eval" if isinstance(data, bytes) else "log.json"
    path = stored(tmp_path, name, data)
    assert discover(tmp_path) == (path,)
    recording = open_recording(path)
    [exchange] = recording.exchanges
    assert recording.kind == "inspect"
    assert json.loads(exchange.body) == {**ANSWER, "id": "chatcmpl-1"}
    assert exchange.request is not None
    assert exchange.request.json == QUESTION


@pytest.mark.parametrize("ranges", [[[0]], [[0, -1]], [["a", 2]], [None]])
def test_a_call_that_names_no_range_costs_itself(tmp_path: Path, ranges: list[Any]) -> None:
    log = packed(sample(call_refs=ranges), SAMPLE)
    recording = open_recording(stored(tmp_path, "log.eval", log))
    assert len(recording.exchanges) == 1
    assert any("it names no range of the calls" in note for note in recording.notes)


@pytest.mark.parametrize(
    "broken", ["{", "[]", '{"events": 1}', '{"events": [1, "model"]}', "[" * 9999]
)
def test_a_sample_that_cannot_be_read_costs_itself(tmp_path: Path, broken: str) -> None:
    recording = open_recording(stored(tmp_path, "log.eval", packed(broken, SAMPLE)))
    assert len(recording.exchanges) == 1


def test_what_is_too_large_unpacked_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len(json.dumps(SAMPLE))
    monkeypatch.setattr(inspect_log, "MAX_IMPORT", 2 * size)
    bomb = json.dumps({"events": [], "more": "0" * 100_000})
    recording = open_recording(stored(tmp_path, "a.eval", packed(SAMPLE, bomb)))
    assert len(recording.exchanges) == 1
    assert any("bytes unpacked" in note for note in recording.notes)
    monkeypatch.setattr(inspect_log, "MAX_IMPORT", 8 * size)
    large = sample(response={**ANSWER, "more": ["attachment://0123"] * 5})
    large["attachments"] = {"0123": "0" * (2 * size)}
    recording = open_recording(stored(tmp_path, "b.eval", packed(SAMPLE, large)))
    assert len(recording.exchanges) == 1
    assert any("what it refers to" in note for note in recording.notes)


def packed_by_zstd(*samples: bytes) -> bytes:
    """As inspect_ai 0.3.285 packs; zipfile cannot write that before Python 3.14."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number, data in enumerate(samples, 1):
            archive.writestr(f"samples/{number}.json", data)
    data = buffer.getvalue()
    for head, method in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        for at in [each.start() for each in re.finditer(head, data)]:
            data = data[: at + method] + b"\x5d\0" + data[at + method + 2 :]
    return data


def test_samples_may_be_packed_by_zstd(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    sample = zstandard.ZstdCompressor().compress(json.dumps(SAMPLE).encode())
    log = packed_by_zstd(sample, b"no zstd", sample[:-9])
    recording = open_recording(stored(tmp_path, "log.eval", log))
    assert len(recording.exchanges) == 1
    assert any("broken entries were skipped: 2" in note for note in recording.notes)


def test_a_log_that_cannot_be_unpacked_says_so(tmp_path: Path) -> None:
    path = stored(tmp_path, "log.eval", packed_by_zstd(b"no zstd"))
    with pytest.raises(CassetteError, match="cannot be unpacked"):
        open_recording(path)
    [error] = check_paths([tmp_path]).errors
    assert "cannot be unpacked" in str(error)


def test_an_archive_that_is_cut_is_broken(tmp_path: Path) -> None:
    path = stored(tmp_path, "log.eval", packed(SAMPLE)[:-30])
    with pytest.raises(CassetteError, match="broken archive"):
        open_recording(path)


def test_an_archive_without_calls_is_no_recording(tmp_path: Path) -> None:
    stored(tmp_path, "log.eval", packed({"events": [{"event": "sample_init"}]}))
    assert discover(tmp_path) == ()
