"""Answers that hold an image, a sound or a compaction, and not a word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance import Verdict
from conformance.recordings.check import check_paths
from tests.cassette.saved_files import as_event

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
CHAT = {"object": "chat.completion", "id": "c", "created": 1, "model": "m"}
COMPACTED = {"type": "compaction", "content": "We spoke of fog.", "encrypted_content": "Ep=="}


def gemini(part: Any) -> Any:
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "modelVersion": "m"}


def chat(message: Any) -> Any:
    turn = {"role": "assistant", "content": None, **message}
    return {**CHAT, "choices": [{"index": 0, "message": turn, "finish_reason": "stop"}]}


def responses(item: Any) -> Any:
    made = {"id": "i", "status": "completed", **item}
    return {"id": "r", "object": "response", "status": "completed", "output": [made]}


def messages(block: Any) -> Any:
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [block]}
    return {**message, "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (gemini({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}), "VACUOUS"),
        (gemini({"codeExecutionResult": {"outcome": "OUTCOME_OK"}}), "FAIL"),
        (chat({"images": [IMAGE]}), "VACUOUS"),
        (chat({"images": []}), "FAIL"),
        (chat({"audio": {"id": "a", "data": "UklGRg==", "transcript": "Fog."}}), "VACUOUS"),
        (responses({"type": "image_generation_call", "result": "iVBORw0KGgo="}), "VACUOUS"),
        (responses({"type": "web_search_call"}), "FAIL"),
        (messages(COMPACTED), "VACUOUS"),
        (messages({"type": "text", "text": ""}), "FAIL"),
    ],
)
def test_what_is_shown_is_an_answer(tmp_path: Path, body: Any, expected: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(body))
    assert verdict_of(path).name == expected


def test_an_image_next_to_an_empty_text_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.sse"
    deltas = [{"role": "assistant", "content": ""}, {"content": "", "images": [IMAGE]}, {}]
    path.write_text("".join(map(as_event, (chunk(each) for each in deltas))) + as_event("[DONE]"))
    assert verdict_of(path) is Verdict.VACUOUS


def chunk(delta: Any) -> Any:
    choice = {"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}
    return {**CHAT, "object": "chat.completion.chunk", "choices": [choice]}


def verdict_of(path: Path) -> Verdict:
    [found] = check_paths([path]).streams
    return found.verdicts["thinking/answer/said"]
