"""AG-UI: what a client shows of a run, whatever order its events come in."""

from __future__ import annotations

from typing import Any

from tests.dialects.streams import Payload, PayloadReader

READER = PayloadReader("agui", "event")
read, semantic, kinds = READER.read, READER.semantic, READER.kinds


def of(kind: str, **fields: Any) -> Payload:
    return {"type": kind, **fields}


def test_a_run_with_sealed_reasoning_and_text() -> None:
    assert semantic(
        of("RUN_STARTED", threadId="t", runId="r"),
        of("REASONING_START", messageId="s"),
        of("REASONING_MESSAGE_START", messageId="m", role="reasoning"),
        of("REASONING_MESSAGE_CONTENT", messageId="m", delta="so"),
        of("REASONING_ENCRYPTED_VALUE", subtype="message", entityId="m", encryptedValue="x"),
        of("REASONING_MESSAGE_END", messageId="m"),
        of("REASONING_END", messageId="s"),
        of("TEXT_MESSAGE_START", messageId="a"),
        of("TEXT_MESSAGE_CONTENT", messageId="a", delta="Hi"),
        of("TEXT_MESSAGE_END", messageId="a"),
        of("RUN_FINISHED", usage=[{"inputTokens": 2, "reasoningTokens": 1}, {"inputTokens": 3}]),
    ) == [
        ("message.start", {"role": "assistant", "id": "r"}),
        ("thinking.start", {"block": 0, "channel": "raw", "explicit": True, "id": "m"}),
        ("thinking.delta", {"block": 0, "channel": "raw", "text": "so"}),
        ("thinking.opaque", {"block": 0, "kind": "encrypted", "data": "x"}),
        ("thinking.end", {"block": 0, "explicit": True}),
        ("text.start", {"block": 1}),
        ("text.delta", {"block": 1, "text": "Hi"}),
        ("text.end", {"block": 1}),
        ("finish", {"reason": "stop"}),
        ("usage", {"input": 5, "reasoning": 1}),
        ("done", {"explicit": True}),
    ]


def test_the_earlier_protocol_says_the_same_without_ids() -> None:
    earlier = [
        of("THINKING_START"),
        of("THINKING_TEXT_MESSAGE_START"),
        of("THINKING_TEXT_MESSAGE_CONTENT", delta="so"),
        of("THINKING_TEXT_MESSAGE_END"),
        of("THINKING_END"),
    ]
    assert kinds(*earlier) == ["thinking.start", "thinking.delta", "thinking.end", "cut"]


def test_chunks_open_go_on_and_end_with_what_comes_next() -> None:
    found = semantic(
        of("REASONING_MESSAGE_CHUNK", messageId="m", delta="a"),
        of("REASONING_MESSAGE_CHUNK", delta="b"),
        of("TEXT_MESSAGE_CHUNK", messageId="t", delta="c"),
        of("STATE_SNAPSHOT", snapshot={}),
    )
    assert [kind for kind, _ in found] == [
        *("thinking.start", "thinking.delta", "thinking.delta", "thinking.end"),
        *("text.start", "text.delta", "text.end", "cut"),
    ]


def test_an_empty_chunk_ends_the_message() -> None:
    found = kinds(
        of("REASONING_MESSAGE_CHUNK", messageId="m", delta="a"),
        of("REASONING_MESSAGE_CHUNK", messageId="m", delta=""),
        of("REASONING_MESSAGE_CHUNK", messageId="m", delta="b"),
    )
    assert found == ["thinking.start", "thinking.delta", "thinking.end"] * 2 + ["cut"]


def test_chunks_of_a_call_are_one_call() -> None:
    found = semantic(
        of("TOOL_CALL_CHUNK", toolCallId="c", toolCallName="clock", delta="{"),
        of("TOOL_CALL_CHUNK", delta="}"),
        of("RUN_FINISHED"),
    )
    ends = [data for kind, data in found if kind == "tool.end"]
    assert ends == [{"index": 0, "id": "c", "name": "clock", "arguments": "{}"}]


def test_a_failed_run_is_over_and_ends_what_is_open() -> None:
    found = semantic(
        of("RUN_STARTED"),
        of("REASONING_MESSAGE_START", messageId="m"),
        of("RUN_ERROR", message="no", code="busy"),
    )
    assert [kind for kind, _ in found][1:] == ["thinking.start", "thinking.end", "error"]
    assert found[-1] == ("error", {"code": "busy", "message": "no"})


def test_a_snapshot_says_what_the_messages_hold() -> None:
    messages = [
        {"role": "user", "content": "q"},
        {"role": "reasoning", "content": "so"},
        {"role": "assistant", "content": "Hi"},
        {"role": "assistant"},
        "odd",
    ]
    (snapshot, _) = semantic(of("MESSAGES_SNAPSHOT", messages=messages))
    assert snapshot == ("snapshot", {"thinking": "so", "text": "Hi\n"})


def test_an_interrupted_run_says_so() -> None:
    found = semantic(of("RUN_FINISHED", outcome={"type": "interrupt"}))
    assert found[0] == ("finish", {"reason": "interrupt"})
