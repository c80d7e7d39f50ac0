"""One event of a stream, kept by itself in a file of JSON, is no answer that lacks the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cassette.importers import NothingJudgedError
from conformance.cassette.recording import open_recording
from conformance.core import shipped
from conformance.core.framing import framing_of
from conformance.dialects.lone_event import is_lone_event
from conformance.recordings.check import check_paths
from tests.cassette.saved_files import stored

_CHUNK: Final = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": None}],
}
_SAID: Final = {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "Hi"}]}
_ALONE: Final[dict[str, dict[str, Any]]] = {
    "chat": _CHUNK,
    "chat, its usage": {**_CHUNK, "choices": [], "usage": {"total_tokens": 1}},
    "messages": {"type": "content_block_delta", "index": 0, "delta": {"text": "Hi"}},
    "messages, the first": {"type": "message_start", "message": {"role": "assistant"}},
    "responses": {"type": "response.output_text.delta", "delta": "Hi", "output_index": 0},
    "converse": {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hi"}}},
    "cohere": {"type": "content-delta", "index": 0, "delta": {"message": {"content": {}}}},
    "ag-ui": {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "Hi"},
    "ui messages": {"type": "text-delta", "id": "1", "delta": "Hi"},
    "claude code": {"type": "assistant", "session_id": "s", "message": _SAID},
    "claude code, the first": {"type": "system", "subtype": "init", "session_id": "s"},
    "codex exec": {"type": "item.completed", "item": {"type": "agent_message", "text": "Hi"}},
}
_WHOLE: Final[dict[str, dict[str, Any]]] = {
    "chat": {
        **_CHUNK,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant"}, "finish_reason": "stop"}],
    },
    "chat, misnamed": {
        **_CHUNK,
        "choices": [{"index": 0, "message": {"role": "assistant"}, "finish_reason": "stop"}],
    },
    "messages": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 2},
    },
    "messages, little of it": {"type": "message", "role": "assistant", "content": []},
    "an error": {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}},
    "responses": {"object": "response", "id": "resp_1", "output": []},
    "claude code": {"type": "result", "subtype": "success", "result": "Hi", "session_id": "s"},
    "ollama": {"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": True},
}


@pytest.mark.parametrize("case", _ALONE)
def test_one_event_is_refused_by_name_and_skipped_in_a_folder(tmp_path: Path, case: str) -> None:
    path = stored(tmp_path, "a.json", json.dumps(_ALONE[case], indent=2))
    with pytest.raises(NothingJudgedError, match="one event of a stream"):
        open_recording(path)
    stored(tmp_path, "b.json", json.dumps(_WHOLE["chat"]))
    report = check_paths([tmp_path])
    assert not report.errors
    assert [Path(each.file).name for each in report.streams] == ["b.json"]


@pytest.mark.parametrize("case", _WHOLE)
def test_whole_answers_and_errors_are_read(tmp_path: Path, case: str) -> None:
    recording = open_recording(stored(tmp_path, "a.json", json.dumps(_WHOLE[case])))
    assert len(recording.exchanges) == 1


def test_no_shipped_body_is_taken_for_an_event() -> None:
    bodies = [
        exchange.body
        for path in sorted(shipped.cassettes().rglob("*.cassette.jsonl"))
        if "mutants" not in path.parts
        for exchange in open_recording(path).exchanges
        if framing_of(exchange) == "body" and exchange.body.startswith(b"{")
    ]
    assert len(bodies) > 40
    assert [body for body in bodies if is_lone_event(json.loads(body))] == []


@pytest.mark.parametrize("case", ["claude code", "codex exec"])
def test_one_line_that_speaks_is_refused(tmp_path: Path, case: str) -> None:
    path = stored(tmp_path, "a.jsonl", json.dumps(_ALONE[case]) + "\n")
    with pytest.raises(NothingJudgedError, match="one event of a stream"):
        open_recording(path)


@pytest.mark.parametrize(
    "line",
    [_ALONE["claude code, the first"], _WHOLE["claude code"], _CHUNK, {"type": "thread.started"}],
)
def test_one_line_that_may_be_all_that_came_is_judged(tmp_path: Path, line: dict[str, Any]) -> None:
    """A run that broke off after its first line, a result alone, a stream that was cut."""
    path = stored(tmp_path, "a.jsonl", json.dumps(line) + "\n")
    assert len(open_recording(path).exchanges) == 1


def test_several_events_are_a_stream(tmp_path: Path) -> None:
    path = stored(tmp_path, "a.json", json.dumps([_CHUNK, _CHUNK]))
    [stream] = check_paths([path]).streams
    assert stream.framing == "sse"


def test_notes_between_lines_are_left_out(tmp_path: Path) -> None:
    lines = [
        _ALONE["claude code, the first"],
        {"_wait": 5},
        _WHOLE["claude code"],
        {"_": 1, "type": 2},
    ]
    path = stored(tmp_path, "a.jsonl", "".join(json.dumps(each) + "\n" for each in lines))
    recording = open_recording(path)
    assert [json.loads(each) for each in recording.exchanges[0].body.splitlines()] == [
        lines[0],
        lines[2],
        lines[3],
    ]
    assert any("notes of who kept the file" in each for each in recording.notes)
