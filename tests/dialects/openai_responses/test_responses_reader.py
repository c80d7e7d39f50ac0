"""A message of the phase commentary is said on the way: more thinking may come after it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import conformance
from conformance.dialects.openai_responses.items import ACTION_TYPES
from conformance.judging.checker import Checker
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from tests.authoring.pieces import encoded
from tests.authoring.responses import Item, call, stream, thinking_again

ORDER = ("thinking/stream/before-text", "wire/responses/reasoning-before-message")


@pytest.mark.parametrize(
    ("phase", "verdict"), [("commentary", Verdict.PASS), ("final_answer", Verdict.FAIL)]
)
def test_thinking_comes_after_a_commentary_only(phase: str, verdict: Verdict) -> None:
    chunks = map(encoded, stream(thinking_again(phase)))
    report = conformance.Checker("openai.responses").check(chunks)

    assert {report.verdicts[rule] for rule in ORDER} == {verdict}


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


def test_a_message_without_words_after_an_action_is_none(tmp_path: Path) -> None:
    action = {"type": "shell_call", "id": "a_1", "status": "completed"}
    assert stops_empty(tmp_path, action, {**MESSAGE, "content": []})


JSON = "wire/responses-parts/arguments-json"
ANOTHER_ID = "wire/responses/item-id"
OSLO, ROME, CUT = '{"city":"Oslo"}', '{"city":"Rome"}', '{"city":"Ro'


@pytest.mark.parametrize(
    ("second", "arguments", "found"),
    [
        (Item(1, "fc_2"), ROME, {}),
        # Responses that were put one behind the other, and bridges that count no items.
        (Item(0, "fc_2"), ROME, {ANOTHER_ID: Verdict.FAIL}),
        (Item(0, "fc_2"), CUT, {ANOTHER_ID: Verdict.FAIL, JSON: Verdict.FAIL}),
        (Item(1, "fc_2"), CUT, {JSON: Verdict.FAIL}),
    ],
)
def test_calls_are_not_joined(second: Item, arguments: str, found: dict[str, Verdict]) -> None:
    events = [*call(Item(0, "fc_1"), "weather", OSLO), *call(second, "weather", arguments)]
    checker = conformance.Checker("openai.responses", rules=[JSON, ANOTHER_ID])
    report = checker.check(map(encoded, stream(events)))

    assert dict(report.verdicts) == {JSON: Verdict.PASS, ANOTHER_ID: Verdict.PASS, **found}


@pytest.mark.parametrize("more", [{}, {"usage": {"input_tokens": 9, "output_tokens": 2}}])
def test_a_compacted_window_breaks_nothing(more: dict[str, Any]) -> None:
    user = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}
    sealed = {"id": "cmp_1", "type": "compaction", "encrypted_content": "gAAAAwindow"}
    body = {"id": "resp_1", "object": "response.compaction", "created_at": 1, **more}
    found = Checker("openai.responses").check(
        [json.dumps({**body, "output": [user, sealed]}).encode()]
    )
    assert not found.findings


def test_another_object_is_still_none() -> None:
    body = {"id": "resp_1", "object": "chat.completion", "created_at": 1, "output": []}
    found = Checker("openai.responses").check([json.dumps(body).encode()])
    assert "wire/responses/object-said" in {each.rule for each in found.findings}
