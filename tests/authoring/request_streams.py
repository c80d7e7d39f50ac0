"""Streams that answer a parameter: effort, summary, padding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from tests.authoring import chat, responses
from tests.authoring.chat import Server
from tests.authoring.draft import Draft
from tests.authoring.pieces import DONE, Fields, deltas
from tests.authoring.responses import (
    Answer,
    Item,
    closed,
    message,
    raw_thinking,
    stream,
    summarised,
)

KNOTS: Final = "Which knot holds a boat?"
KNOTS_THOUGHT: Final = (
    "It has to hold under load and to open by hand, so a bowline or a cleat hitch."
)
KNOTS_SUMMARY: Final = "**Comparing knots**\n\nOne that holds and still opens is wanted."
KNOTS_TEXT: Final = "A cleat hitch on a cleat, a bowline on a ring."


def drafts() -> Iterator[Draft]:
    yield _chat("vllm/effort-none", profile="vllm", reasoning_effort="none")
    yield _chat("openrouter/thinking-excluded", reasoning={"effort": "high", "exclude": True})
    switched_off = {"enable_thinking": False}
    yield _chat("vllm/switched-off", profile="vllm", chat_template_kwargs=switched_off)
    yield _chat("openai/padding-off", stream_options={"include_obfuscation": False})
    yield _responses("openai/effort-none", reasoning={"effort": "none"})
    yield _responses("openai/padding-off", stream_options={"include_obfuscation": False})
    yield _summaries()


def _chat(topic: str, *, profile: str = "strict", **more: Any) -> Draft:
    """An answer that shows no thinking."""
    messages = [{"role": "user", "content": KNOTS}]
    asked = {"model": "think-1", "messages": messages, "stream": True, **more}
    server = Server()
    events = server.each("content", deltas(KNOTS_TEXT))
    pieces = [server.opening(), *events, server.said(finish="stop"), DONE]
    return chat.drafted(topic, asked, pieces, profile=profile)


def _asked(**more: Any) -> Fields:
    return {"model": "think-1", "input": KNOTS, "stream": True, **more}


def _responses(topic: str, **more: Any) -> Draft:
    asked = _asked(**more)
    events = Answer("resp_00", "think-1", asked).completed(
        message(Item(0, "msg_01"), KNOTS_TEXT), (9, 14, 0)
    )
    return responses.drafted(topic, asked, stream(events))


def _summaries() -> Draft:
    """One request without a summary and with one, which a second call of the model writes."""
    thinking = raw_thinking(Item(0, "rs_01"), KNOTS_THOUGHT)
    plain = _answered("no-summary", {"effort": "medium"}, thinking, 34)
    events = summarised(Item(0, "rs_01"), [KNOTS_SUMMARY])
    (item,) = closed(thinking)
    (written,) = closed(events)
    end = {**thinking[-1], "item": {**item, "summary": written["summary"]}}
    both = [*thinking[:-1], *events[1:-1], end]
    asked = {"effort": "medium", "summary": "concise"}
    return replace(plain, then=(_answered("summary", asked, both, 61),))


def _answered(role: str, reasoning: Fields, thinking: list[Fields], written: int) -> Draft:
    asked = _asked(reasoning=reasoning)
    items = [*thinking, *message(Item(1, "msg_02"), KNOTS_TEXT)]
    events = Answer("resp_00", "think-1", asked).completed(items, (9, written, 20))
    return responses.drafted(
        "reference/summary-on-request",
        asked,
        stream(events),
        profile="reference",
        scenario="summary",
        role=role,
    )
