"""Objects of google-genai that a recorder kept: judged as what the server sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.dialects.gemini_generate.sdk_objects import as_sent
from conformance.recordings.check import check_paths
from tests.cassette.saved_files import stored

PART: Final = {"text": "Hi", "thought": None, "function_call": None, "thought_signature": None}


def dumped(finish: str | None, **more: Any) -> dict[str, Any]:
    """A chunk as `model_dump` writes it."""
    candidate = {
        "content": {"parts": [PART], "role": "model"},
        "finish_reason": finish,
        "index": None,
    }
    own = {"automatic_function_calling_history": None, "parsed": None, "sdk_http_response": None}
    return {**own, "candidates": [candidate], "model_version": "gemini-2.5-flash", **more}


CHUNKS: Final = [dumped(None), dumped("STOP", usage_metadata={"prompt_token_count": 3})]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", json.dumps(CHUNKS)),
        ("a.jsonl", "".join(f"{json.dumps(each)}\n" for each in CHUNKS)),
        ("a.json", json.dumps(CHUNKS[-1])),
    ],
)
def test_a_dump_accuses_no_server(tmp_path: Path, name: str, content: str) -> None:
    report = check_paths([stored(tmp_path, name, content)])
    (stream,) = report.streams
    assert stream.dialect == "gemini.generate"
    assert [each.rule for each in stream.findings if each.level == "MUST"] == []


def test_the_same_keys_from_anyone_else_are_a_fault(tmp_path: Path) -> None:
    kept = [{key: each[key] for key in ("candidates", "model_version")} for each in CHUNKS]
    (stream,) = check_paths([stored(tmp_path, "a.json", json.dumps(kept))]).streams
    assert "wire/gemini/carries" in [each.rule for each in stream.findings]


def test_nulls_of_arguments_stay() -> None:
    call = {"name": "look", "args": {"at_hour": None}, "id": None}
    content = {"parts": [{"function_call": call}]}
    value = {"sdk_http_response": {}, "candidates": [{"content": content}]}
    sent = {"functionCall": {"name": "look", "args": {"at_hour": None}}}
    assert as_sent(value) == {"candidates": [{"content": {"parts": [sent]}}]}
    assert as_sent({"candidates": []}) is None
    assert as_sent([]) is None
