"""Arrays and lines of chunks, as programs keep them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import open_recording
from conformance.core.errors import CassetteError
from conformance.recordings.check import check_paths
from tests.cassette.saved_files import CHUNK, LAST, as_event, stored, timed

LISTS: dict[str, tuple[Any, str, int]] = {
    "payloads": ([CHUNK, LAST], "chunk-array", 2),
    "texts": ([f"data: {json.dumps(CHUNK)}\n\n", "data: [DO", "NE]\n\n"], "chunk-array", 3),
    "lines": ([f"data: {json.dumps(CHUNK)}", "data: [DONE]"], "chunk-array", 2),
    "lines with blanks": ([f"data: {json.dumps(CHUNK)}", "", "data: [DONE]", ""], "chunk-array", 4),
    "payloads as texts": ([json.dumps(CHUNK), json.dumps(LAST), "[DONE]"], "chunk-array", 3),
}


@pytest.mark.parametrize("case", LISTS)
def test_arrays_of_chunks_are_put_together(tmp_path: Path, case: str) -> None:
    value, kind, chunks = LISTS[case]
    for indent in (None, 2):
        recording = open_recording(stored(tmp_path, "a.json", json.dumps(value, indent=indent)))
        [exchange] = recording.exchanges
        assert (recording.kind, len(exchange.chunks)) == (kind, chunks)
        events = exchange.body.replace(b"\r", b"").strip().split(b"\n\n")
        assert json.loads(events[0].removeprefix(b"data: ")) == CHUNK
        assert events[-1] == b"data: [DONE]"
        [report] = check_paths([recording.path]).streams
        assert report.dialect == "openai.chat"


WRAPS: dict[str, Callable[[Any], Any]] = {
    "named": lambda each: {"event": "message", "data": each},
    "named, as text": lambda each: {"event": "message", "data": json.dumps(each)},
    "numbered and named": lambda each: {"id": "7", "event": "chunk", "data": each},
    "with its direction": lambda each: {"dir": "recv", "line": each},
    "data alone": lambda each: {"data": each},
}


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("is_array", [True, False])
def test_payloads_are_unwrapped(tmp_path: Path, wrap: str, is_array: bool) -> None:
    values = [WRAPS[wrap](each) for each in (CHUNK, LAST)]
    lines = "\n".join(json.dumps(each) for each in values)
    name, text = ("a.json", json.dumps(values)) if is_array else ("a.jsonl", lines)
    recording = open_recording(stored(tmp_path, name, text))
    assert recording.kind == "wrapped-payloads"
    [exchange] = recording.exchanges
    first, last, done = exchange.body.strip().split(b"\n\n")
    sent = [json.loads(each.removeprefix(b"data: ")) for each in (first, last)]
    assert (sent, done) == ([CHUNK, LAST], b"data: [DONE]")


def test_payloads_that_are_lists_are_unwrapped(tmp_path: Path) -> None:
    """Parts of a stream as LangGraph's SDK yields them."""
    token = {"type": "AIMessageChunk", "id": "run-1", "content": "A reed", "tool_calls": []}
    parts: list[dict[str, Any]] = [
        {"event": "metadata", "data": {"run_id": "run-1", "attempt": 1}},
        {"event": "messages", "data": [token, {"langgraph_node": "agent"}]},
    ]
    values = [{"id": str(number), **each} for number, each in enumerate(parts)]
    recording = open_recording(stored(tmp_path, "a.json", json.dumps(values, indent=1)))
    assert recording.kind == "wrapped-payloads"
    [report] = check_paths([recording.path]).streams
    assert report.dialect == "langgraph"


def test_a_line_that_describes_the_file_is_no_payload(tmp_path: Path) -> None:
    about = {"agent": "reed", "captured": "2026-06-01"}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {"sessionId": "s"}}
    done = {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "end_turn"}}
    lines = [about, {"dir": "send", "line": asked}, {"dir": "recv", "line": done}]
    recording = open_recording(stored(tmp_path, "a.jsonl", "\n".join(map(json.dumps, lines))))
    [exchange] = recording.exchanges
    assert [json.loads(each.data) for each in exchange.chunks] == [asked, done]


@pytest.mark.parametrize("others", [[{"error": "overloaded"}], [{"data": 1}], [1], []])
def test_what_wraps_something_else_is_not_unwrapped(tmp_path: Path, others: list[Any]) -> None:
    path = stored(tmp_path, "a.json", json.dumps([{"data": {"a": 1}}, *others]))
    assert open_recording(path).kind == "json"


def test_one_that_failed_among_payloads_is_reported(tmp_path: Path) -> None:
    values = [*[{"data": CHUNK}] * 20, {"error": "overloaded"}]
    path = stored(tmp_path, "a.jsonl", "\n".join(json.dumps(each) for each in values))
    with pytest.raises(CassetteError, match="expected an object with a payload"):
        open_recording(path)


def test_an_api_that_answers_with_an_array_is_no_list_of_chunks(tmp_path: Path) -> None:
    answers = [{"candidates": [{"content": {"parts": [{"text": "a"}]}}]}]
    assert open_recording(stored(tmp_path, "a.json", json.dumps(answers))).kind == "json"


NOW_NS = 1718 * 10**15


STAMPS: dict[str, tuple[list[Any], str, list[float | None]]] = {
    "seconds": ([1718000000.5, 1718000000.75, 1718000001.0], "ts", [0.0, 250.0, 250.0]),
    "milliseconds": ([1718000000500, 1718000000750, 1718000001000], "time", [0.0, 250.0, 250.0]),
    "nanoseconds": ([NOW_NS, NOW_NS + 10**6, NOW_NS + 2 * 10**6], "t", [0.0, 1.0, 1.0]),
    "dates": (
        ["2026-01-01T00:00:00.100Z", "2026-01-01T00:00:00.350Z", "2026-01-01T00:00:00.600Z"],
        "timestamp",
        [0.0, 250.0, 250.0],
    ),
    "by name": ([3, 253, 503], "elapsed_ms", [0.0, 250.0, 250.0]),
    "no unit": ([0.1, 0.35, 0.6], "ts", [None, None, None]),
    "backwards": ([1718000001.0, 1718000000.5, 1718000001.0], "ts", [None, None, None]),
    "no date": (["now", "then", "never"], "at", [None, None, None]),
}


@pytest.mark.parametrize("case", STAMPS)
@pytest.mark.parametrize("wrap", [as_event, lambda chunk: chunk])
def test_chunks_keep_certain_times(tmp_path: Path, case: str, wrap: Callable[[Any], Any]) -> None:
    stamps, key, expected = STAMPS[case]
    lines = timed(stamps, wrap, key)
    if wrap is not as_event:
        lines = lines.replace('"[DONE]"', json.dumps(LAST))
    recording = open_recording(stored(tmp_path, "a.jsonl", lines))
    [exchange] = recording.exchanges
    assert recording.kind == "timed-chunks"
    found = [chunk.ms for chunk in exchange.chunks]
    assert found == (expected if None in expected else pytest.approx(expected, abs=0.01))
    note = recording.notes[-1]
    assert note.startswith("times begin" if found[0] is not None else "times were left out")
    assert recording.locate(1, [0, len(exchange.body) - 1]) == [1, 3]
