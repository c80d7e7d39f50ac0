"""Operators on the request: switches that are not honoured, and history that is not sent back.

The response stays as it was recorded; the request says something it does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from conformance.core.json_values import cut_at, list_at, put_at, text_at, value_at
from conformance.mutate.operator import Operator
from conformance.mutate.stream import Stream
from conformance.mutate.texts import CHAT, RESPONSES, deltas

_C: Final = (CHAT,)
_R: Final = (RESPONSES,)
_Body = Mapping[str, Any]


def _body(stream: Stream) -> Any:
    request = stream.exchange.request
    return request.json if request is not None else None


def _asking(stream: Stream, body: Any) -> Stream:
    request = stream.exchange.request
    assert request is not None
    return replace(stream, exchange=replace(stream.exchange, request=replace(request, json=body)))


def _with(**more: Any) -> Callable[[Stream, int], Stream]:
    return lambda stream, _: _asking(stream, {**_body(stream), **more})


def _shown(stream: Stream) -> list[int]:
    """Streams with thinking whose request is known."""
    return [0] if isinstance(_body(stream), dict) and deltas(stream, "thinking") else []


def _summarised(stream: Stream) -> list[int]:
    kind = "response.reasoning_summary_text.delta"
    return [0] if isinstance(_body(stream), dict) and stream.typed(kind) else []


def _entries(key: str, *kinds: str) -> Callable[[Stream], list[int]]:
    """Places of history entries of these types."""
    return lambda stream: [
        n for n, entry in enumerate(list_at(_body(stream), key)) if text_at(entry, "type") in kinds
    ]


def _lost_entry(stream: Stream, site: int) -> Stream:
    return _asking(stream, cut_at(_body(stream), ("input", site)))


def _sealed(stream: Stream) -> list[int]:
    found = _entries("input", "reasoning")(stream)
    return [n for n in found if text_at(_body(stream), "input", n, "encrypted_content")]


def _altered(stream: Stream, site: int) -> Stream:
    path = ("input", site, "encrypted_content")
    sealed = text_at(_body(stream), *path)
    return _asking(stream, put_at(_body(stream), path, f"{sealed[1:]}{sealed[0]}"))


def _thoughtful(stream: Stream) -> list[int]:
    """Earlier answers that are sent back with their thinking."""
    messages = list_at(_body(stream), "messages")
    return [n for n, each in enumerate(messages) if text_at(each, "reasoning_content")]


def _lost_thinking(stream: Stream, site: int) -> Stream:
    return _asking(stream, cut_at(_body(stream), ("messages", site, "reasoning_content")))


def _thinking_in_content(stream: Stream, site: int) -> Stream:
    message = value_at(_body(stream), "messages", site)
    text = f"<think>{message['reasoning_content']}</think>{message.get('content') or ''}"
    bare = {**cut_at(message, ("reasoning_content",)), "content": text}
    return _asking(stream, put_at(_body(stream), ("messages", site), bare))


ASKED: Final = (
    Operator(
        "P1-effort-none",
        "Thinking is shown though none was asked for.",
        _shown,
        _with(reasoning={"effort": "none"}),
        _R,
    ),
    Operator(
        "P1-excluded",
        "Thinking is shown though it was excluded.",
        _shown,
        _with(reasoning={"exclude": True}),
        _C,
    ),
    Operator(
        "P1-switched-off",
        "Thinking is shown though the template switched it off.",
        _shown,
        _with(chat_template_kwargs={"enable_thinking": False}),
        _C,
    ),
    Operator(
        "P2-no-summary-asked",
        "A summary is shown though none was asked for.",
        _summarised,
        _with(reasoning={"effort": "medium"}),
        _R,
        must="either",
        reason="OpenAI sends a summary only where it is asked for, other servers send it always",
    ),
    Operator(
        "H1-lost-reasoning-item",
        "A reasoning item is not sent back.",
        _entries("input", "reasoning"),
        _lost_entry,
        _R,
    ),
    Operator(
        "H2-altered-opaque", "Encrypted thinking is sent back altered.", _sealed, _altered, _R
    ),
    Operator(
        "H3-lost-thinking",
        "The thinking before a tool call is not sent back.",
        _thoughtful,
        _lost_thinking,
        _C,
    ),
    Operator(
        "H4-thinking-in-content",
        "Thinking is sent back inside the content.",
        _thoughtful,
        _thinking_in_content,
        _C,
    ),
)
