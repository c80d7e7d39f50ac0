"""Fixtures of Opal: payloads of events as JSON inside strings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import discover, import_file, open_recording
from conformance.cassette.read import read
from conformance.cli import main

CREATED = '{"type":"response.created"}'
DELTA = {"choices": [{"index": 0, "delta": {"content": "4."}}], "id": "m1"}
STOP = {"choices": [{"finish_reason": "stop", "index": 0, "delta": {"content": None}}], "id": "m1"}
SECRET = "sk-proj-" + "a1B2" * 6


def fixture(folder: Path, *texts: str, name: str = "a.json", **fields: Any) -> Path:
    value = {
        "description": "a plain answer",
        "events": [{"data": text} for text in texts],
        "recorded_at": "2026-02-13T09:48:34Z",
        **fields,
    }
    path = folder / name
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return path


def body(path: Path) -> str:
    [exchange] = import_file(path).exchanges
    return exchange.body.decode()


def test_a_fixture_is_known_by_its_shape(tmp_path: Path) -> None:
    recording = open_recording(fixture(tmp_path, CREATED), dialect="openai.responses")
    header = recording.header
    assert (recording.kind, header.origin, header.fidelity) == ("opal", "imported", "events")
    assert header.recorded_at == "2026-02-13T09:48:34Z"
    assert header.extra == {"description": "a plain answer"}
    [exchange] = recording.exchanges
    assert exchange.request is None
    assert exchange.dialect == "openai.responses"


def test_every_event_is_framed_and_found_again(tmp_path: Path) -> None:
    path = fixture(tmp_path, CREATED, "[1]", '{"broken": "tex', "two\r\nlines")
    first = 'event: response.created\ndata: {"type":"response.created"}\n\n'
    frames = [first, "data: [1]\n\n", 'data: {"broken": "tex\n\n', "data: two\ndata: lines\n\n"]
    assert body(path) == "".join(frames)
    starts = [0, *(len("".join(frames[:n])) for n in (1, 2, 3))]
    lines = path.read_text(encoding="utf-8").splitlines()
    found = open_recording(path).locate(1, starts)
    assert [lines[line].split('"')[1] for line in found] == ["data"] * 4
    assert found == [4, 7, 10, 13]


def test_events_on_one_line_are_all_there(tmp_path: Path) -> None:
    path = fixture(tmp_path, CREATED, CREATED)
    path.write_text(json.dumps(json.loads(path.read_text())), encoding="utf-8")
    assert open_recording(path).locate(1, [0, 70]) == [1, 1]


def test_a_finished_answer_gets_the_end_that_was_left_out(tmp_path: Path) -> None:
    path = fixture(tmp_path, json.dumps(DELTA), json.dumps(STOP))
    assert body(path).endswith("data: [DONE]\n\n")
    assert any("[DONE]" in note for note in import_file(path).notes)
    assert "[DONE]" not in body(fixture(tmp_path, json.dumps(DELTA)))


@pytest.mark.parametrize("recorded", ["x" * 100, 5, None])
def test_an_odd_time_is_left_out(tmp_path: Path, recorded: Any) -> None:
    assert import_file(fixture(tmp_path, CREATED, recorded_at=recorded)).header.recorded_at is None


def test_without_events_it_is_no_fixture(tmp_path: Path) -> None:
    assert open_recording(fixture(tmp_path)).kind == "json"


@pytest.mark.parametrize("events", [[{"data": {}}], [{"data": CREATED}, 5], "x", [{}]])
def test_what_only_looks_like_one_is_a_body(tmp_path: Path, events: Any) -> None:
    assert open_recording(fixture(tmp_path, events=events)).kind == "json"


def test_folders_are_searched_for_fixtures(tmp_path: Path) -> None:
    fixture(tmp_path, CREATED)
    fixture(tmp_path, events=[{"data": {"a": 1}}], name="webhook.json")
    (tmp_path / "package.json").write_text('{"name": "x"}')
    assert [path.name for path in discover(tmp_path)] == ["a.json"]


def test_a_fixture_becomes_a_clean_cassette(tmp_path: Path) -> None:
    payload = json.dumps({**DELTA, "safety_identifier": "jo-4711-jo-4711", "note": SECRET})
    source, target = fixture(tmp_path, payload), tmp_path / "a.cassette.jsonl"
    assert main(["convert", str(source), str(target), "--dialect", "openai.chat"]) == 0
    assert read(target).header.extra == {"description": "a plain answer"}
    assert SECRET not in target.read_text()
    assert "jo-4711" not in target.read_text()
