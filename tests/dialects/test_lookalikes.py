"""Dialects that begin alike are told apart by what comes later."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.dialects.recognition import recognised_dialect

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
def test_parts_of_a_model_are_no_ui_message_stream(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
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
