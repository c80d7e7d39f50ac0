"""App server of Codex: what a client shows of the items of a turn, whatever its ids do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance import check_chunks
from tests.dialects.streams import Payload, PayloadReader

READER = PayloadReader("codex.app-server")
read, semantic, kinds = READER.read, READER.semantic, READER.kinds


def wired(kind: str, *payloads: Payload) -> list[Payload]:
    return [dict(e.data) for e in read(*payloads) if e.layer == "wire" and e.type == kind]


def note(method: str, **params: Any) -> Payload:
    return {"method": method, "params": {"threadId": "t", **params}}


def item(what: str, kind: str, item_id: str = "i", **fields: Any) -> Payload:
    return note(f"item/{what}", item={"id": item_id, "type": kind, **fields})


def summary(text: str, part: int = 0) -> Payload:
    place = {"itemId": "i", "summaryIndex": part}
    return note("item/reasoning/summaryTextDelta", **place, delta=text)


def raw(text: str) -> Payload:
    return note("item/reasoning/textDelta", itemId="i", contentIndex=0, delta=text)


def ended(status: str, **turn: Any) -> Payload:
    return note("turn/completed", turn={"status": status, **turn})


BEGUN = note("turn/started", turn={"id": "u"})


def test_a_summary_in_parts_and_a_message() -> None:
    total = {"inputTokens": 3, "outputTokens": 2, "reasoningOutputTokens": 1}
    assert semantic(
        BEGUN,
        item("started", "reasoning"),
        note("item/reasoning/summaryPartAdded", itemId="i", summaryIndex=0),
        summary("so"),
        item("completed", "reasoning", summary=["so"]),
        item("started", "agentMessage", "m"),
        note("item/agentMessage/delta", itemId="m", delta="Hi"),
        item("completed", "agentMessage", "m", text="Hi"),
        note("thread/tokenUsage/updated", tokenUsage={"total": total}),
        ended("completed"),
    ) == [
        ("message.start", {"role": "assistant", "id": "u"}),
        ("thinking.start", {"block": 0, "channel": "summary", "explicit": True, "id": "i"}),
        ("thinking.part", {"block": 0, "part": 0}),
        ("thinking.delta", {"block": 0, "channel": "summary", "text": "so", "part": 0}),
        ("thinking.end", {"block": 0, "explicit": True}),
        ("text.start", {"block": 1}),
        ("text.delta", {"block": 1, "text": "Hi"}),
        ("text.end", {"block": 1}),
        ("finish", {"reason": "stop"}),
        ("usage", {"input": 3, "output": 2, "reasoning": 1}),
        ("done", {"explicit": True}),
    ]


def test_items_without_deltas_are_reported_whole() -> None:
    found = semantic(
        item("completed", "reasoning", summary=["a", "b"], content=["c"]),
        item("completed", "agentMessage", "m", text="Hi"),
    )
    texts = [data["text"] for kind, data in found if kind.endswith(".delta")]
    assert texts == ["a", "b", "c", "Hi"]
    channels = [data["channel"] for kind, data in found if kind == "thinking.start"]
    assert channels == ["summary", "raw"]


def test_another_id_at_the_end_ends_what_is_open_and_says_nothing_again() -> None:
    found = kinds(item("started", "reasoning"), raw("so"), item("completed", "reasoning", "j"))
    assert found == ["thinking.start", "thinking.delta", "thinking.end", "cut"]
    piece = note("item/agentMessage/delta", itemId="m", delta="Hi")
    found = kinds(piece, item("completed", "agentMessage", "n", text="Hi"))
    assert found == ["text.start", "text.delta", "text.end", "cut"]


def test_texts_are_stated_as_streamed_where_deltas_came() -> None:
    over = item("completed", "reasoning", content=["so"])
    assert [each["streamed"] for each in wired("item.content", raw("so"), over)] == [True]
    assert [each["streamed"] for each in wired("item.content", over)] == [False]


def test_a_command_is_a_call_that_is_carried_out_there() -> None:
    found = semantic(
        item("started", "commandExecution"),
        item("completed", "commandExecution", command="ls"),
        item("completed", "mcpToolCall", "j", tool="clock", arguments={"zone": "UTC"}),
    )
    ends = [(data["name"], data["arguments"]) for kind, data in found if kind == "tool.end"]
    assert ends == [("commandExecution", '{"command":"ls"}'), ("clock", '{"zone":"UTC"}')]


def test_a_turn_fails_or_is_interrupted() -> None:
    assert semantic(ended("failed", error={"message": "no"})) == [
        ("error", {"code": "", "message": "no"})
    ]
    assert semantic(ended("interrupted"))[0] == ("finish", {"reason": "cancelled"})


def test_requests_and_responses_of_both_sides_say_nothing() -> None:
    lines: list[Payload] = [
        {"method": "turn/start", "id": 3},
        {"method": "initialize", "id": 0},
        {"method": "item/fileChange/requestApproval", "id": 0},
        {"id": 0, "result": {}},
        {"method": "warning", "params": {}},
        {"odd": 1},
    ]
    events = [event.type for event in read(*lines)]
    assert events == [
        *("turn/start", "client.request", "server.request", "response", "server.notification"),
        *("line.unknown", "cut"),
    ]


@pytest.mark.parametrize(
    ("method", "is_found"),
    [
        *((f"item/{each}", False) for each in ("commandExecution/outputDelta", "plan/delta")),
        *((f"item/{each}", False) for each in ("fileChange/outputDelta", "reasoning/textDelta")),
        *((f"item/{each}", True) for each in ("agentMessage/deltas", "answer/delta")),
    ],
)
def test_what_a_tool_writes_comes_in_deltas_too(method: str, *, is_found: bool) -> None:
    lines = [
        *(BEGUN, item("started", "agentMessage")),
        *(note(method, itemId="i", delta="a"), ended("completed", id="u", items=[])),
    ]
    data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    report = check_chunks([data], dialect="codex.app-server", profile="strict")
    rule = "wire/codex-app-server/item-fields"
    assert (rule in {finding.rule for finding in report.findings}) is is_found
