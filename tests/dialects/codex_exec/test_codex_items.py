"""Codex: what a client shows of the items of a turn."""

from __future__ import annotations

from typing import Any

from tests.dialects.streams import Payload, PayloadReader

READER = PayloadReader("codex.exec")
read, semantic = READER.read, READER.semantic
BEGUN = {"type": "turn.started"}


def item(kind: str, what: str = "completed", **fields: Any) -> Payload:
    return {"type": f"item.{what}", "item": {"id": "i", "type": kind, **fields}}


def test_items_come_whole() -> None:
    counted = {"input_tokens": 3, "output_tokens": 2, "reasoning_output_tokens": 1}
    assert semantic(
        BEGUN,
        item("reasoning", text="so"),
        item("agent_message", text="Hi"),
        {"type": "turn.completed", "usage": counted},
    ) == [
        ("message.start", {"role": "assistant"}),
        ("thinking.start", {"block": 0, "channel": "summary", "explicit": True, "id": "i"}),
        ("thinking.delta", {"block": 0, "channel": "summary", "text": "so"}),
        ("thinking.end", {"block": 0, "explicit": True}),
        ("text.start", {"block": 1}),
        ("text.delta", {"block": 1, "text": "Hi"}),
        ("text.end", {"block": 1}),
        ("finish", {"reason": "stop"}),
        ("usage", {"input": 3, "output": 2, "reasoning": 1}),
        ("done", {"explicit": True}),
    ]


def test_a_command_is_a_call_that_is_carried_out_here() -> None:
    found = semantic(
        item("command_execution", "started", command="ls"),
        item("command_execution", command="ls", exit_code=0),
        item("mcp_tool_call", tool="clock", arguments={"zone": "UTC"}),
    )
    named = {"index": 0, "id": "i", "name": "command_execution", "hosted": True}
    assert found[0] == ("tool.start", named)
    ends = [data["arguments"] for kind, data in found if kind == "tool.end"]
    assert ends == ['{"command":"ls"}', '{"zone":"UTC"}']


def test_a_diagnostic_is_no_failure() -> None:
    assert semantic(item("error", message="not known")) == [("cut", {"how": "eof"})]


def test_a_turn_fails_once() -> None:
    failed = {"type": "turn.failed", "error": {"message": "no"}}
    found = semantic(BEGUN, {"type": "error", "message": "no"}, failed)
    assert found[1:] == [("error", {"code": "", "message": "no"})]
