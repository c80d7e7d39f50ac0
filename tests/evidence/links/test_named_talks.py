"""Conversations that a path, a context or a task names: of Mistral and of Agent2Agent."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from msgspec.structs import replace

from conformance.cassette import open_recording
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.core.shipped import cassettes
from conformance.judging.result import StreamResult
from conformance.recordings.check import check_paths
from tests.evidence.links.talks import HEAD, broken, checked

ASKED: Final = {"model": "m", "inputs": "When does the ferry sail?"}
STREAM: Final = Response(200, "1.1", (("content-type", "text/event-stream"),))


def _said(number: int, conversation: str, path: str, **asked: Any) -> Exchange:
    """An answer of Mistral's in one conversation, asked at a path."""
    entries = [{"type": "message.output", "role": "assistant", "content": f"At {number}."}]
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    body = {"object": "conversation.response", "conversation_id": conversation}
    return Exchange(
        number=number,
        request=Request("POST", f"/v1/conversations{path}", (), {**ASKED, **asked}),
        response=HEAD,
        chunks=(Chunk(json.dumps({**body, "outputs": entries, "usage": usage}).encode()),),
    )


def _judged(*exchanges: Exchange) -> list[StreamResult]:
    return checked(exchanges, "mistral.conversations", "strict")


def _carried(results: list[StreamResult]) -> list[list[int]]:
    return [[link.exchange for link in each.links] for each in results]


@pytest.mark.parametrize("path", ["/conv_1", "/conv_1?beta=true", "/conv_1#stream"])
def test_a_path_names_the_conversation(path: str) -> None:
    results = _judged(_said(1, "conv_1", ""), _said(2, "conv_2", ""), _said(3, "conv_1", path))
    assert (_carried(results), broken(results)) == ([[], [], [1]], set())
    assert [each.turn for each in results] == [1, 0, 2]


def test_a_conversation_that_starts_anew_carries_no_answer_on() -> None:
    later = (
        _said(2, "conv_1", "/conv_1"),
        _said(3, "conv_2", "/conv_1/restart", from_entry_id="e"),
    )
    results = _judged(_said(1, "conv_1", ""), *later, _said(4, "conv_2", "/conv_2"))
    assert _carried(results) == [[], [1], [], [3]]


@pytest.mark.parametrize(("store", "found"), [(False, True), (True, False), (None, False)])
def test_what_was_not_stored_cannot_be_carried_on(store: bool | None, found: bool) -> None:
    results = _judged(_said(1, "conv_1", "", store=store), _said(2, "conv_1", "/conv_1"))
    assert broken(results) == ({"history/conversations/named-stored"} if found else set())


def _agent_talk(**changed: dict[int, dict[str, str]]) -> list[Exchange]:
    """The shipped talk, with other names in the messages of some requests."""
    exchanges = []
    for each in _shipped():
        assert each.request is not None
        body = json.loads(json.dumps(each.request.json))
        body["params"]["message"] |= changed.get("names", {}).get(each.number, {})
        exchanges.append(replace(each, request=replace(each.request, json=body)))
    return exchanges


def _shipped() -> list[Exchange]:
    recording = open_recording(cassettes() / "google.a2a/a2a-1.0/talk.cassette.jsonl")
    return list(recording.exchanges)


def test_a_task_and_a_context_name_what_a_message_carries_on() -> None:
    report = check_paths([cassettes() / "google.a2a/a2a-1.0/talk.cassette.jsonl"])
    evidence = [[link.evidence for link in each.links] for each in report.streams]
    assert evidence == [[], ["the id of the answer"], ["the conversation"]]
    assert [each.turn for each in report.streams] == [1, 2, 3]


TASK: Final = "0a6cf1d2-0000-4000-8000-synthetic001"


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ({3: {"taskId": TASK}}, {"history/a2a/task-open"}),
        ({2: {"contextId": "other"}}, {"history/a2a/context-of-task"}),
        ({3: {"taskId": "another"}}, set()),
    ],
)
def test_a_task_that_is_over_or_elsewhere_is_not_carried_on(
    names: dict[int, dict[str, str]], found: set[str]
) -> None:
    assert broken(checked(_agent_talk(names=names), "google.a2a", "strict")) == found


def _ended_as(state: str) -> list[Exchange]:
    """The talk with a task that ended so, and a message that goes on with it."""
    exchanges = _agent_talk(names={3: {"taskId": TASK}})
    pieces = [
        replace(each, data=each.data.replace(b"TASK_STATE_COMPLETED", state.encode()))
        for each in exchanges[1].chunks
    ]
    return [exchanges[0], replace(exchanges[1], chunks=tuple(pieces)), exchanges[2]]


@pytest.mark.parametrize(
    ("state", "is_over"),
    [("FAILED", True), ("CANCELED", True), ("REJECTED", True), ("INPUT_REQUIRED", False)],
)
def test_a_task_is_over_however_it_ended(state: str, *, is_over: bool) -> None:
    results = checked(_ended_as(f"TASK_STATE_{state}"), "google.a2a", "strict")
    assert broken(results) == ({"history/a2a/task-open"} if is_over else set())
