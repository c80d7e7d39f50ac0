"""Talks with LangGraph, ADK, A2A and Mistral's conversations: faults in one place, and odd ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest
from msgspec.structs import replace

from conformance.cassette import open_recording
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.core.shipped import cassettes
from conformance.evidence.links import gathering
from conformance.rules.verdicts import Verdict
from tests.evidence.links.odd_histories import numbered
from tests.evidence.links.talks import checked

BACK: Final = "langgraph/langgraph/sent-back"
THREAD: Final = "langgraph/langgraph/thread"
SESSION: Final = "google.adk/adk/result-sent"
TASK: Final = "google.a2a/a2a-1.0/talk"
APPENDED: Final = "mistral.conversations/mistral/function-round"
ENTRIES: Final = "mistral.conversations/mistral/sent-back"
Body = dict[str, Any]
Edit = Callable[[Body], object]


def _talk(name: str) -> list[Exchange]:
    return list(open_recording(cassettes() / f"{name}.cassette.jsonl").exchanges)


def _asked(name: str, number: int, edit: Edit) -> list[Exchange]:
    """The talk with another body in one request."""
    exchanges = _talk(name)
    request = exchanges[number - 1].request
    assert request is not None
    body = json.loads(json.dumps(request.json))
    edit(body)
    exchanges[number - 1] = replace(exchanges[number - 1], request=replace(request, json=body))
    return exchanges


def _answered(name: str, number: int, *edits: tuple[str, str]) -> list[Exchange]:
    """The talk with other words in one answer."""
    exchanges = _talk(name)
    sent = b"".join(each.data for each in exchanges[number - 1].chunks)
    for old, new in edits:
        assert old.encode() in sent
        sent = sent.replace(old.encode(), new.encode())
    exchanges[number - 1] = replace(exchanges[number - 1], chunks=(Chunk(sent),))
    return exchanges


def _broken(name: str, exchanges: list[Exchange]) -> list[str]:
    results = checked(numbered(exchanges), name.partition("/")[0], "strict")
    return [finding.rule for each in results for finding in each.findings]


def _messages(body: Body) -> list[Any]:
    found: list[Any] = body["input"]["messages"]
    return found


def _again(at: int, name: str) -> Edit:
    return lambda body: _messages(body).insert(at, {**_messages(body)[at], "id": name})


@pytest.mark.parametrize(
    ("edit", "rule"),
    [
        (lambda b: _messages(b).pop(2), "history/calls/answered"),
        (lambda b: _messages(b).pop(1), "history/calls/asked"),
        (_again(2, "other"), "history/calls/asked"),
        (lambda b: _messages(b)[2].pop("tool_call_id"), "history/calls/answered"),
        (lambda b: _messages(b)[2].update(tool_call_id="other"), "history/calls/asked"),
        (_again(3, "other"), "history/returned/text-once"),
        (
            lambda b: _messages(b).insert(4, _messages(b)[3]),
            "history/langgraph/message-ids-distinct",
        ),
        (
            lambda b: _messages(b)[1]["tool_calls"][0].update(name="x"),
            "history/returned/calls-as-made",
        ),
    ],
)
def test_a_fault_in_the_messages_of_a_graph_is_found_once(edit: Edit, rule: str) -> None:
    assert _broken(BACK, _asked(BACK, 2, edit)) == [rule]


def _without_ids(body: Body) -> None:
    for each in _messages(body):
        each.pop("id", None)


def _as_chat(body: Body) -> None:
    """The messages in the words of Chat Completions."""
    roles = {"human": "user", "ai": "assistant", "tool": "tool"}
    for each in _messages(body):
        each["role"] = roles[each.pop("type")]
        for call in each.get("tool_calls", ()):
            function = {"name": call.pop("name"), "arguments": json.dumps(call.pop("args"))}
            call.update(type="function", function=function)


def _unthought(body: Body) -> None:
    for each in _messages(body):
        if isinstance(each["content"], list):
            each["content"] = [p for p in each["content"] if p["type"] != "thinking"]


@pytest.mark.parametrize(
    "edit",
    [
        _without_ids,
        _as_chat,
        _unthought,
        lambda b: _messages(b).__delitem__(slice(0, 3)),
        lambda b: _messages(b).__delitem__(slice(1, 3)),
        lambda b: _messages(b)[0].update(content="Is the boat late in fog?"),
    ],
)
def test_other_forms_of_the_messages_of_a_graph_are_right(edit: Edit) -> None:
    assert _broken(BACK, _asked(BACK, 2, edit)) == []


def test_a_state_that_was_forked_or_edited_may_differ() -> None:
    exchanges = _answered(THREAD, 2, ("So it is late.", "So it is early."))
    assert _broken(THREAD, exchanges) == ["history/langgraph/thread-keeps-messages"]
    request = exchanges[1].request
    assert request is not None
    forked = replace(request, json={**request.json, "checkpoint_id": "c-1"})
    assert _broken(THREAD, [exchanges[0], replace(exchanges[1], request=forked)]) == []


def test_a_run_that_is_joined_later_needs_no_metadata() -> None:
    first, second = _talk(THREAD)
    assert first.request is not None
    sent = b"".join(each.data for each in first.chunks)
    rest = sent[sent.index(b"event: messages") :]
    path = "/threads/t/runs/r/stream"
    joined = replace(first, request=Request("GET", path, (), None), chunks=(Chunk(rest),))
    assert _broken(THREAD, [first, joined, second]) == []


RESULT: Final = "functionResponse"


def _result(body: Body) -> Body:
    found: Body = body["newMessage"]["parts"][0]
    return found


@pytest.mark.parametrize(
    ("edit", "rules"),
    [
        (lambda b: _result(b)[RESULT].update(id="other"), ["history/adk/result-asked"]),
        (lambda b: _result(b)[RESULT].pop("id"), ["history/adk/result-named"]),
        # A session may hold calls that nobody recorded; and its user may say something else.
        (lambda b: b.update(sessionId="other"), []),
        (lambda b: b["newMessage"].update(parts=[{"text": "Never mind."}]), []),
    ],
)
def test_a_result_goes_to_a_call_of_the_session(edit: Edit, rules: list[str]) -> None:
    assert _broken(SESSION, _asked(SESSION, 2, edit)) == rules


def test_a_result_may_come_in_two_steps() -> None:
    first, second = _talk(SESSION)
    sent = b"".join(each.data for each in second.chunks).replace(b"000000010", b"000000020")
    assert _broken(SESSION, [first, second, replace(second, chunks=(Chunk(sent),))]) == []


def test_a_repeated_request_with_its_answer_is_one() -> None:
    for name in (SESSION, TASK, APPENDED):
        exchanges = _talk(name)
        assert _broken(name, [exchanges[0], exchanges[1], *exchanges[1:]]) == [], name


def test_a_task_of_before_the_last_answer_is_known_again() -> None:
    exchanges = _talk(TASK)
    request = exchanges[2].request
    assert request is not None
    later = replace(exchanges[1], request=replace(request, json={**request.json, "id": 1}))
    found = _broken(TASK, [*exchanges, later])
    assert found.count("history/a2a/task-new") == 1


@pytest.mark.parametrize("method", ["GetTask", "CancelTask"])
def test_a_task_that_is_asked_for_is_a_payload(method: str) -> None:
    task = {"id": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_CANCELED"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"id": "t-1"}}
    answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": task}).encode()
    head = Response(200, "1.1", (("content-type", "application/json"),))
    made = Exchange(1, Request("POST", "/", (), asked), head, (Chunk(answer),))
    assert _broken(TASK, [made]) == []


def test_a_stream_that_joins_a_task_appends_to_what_came_before() -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": "t"}}
    exchange = _answered("google.a2a/a2a-1.0/chunks", 1)[0]
    pieces = b"".join(each.data for each in exchange.chunks).split(b"\n\n")
    first = next(n for n, each in enumerate(pieces) if b"artifactUpdate" in each)
    sent = b"\n\n".join([*pieces[:first], *pieces[first + 1 :]])
    assert _broken(TASK, [replace(exchange, chunks=(Chunk(sent),))]) == ["wire/a2a/chunk-begun"]
    joins = replace(exchange, request=Request("POST", "/", (), asked), chunks=(Chunk(sent),))
    assert _broken(TASK, [joins]) == []


def test_consent_to_a_call_answers_it() -> None:
    def consent(body: Body) -> None:
        confirmed = [{"tool_call_id": "k2m9x4q11", "confirmation": "allow"}]
        body.update(inputs=[], tool_confirmations=confirmed)

    assert _broken(APPENDED, _asked(APPENDED, 2, consent)) == []


def _twice(body: Body) -> None:
    body["inputs"].insert(1, body["inputs"][1])


def _outputs_only_text(body: Body) -> None:
    body["inputs"][1]["content"] = body["inputs"][1]["content"][1]["text"]


@pytest.mark.parametrize(
    ("edit", "rules"),
    [
        (_twice, ["history/returned/turn-once"]),
        (_outputs_only_text, []),
        (lambda b: b["inputs"].pop(1), []),
        (lambda b: b["inputs"][1].pop("id"), []),
    ],
)
def test_entries_that_go_back_to_mistral(edit: Edit, rules: list[str]) -> None:
    assert _broken(ENTRIES, _asked(ENTRIES, 2, edit)) == rules


@pytest.mark.parametrize(("most", "verdict"), [(1 << 16, Verdict.PASS), (1, Verdict.ERROR)])
def test_an_answer_with_too_many_events_is_not_passed(
    most: int, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "_MOST_OWN", most)
    first, second, *_ = checked(numbered(_talk(THREAD)), "langgraph", "strict")
    rule = "history/langgraph/thread-keeps-messages"
    assert verdict in (first.verdicts[rule], second.verdicts[rule])
