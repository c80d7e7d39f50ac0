"""Arrays of whole answers: each is judged by itself, and none as an event of a stream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import open_recording
from conformance.recordings.check import check_paths
from tests.cassette.saved_files import CHUNK, LAST, stored

_OF_TGI: dict[str, Any] = {
    "generated_text": " rises",
    "details": {"finish_reason": "length", "generated_tokens": 1, "seed": None, "prefill": []},
}
_OF_CHAT: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}
    ],
}
_OF_SGLANG: dict[str, Any] = {
    "text": "a",
    "output_ids": [1],
    "meta_info": {"id": "1", "finish_reason": {"type": "stop"}, "completion_tokens": 1},
}
_OF_GEMINI: dict[str, Any] = {
    "candidates": [{"content": {"parts": [{"text": "a"}], "role": "model"}, "finishReason": "STOP"}]
}
WHOLE = {
    "the list around one answer of TGI": ([_OF_TGI], "huggingface.tgi"),
    "parallel answers": ([_OF_CHAT, _OF_CHAT, _OF_CHAT], "openai.chat"),
    "a batch of prompts": ([_OF_SGLANG, _OF_SGLANG], "sglang.generate"),
}


@pytest.mark.parametrize("case", WHOLE)
@pytest.mark.parametrize("indent", [None, 2])
def test_each_whole_answer_is_an_exchange(tmp_path: Path, case: str, indent: int | None) -> None:
    values, dialect = WHOLE[case]
    path = stored(tmp_path, "a.json", json.dumps(values, indent=indent))
    recording = open_recording(path)
    assert (recording.kind, len(recording.exchanges)) == ("json-answers", len(values))
    assert [json.loads(each.body) for each in recording.exchanges] == values
    streams = check_paths([path]).streams
    assert [each.dialect for each in streams] == [dialect] * len(values)
    assert {each.framing for each in streams} == {"body"}
    broken = {
        name for each in streams for name, verdict in each.verdicts.items() if verdict == "FAIL"
    }
    assert not {each for each in broken if each.endswith(("event-known", "chunk-object"))}


def test_an_answer_of_a_list_is_located(tmp_path: Path) -> None:
    path = stored(tmp_path, "a.json", json.dumps([_OF_CHAT, _OF_CHAT], indent=1))
    recording = open_recording(path)
    lines = path.read_text().splitlines()
    for number in (1, 2):
        at = recording.exchanges[number - 1].body.index(b'"finish_reason"')
        [line] = recording.locate(number, [at])
        assert '"finish_reason"' in lines[line - 1]
        assert (line > len(lines) // 2) == (number == 2)


@pytest.mark.parametrize(
    "values",
    [[CHUNK, LAST], [_OF_GEMINI, _OF_GEMINI], [_OF_TGI, {"error": "overloaded"}], [_OF_CHAT, 1]],
)
def test_other_arrays_are_read_as_before(tmp_path: Path, values: list[Any]) -> None:
    path = stored(tmp_path, "a.json", json.dumps(values))
    assert open_recording(path).kind != "json-answers"
