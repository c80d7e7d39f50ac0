"""Agent Client Protocol: starts and ends that nobody sends, and messages of two sides."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.streams import Payload, PayloadReader

READER = PayloadReader("acp")
read, semantic, kinds = READER.read, READER.semantic, READER.kinds


def wired(*payloads: Payload) -> list[str]:
    return [event.type for event in read(*payloads) if event.layer == "wire"]


def update(kind: str, **fields: Any) -> Payload:
    payload = {"sessionUpdate": kind, **fields}
    return {"method": "session/update", "params": {"sessionId": "s", "update": payload}}


def chunk(kind: str, text: str, **more: Any) -> Payload:
    return update(f"agent_{kind}_chunk", content={"type": "text", "text": text}, **more)


def stopped(reason: str = "end_turn", **more: Any) -> Payload:
    return {"id": 2, "result": {"stopReason": reason, **more}}


PROMPT = {"id": 2, "method": "session/prompt", "params": {}}


def test_a_run_of_chunks_of_one_kind_is_one_thought_or_message() -> None:
    usage = {"inputTokens": 3, "outputTokens": 2, "thoughtTokens": 1}
    texts = [chunk("thought", "so"), chunk("thought", "."), chunk("message", "Hi")]
    assert semantic(PROMPT, *texts, stopped(usage=usage)) == [
        ("message.start", {"role": "assistant"}),
        ("thinking.start", {"block": 0, "channel": "raw", "explicit": False}),
        ("thinking.delta", {"block": 0, "channel": "raw", "text": "so"}),
        ("thinking.delta", {"block": 0, "channel": "raw", "text": "."}),
        ("thinking.end", {"block": 0, "explicit": False}),
        ("text.start", {"block": 1}),
        ("text.delta", {"block": 1, "text": "Hi"}),
        ("text.end", {"block": 1}),
        ("finish", {"reason": "stop"}),
        ("usage", {"input": 3, "output": 2, "reasoning": 1}),
        ("done", {"explicit": True}),
    ]


def test_another_id_a_call_and_a_count_end_a_thought_and_news_of_the_session_do_not() -> None:
    def thoughts(between: Payload, **second: Any) -> int:
        found = kinds(chunk("thought", "a"), between, chunk("thought", "b", **second))
        return found.count("thinking.start")

    news = update("available_commands_update", availableCommands=[])
    assert thoughts(news) == 1
    assert thoughts(news, messageId="m") == 2
    assert thoughts(update("usage_update", used=1, size=2)) == 2
    assert thoughts(update("tool_call", toolCallId="c", title="Read")) == 2


@pytest.mark.parametrize(
    "between",
    [
        update("usage_update", used=1, size=2),
        update("tool_call_update", toolCallId="c", status="in_progress"),
        update("session_info_update", title="Sums"),
    ],
    ids=lambda payload: str(payload["params"]["update"]["sessionUpdate"]),
)
def test_chunks_of_one_id_are_one_thought_with_news_between_them(between: Payload) -> None:
    named = [chunk("thought", text, messageId="m") for text in ("so", ".")]
    found = semantic(named[0], between, named[1])
    deltas = [fields["block"] for kind, fields in found if kind == "thinking.delta"]
    assert deltas == [0, 0]


def test_an_announced_call_ends_a_thought_whatever_its_id() -> None:
    named = [chunk("thought", text, messageId="m") for text in ("so", ".")]
    found = kinds(named[0], update("tool_call", toolCallId="c", title="t"), named[1])
    assert found.count("thinking.start") == 2


def test_a_call_ends_with_its_status() -> None:
    found = semantic(
        update("tool_call", toolCallId="c", title="Read", rawInput={"path": "a"}),
        update("tool_call_update", toolCallId="c", status="in_progress"),
        update("tool_call_update", toolCallId="c", status="completed"),
    )
    ends = [data for kind, data in found if kind == "tool.end"]
    named = {"index": 0, "id": "c", "name": "Read", "hosted": True}
    assert ends == [{**named, "arguments": '{"path":"a"}'}]


def test_both_sides_may_count_from_the_same_number() -> None:
    asked = {"id": 2, "method": "fs/read_text_file", "params": {}}
    given = {"id": 2, "result": {"content": "a"}}
    found = wired(PROMPT, asked, given, stopped())
    assert found == ["session/prompt", "agent.request", "client.response", "prompt.response"]


def test_a_handshake_is_no_turn() -> None:
    begun = [
        {"id": 0, "method": "initialize", "params": {"protocolVersion": 1}},
        {"id": 0, "result": {"protocolVersion": 1}},
    ]
    assert wired(*begun) == ["client.request", "agent.response"]
    assert kinds(*begun) == ["cut"]


def test_an_error_that_answers_the_prompt_fails_the_turn() -> None:
    failed = {"id": 2, "error": {"code": -32603, "message": "no", "data": {"message": "busy"}}}
    assert semantic(failed) == [("error", {"code": -32603, "message": "busy"})]
    assert wired({"id": 1, "method": "session/new"}, {**failed, "id": 1})[1] == "agent.response"


@pytest.mark.parametrize("number", [0, 2])
def test_what_an_extension_is_answered_ends_no_turn(number: int) -> None:
    """An agent asks its editor by a method of its own, with numbers that the client has, too."""
    asked = {"id": number, "method": "craft/drainMidTurnQueue", "params": {"sessionId": "s"}}
    refused = {"id": number, "error": {"code": -32601, "message": "not offered"}}
    turn = [PROMPT, asked, refused, chunk("message", "Hi"), stopped()]
    assert wired(*turn) == [
        *("session/prompt", "line.unknown", "line.unknown", "agent_message_chunk"),
        "prompt.response",
    ]
    assert kinds(*turn)[-2:] == ["finish", "done"]


def test_an_extension_is_unknown_and_no_error() -> None:
    assert wired({"method": "_vendor/note"}) == ["line.unknown"]


def test_a_call_has_its_name_where_that_is_reported_else_its_title() -> None:
    names = [
        data["name"]
        for named in ({"name": "read_file"}, {})
        for kind, data in semantic(update("tool_call", toolCallId="c", title="Reads", **named))
        if kind == "tool.start"
    ]
    assert names == ["read_file", "Reads"]
