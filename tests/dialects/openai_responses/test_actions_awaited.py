"""Items of a response that the client has to act on: its answer is no empty one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.dialects.openai_responses.items import ACTION_TYPES
from conformance.recordings.check import check_paths

MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
SAID = {**MESSAGE, "content": [{"type": "output_text", "text": "Done.", "annotations": []}]}


def stops_empty(folder: Path, *items: dict[str, Any]) -> bool:
    """Whether a body of these items is found to stop without an answer."""
    head = {"id": "resp_1", "object": "response", "status": "completed", "model": "m"}
    path = folder / "a.json"
    path.write_text(json.dumps({**head, "created_at": 1, "output": items}))
    (stream,) = check_paths([path]).streams
    return "thinking/answer/said" in {each.rule for each in stream.findings}


@pytest.mark.parametrize("kind", sorted(ACTION_TYPES))
def test_an_action_that_is_asked_for_is_an_answer(tmp_path: Path, kind: str) -> None:
    action = {"type": kind, "id": "a_1", "status": "completed"}
    assert not stops_empty(tmp_path, action)
    assert not stops_empty(tmp_path, action, SAID)


@pytest.mark.parametrize("kind", ["web_search_call", "mcp_list_tools"])
def test_what_the_server_did_alone_is_none(tmp_path: Path, kind: str) -> None:
    assert stops_empty(tmp_path, {"type": kind, "id": "a_1", "status": "completed"})


@pytest.mark.parametrize("execution", ["client", "server"])
def test_tools_that_the_application_is_to_find_are_asked_for(
    tmp_path: Path, execution: str
) -> None:
    call = {"type": "tool_search_call", "id": "ts_1", "arguments": {}, "status": "completed"}
    is_found = stops_empty(tmp_path, {**call, "execution": execution})
    assert is_found == (execution == "server")


def test_a_message_without_words_behind_an_action_is_none(tmp_path: Path) -> None:
    action = {"type": "shell_call", "id": "a_1", "status": "completed"}
    assert stops_empty(tmp_path, action, {**MESSAGE, "content": []})
