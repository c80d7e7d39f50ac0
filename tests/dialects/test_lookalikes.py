"""Dialects that begin alike are told apart by what comes later."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.core.events import Chunk, Exchange, Frame, Request, Response
from conformance.dialects import recognise
from conformance.dialects.recognition import doubted_dialect, recognised_dialect

TEXT: list[dict[str, Any]] = [
    {"type": "text-start", "id": "t"},
    {"type": "text-delta", "id": "t", "delta": "Hi"},
    {"type": "text-end", "id": "t"},
]


def shown(*parts: dict[str, Any]) -> str | None:
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in parts).encode()
    return recognised_dialect(Exchange(1, Request(), Response(200), (Chunk(body),)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"type": "stream-start", "warnings": []}, {"type": "finish", "finishReason": "stop"}),
        ({"type": "x"}, {"type": "finish", "finishReason": {"unified": "stop", "raw": "x"}}),
        ({"type": "x"}, {"type": "tool-input-start", "id": "c", "toolName": "look"}),
    ],
)
def test_model_parts_are_no_ui_message(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert shown(before, *TEXT, after) == "ai-sdk.model"


@pytest.mark.parametrize(
    "after",
    [
        {"type": "finish", "finishReason": "stop"},
        {"type": "finish", "usage": {"unified": 1}},
        {"type": "tool-input-start", "toolCallId": "c", "toolName": "look"},
        {"type": "message-metadata", "messageMetadata": {"warnings": []}},
    ],
)
def test_a_ui_message_stream_stays_one(after: dict[str, Any]) -> None:
    assert shown({"type": "start"}, *TEXT, after) == "vercel.ui"


SAID: dict[str, Any] = {
    "type": "assistant",
    "message": {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]},
    "session_id": "s",
}


@pytest.mark.parametrize(
    "line",
    [
        {"type": "system", "subtype": "init", "apiKeySource": "login", "session_id": "s"},
        {"type": "thinking", "subtype": "delta", "text": "Hm", "session_id": "s"},
        {"type": "tool_call", "subtype": "started", "tool_call": {"shellToolCall": {"args": {}}}},
    ],
)
def test_lines_of_cursor_are_none_of_claude_code(line: dict[str, Any]) -> None:
    assert shown(SAID, line) == "cursor.cli"


OPENING: dict[str, Any] = {"type": "system", "subtype": "init", "session_id": "s", "tools": []}


@pytest.mark.parametrize(
    "line",
    [
        {"type": "completion", "finalText": "Hi", "session_id": "s"},
        {"type": "message", "role": "assistant", "text": "Hi", "session_id": "s"},
        {"type": "reasoning", "id": "r", "text": "Hm", "session_id": "s"},
        {"type": "tool_call", "toolName": "Execute", "parameters": {}, "session_id": "s"},
    ],
)
def test_lines_of_droid_are_none_of_claude_code(line: dict[str, Any]) -> None:
    assert shown(OPENING, line) == "droid.cli"
    assert shown(OPENING, SAID) == "claude.stream-json"


@pytest.mark.parametrize(
    "line",
    [
        {"type": "system", "subtype": "init", "apiKeySource": "none", "tools": []},
        {"type": "system", "subtype": "init", "apiKeySource": "/login managed key", "tools": []},
        {"type": "user", "message": {"role": "user", "content": "thinking"}, "session_id": "s"},
    ],
)
def test_a_session_of_claude_code_stays_one(line: dict[str, Any]) -> None:
    assert shown(SAID, line) == "claude.stream-json"


@pytest.mark.parametrize("end", [[], [{"type": "error", "message": "Authentication failed"}]])
def test_one_beginning_with_a_known_name_makes_no_stream_of_it(end: list[dict[str, Any]]) -> None:
    """Lines of Droid share the first one, and the keys of all, with those of Claude Code."""
    opening = {"type": "system", "subtype": "init", "session_id": "s", "timestamp": 1}
    kinds = ("message", "tool_call", "tool_result", "completion")
    lines = [{"type": kind, "session_id": "s", "timestamp": 2} for kind in kinds]
    assert shown(opening, *lines, *end) is None
    assert shown(opening, *lines, SAID) == "claude.stream-json"


def test_lines_without_session_and_message_are_of_another_agent() -> None:
    """Roo writes the content in the line."""
    opening = {"type": "system", "subtype": "init", "protocol": "roo-cli-stream"}
    lines: list[dict[str, Any]] = [{"type": "assistant", "id": 1, "content": "Hi"}]
    assert shown(opening, *lines) is None
    assert shown({**opening, "session_id": "s"}, *lines) == "claude.stream-json"
    assert shown(opening, *lines, {"type": "assistant", "message": {}}) == "claude.stream-json"


SOMEBODYS_OPENING: dict[str, Any] = {
    "type": "message_start",
    "message": {"id": "m", "role": "assistant", "model": "x"},
}
SOMEBODYS: list[dict[str, Any]] = [
    {"type": "content_block_start", "index": 0, "content_block": {"type": "banner"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_stop"},
]


def test_a_protocol_with_the_names_of_another_one_shows_none() -> None:
    assert shown(SOMEBODYS_OPENING, *SOMEBODYS) is None


@pytest.mark.parametrize("part", [{"type": "message"}, {"content": []}, {"usage": {}}])
def test_a_message_that_lacks_fields_is_still_one(part: dict[str, Any]) -> None:
    opening = {**SOMEBODYS_OPENING, "message": {**SOMEBODYS_OPENING["message"], **part}}
    assert shown(opening, *SOMEBODYS) == "anthropic.messages"


def test_a_message_that_says_why_it_ends_is_still_one() -> None:
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    assert shown(SOMEBODYS_OPENING, *SOMEBODYS[:2], end, SOMEBODYS[2]) == "anthropic.messages"


@pytest.mark.parametrize(("unknown", "name"), [(6, None), (3, "agui")])
def test_most_payloads_have_the_dialect_of_one(unknown: int, name: str | None) -> None:
    """A log of several tools begins with a run of one of them, or holds one."""
    others: list[dict[str, Any]] = [{"kind": "log", "n": n} for n in range(unknown)]
    run: list[dict[str, Any]] = [{"type": "RUN_STARTED"}, {"type": "RUN_FINISHED"}]
    assert shown(*run, *others) == name


MISSPELT: list[dict[str, Any]] = [
    {"type": "content_block_dleta", "index": 0, "delta": {"type": "text_delta", "text": "a"}}
]


def test_a_type_that_is_misspelt_in_every_delta_is_a_fault_and_no_doubt() -> None:
    opening = {"type": "message_start", "message": {"id": "m", "type": "message", "content": []}}
    assert shown(opening, *MISSPELT * 9, {"type": "message_stop"}) == "anthropic.messages"


def test_payloads_of_another_dialect_are_a_doubt() -> None:
    """A gateway writes a chunk of Chat before a stream of Responses."""
    chunk = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}}]}
    others = [{"type": f"response.{name}", "response": {}} for name in ("created", "completed")]
    assert shown(chunk, *others * 3) is None


def test_unknown_types_below_an_open_prefix_and_errors_are_no_doubt() -> None:
    opening = {"type": "response.created", "response": {}}
    invented: list[dict[str, Any]] = [{"type": f"response.invented.{n}"} for n in range(6)]
    refused: list[dict[str, Any]] = [{"error": {"message": "x"}}, {"type": "ping"}] * 4
    assert shown(opening, *invented) == "openai.responses"
    assert shown(opening, *refused) == "openai.responses"


def test_a_doubted_stream_says_why() -> None:
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in (SOMEBODYS_OPENING, *SOMEBODYS))
    exchange = Exchange(1, Request(), Response(200), (Chunk(body.encode()),))
    assert doubted_dialect(exchange) == (
        "it begins like anthropic.messages, but its message_start holds no type, content or usage, "
        "and no message_delta comes"
    )


@pytest.mark.parametrize(
    ("candidates", "dialect"),
    [
        ([{"id": "D1", "kind": "copied code", "decision": "accept"}], None),
        ([{"name": "Ada", "score": 0.5}, {"name": "Bo", "score": 0.25}], None),
        ([{"content": {"parts": []}}], "gemini.generate"),
        ([{"id": "a", "finishReason": "STOP"}], "gemini.generate"),
        ([{}], "gemini.generate"),
        ([], "gemini.generate"),
    ],
)
def test_candidates_of_another_program_are_no_answer(candidates: Any, dialect: str | None) -> None:
    assert recognise(Frame("body", "message", "", "", 0), {"candidates": candidates}) == dialect
