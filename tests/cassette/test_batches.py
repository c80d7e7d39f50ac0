"""Results of batches: each line is an answer, judged by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cassette import discover, open_recording
from conformance.cassette.importers.recorders.batches import BATCHES
from conformance.recordings.check import check_paths
from tests.cassette.saved_files import stored

Body = dict[str, Any]
_TEXT: Final = "The ebb comes at four."
_COUNTS: Final = {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}


def _chat(number: int) -> Body:
    message = {"role": "assistant", "content": _TEXT, "reasoning_content": "The gauge says so."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1, "model": "m"}
    return {**head, "choices": [choice], "usage": _COUNTS}


def _message(number: int) -> Body:
    thought = {"type": "thinking", "thinking": "The gauge says so.", "signature": "c2lnbmF0dXJl"}
    head = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m"}
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    content = [thought, {"type": "text", "text": _TEXT}]
    return {**head, "content": content, **ended, "usage": {"input_tokens": 9, "output_tokens": 7}}


def _candidates(number: int) -> Body:
    parts = [{"text": "The gauge says so.", "thought": True}, {"text": _TEXT}]
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    counts = {"promptTokenCount": 9, "candidatesTokenCount": 4, "thoughtsTokenCount": 3}
    usage = {**counts, "totalTokenCount": 16}
    head = {"modelVersion": "gemini-3-pro", "responseId": f"r{number}"}
    return {"candidates": [candidate], "usageMetadata": usage, **head}


def _openai(number: int) -> Body:
    answered = {"status_code": 200, "request_id": f"req_{number}", "body": _chat(number)}
    return {"id": f"batch_{number}", "custom_id": f"c{number}", "response": answered, "error": None}


def _anthropic(number: int) -> Body:
    return {
        "custom_id": f"c{number}",
        "result": {"type": "succeeded", "message": _message(number)},
    }


def _gemini(number: int) -> Body:
    return {"key": f"c{number}", "response": _candidates(number)}


def _vertex(number: int) -> Body:
    asked = {"contents": [{"role": "user", "parts": [{"text": "When is the ebb?"}]}]}
    shown = {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}}
    return {"status": "", "request": {**asked, **shown}, "response": _candidates(number)}


def _bedrock(number: int) -> Body:
    asked = {"max_tokens": 99, "messages": [{"role": "user", "content": "When is the ebb?"}]}
    return {"recordId": f"c{number}", "modelInput": asked, "modelOutput": _message(number)}


def _pair(number: int) -> Body:
    asked = {"model": "m", "messages": [{"role": "user", "content": "When is the ebb?"}]}
    return {"request_body": asked, "response_status": 200, "response_body": _chat(number)}


def _call(number: int, path: str = "/v1/messages", **answered: Any) -> Body:
    head = {"method": "POST", "path": path, "headers": {}}
    asked = {"model": "m", "messages": [{"role": "user", "content": "When is the ebb?"}]}
    response = {"status": 200, "headers": {}, "body": _message(number), **answered}
    call = {"request_id": f"req_{number}", "turn": number, "duration_ms": 12}
    return {**call, "request": {**head, "body": asked}, "response": response}


LINES: Final = {
    "openai-batch": (_openai, "openai.chat"),
    "anthropic-batch": (_anthropic, "anthropic.messages"),
    "gemini-batch": (_gemini, "gemini.generate"),
    "vertex-batch": (_vertex, "gemini.generate"),
    "bedrock-batch": (_bedrock, "anthropic.messages"),
    "claude-tap": (_call, "anthropic.messages"),
    "pair-lines": (_pair, "openai.chat"),
}
_EXPIRED: Final[dict[str, Body]] = {
    "openai-batch": {"custom_id": "c9", "response": None, "error": {"code": "batch_expired"}},
    "anthropic-batch": {"custom_id": "c9", "result": {"type": "expired"}},
    "gemini-batch": {"key": "c9", "error": {"code": 4, "message": "Too late."}},
}


def _lines(*values: Body) -> str:
    return "".join(json.dumps(each) + "\n" for each in values)


def test_every_row_has_lines() -> None:
    assert {row.name for row in BATCHES} == set(LINES)


def test_a_call_whose_events_were_kept_is_the_stream_of_these(tmp_path: Path) -> None:
    choice = {"index": 0, "delta": {"role": "assistant", "content": _TEXT}, "finish_reason": "stop"}
    chunk = {**_chat(1), "object": "chat.completion.chunk", "choices": [choice]}
    events = [{"event": "message", "data": chunk}]
    messages = [
        {"type": kind, "response": {"id": id_}}
        for id_ in ("r1", "r2")
        for kind in ("response.created", "response.completed")
    ]
    socket = _call(2, "/v1/responses", body=None, status=101, ws_events=messages)
    socket["request"]["ws_events"] = [{"type": "response.create", "model": "m"}] * 2
    lines = _lines(_call(1, "/v1/chat/completions", body=None, sse_events=events), socket)
    chat, *responses = open_recording(stored(tmp_path, "trace.jsonl", lines)).exchanges
    assert chat.body == b"data: %b\n\ndata: [DONE]\n\n" % json.dumps(chunk).encode()
    assert chat.dialect == "openai.chat"
    assert chat.request is not None
    assert chat.request.path == "/v1/chat/completions"
    assert [(each.dialect, len(each.chunks)) for each in responses] == [("openai.responses", 2)] * 2
    assert [each.request and each.request.json for each in responses] == [{"model": "m"}] * 2


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("name", ["results.jsonl", "results"])
def test_each_line_is_an_answer(tmp_path: Path, kind: str, name: str) -> None:
    line, dialect = LINES[kind]
    name = "results.ndjson" if kind == "pair-lines" else name
    path = stored(tmp_path, name, _lines(*map(line, (1, 2, 3))))
    recording = open_recording(path)
    assert recording.kind == kind
    assert [each.dialect for each in recording.exchanges] == [dialect] * 3
    assert [recording.locate(number, [0]) for number in (1, 2, 3)] == [[1], [2], [3]]
    assert discover(tmp_path) == (path,)
    report = check_paths([tmp_path])
    assert not report.errors
    assert not [found for each in report.streams for found in each.findings]


@pytest.mark.parametrize("kind", _EXPIRED)
def test_a_line_without_an_answer_is_noted(tmp_path: Path, kind: str) -> None:
    line, _ = LINES[kind]
    path = stored(tmp_path, "results.jsonl", _lines(line(1), _EXPIRED[kind], line(2)))
    recording = open_recording(path)
    assert len(recording.exchanges) == 2
    assert any("skipped" in note for note in recording.notes)


def test_a_pair_has_its_request_and_status(tmp_path: Path) -> None:
    [exchange] = open_recording(stored(tmp_path, "a.jsonl", _lines(_pair(1)))).exchanges
    assert exchange.request is not None
    assert exchange.request.json["messages"]
    assert exchange.response is not None
    assert exchange.response.status == 200


def test_a_batch_of_r_has_nulls_again(tmp_path: Path) -> None:
    """R writes null as an empty object; a completed response may not have details of a cut."""
    answer = {**_message(1), "stop_sequence": {}, "container": {}}
    state = {"version": 1, "stage": "done", "results": [{"type": "succeeded", "message": answer}]}
    recording = open_recording(stored(tmp_path, "state.json", json.dumps(state)))
    assert recording.kind == "batch-state"
    assert json.loads(recording.exchanges[0].body) == {**_message(1), "container": None}


def test_a_fault_is_found_in_its_line(tmp_path: Path) -> None:
    broken = _anthropic(2)
    del broken["result"]["message"]["content"][0]["signature"]
    path = stored(tmp_path, "results.jsonl", _lines(_anthropic(1), broken, _anthropic(3)))
    streams = check_paths([path]).streams
    assert [each.exchange for each in streams if each.findings] == [2]


def test_an_answer_that_failed_keeps_its_status(tmp_path: Path) -> None:
    refused = {"error": {"message": "No.", "type": "invalid_request_error", "code": None}}
    answered = {"status_code": 400, "request_id": "req_9", "body": {**refused}}
    failed = {"id": "batch_9", "custom_id": "c9", "response": answered, "error": None}
    path = stored(tmp_path, "results.jsonl", _lines(_openai(1), failed))
    streams = check_paths([path]).streams
    assert not [found for each in streams for found in each.findings]


def test_payloads_of_a_stream_are_no_batch(tmp_path: Path) -> None:
    delta = {"role": "assistant", "content": _TEXT}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunk = {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]}
    path = stored(tmp_path, "stream.jsonl", _lines(chunk, {**head, "choices": []}))
    assert open_recording(path).kind == "jsonl"
