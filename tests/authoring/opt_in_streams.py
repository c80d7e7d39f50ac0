"""Servers that hide thinking by default, one request asked in two ways, and lists of models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from tests.authoring import chat
from tests.authoring.chat import CREATED_AT, Server, answer, counted
from tests.authoring.draft import JSON_BODY, Draft, Headers
from tests.authoring.pieces import DONE, Fields, Message, compact, deltas

OPT_IN: Final[Headers] = (("x-include-thinking", "true"),)
BEES: Final = "How do bees find home?"
BEES_THOUGHT: Final = "Bees learn landmarks and the place of the sun on their first flights."
BEES_TEXT: Final = "They remember landmarks and steer by the sun."
USAGE: Final = (10, 27, 15)


def drafts() -> Iterator[Draft]:
    yield _hidden(role="plain", then=(_opted_in(role="opted-in"),))
    yield _opted_in(hop="downstream", then=(_opted_in(hop="upstream"),))
    yield _cut_by_length()
    yield _stream_and_body()
    yield _calls_and_body()
    yield _models()


def _asked(**more: Any) -> Fields:
    return {"model": "think-1", "messages": [{"role": "user", "content": BEES}], **more}


def _hidden(**facts: Any) -> Draft:
    """An answer without its thinking, which is counted all the same."""
    server = Server()
    events = server.each("content", deltas(BEES_TEXT))
    pieces = [server.opening(), *events, server.said(finish="stop"), server.usage(USAGE), DONE]
    return _reference("opt-in", pieces, scenario="opt-in", **facts)


def _opted_in(**facts: Any) -> Draft:
    """The answer with its thinking between markers, as the opt-in asks for."""
    server = Server()
    texts = ["<think>", *deltas(BEES_THOUGHT), "</think>", *deltas(BEES_TEXT)]
    events = server.each("content", texts)
    pieces = [server.opening(), *events, server.said(finish="stop"), server.usage(USAGE), DONE]
    # Two hops are the client's exchange with the gateway, and the gateway's with the server.
    return _reference("opt-in-through-gateway", pieces, headers=OPT_IN, scenario="opt-in", **facts)


def _reference(topic: str, pieces: list[Message], **facts: Any) -> Draft:
    asked = _asked(stream=True, **facts.pop("more", {}))
    return chat.drafted(f"reference/{topic}", asked, pieces, profile="reference", **facts)


def _cut_by_length() -> Draft:
    server = Server()
    sent = server.each("content", deltas(BEES_TEXT)[:3])
    pieces = [server.opening(), *sent, server.said(finish="length"), server.usage((10, 6, 0)), DONE]
    return _reference("cut-by-length", pieces, more={"max_tokens": 6})


def _stream_and_body() -> Draft:
    """One request, answered piece by piece and whole."""
    stream = answer(Server(), "reasoning_content", BEES_THOUGHT, BEES_TEXT, usage=USAGE)
    message = {"role": "assistant", "content": BEES_TEXT, "reasoning_content": BEES_THOUGHT}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    fields = Server(extra={"id": "chatcmpl-01"}).chunk([choice], usage=counted(USAGE)).payload
    whole = compact({**fields, "object": "chat.completion"}).encode()
    topic = "deepseek/stream-and-body"
    facts: Fields = {"profile": "deepseek", "scenario": "stream-and-body"}
    asked = _asked(temperature=0)
    body = chat.drafted(
        topic, {**asked, "stream": False}, [whole], content_type=JSON_BODY, role="body", **facts
    )
    streamed = chat.drafted(topic, {**asked, "stream": True}, stream, **facts)
    return replace(streamed, role="stream", then=(body,))


def _calls_and_body() -> Draft:
    """Two calls at once, asked for as a stream and as a whole body."""
    server = Server()
    given = ("Bees", "Wasps")
    pieces = [
        server.opening(content=None),
        *(m for n, of in enumerate(given) for m in server.tool(n, "look_up", _pieces_of_call(of))),
        server.said(finish="tool_calls"),
        server.usage((30, 24, 0)),
        DONE,
    ]
    calls = [
        {
            "id": f"call_{n}",
            "type": "function",
            "function": {"name": "look_up", "arguments": "".join(_pieces_of_call(of))},
        }
        for n, of in enumerate(given)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    fields = Server(extra={"id": "chatcmpl-01"}).chunk([choice], usage=counted((30, 24, 0))).payload
    whole = compact({**fields, "object": "chat.completion"}).encode()
    facts: Fields = {"profile": "deepseek", "scenario": "two-calls"}
    schema = {"type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]}
    function = {"name": "look_up", "parameters": schema}
    asked = _asked(temperature=0, tools=[{"type": "function", "function": function}])
    topic = "deepseek/calls-and-body"
    body = chat.drafted(
        topic,
        {**asked, "stream": False},
        [whole],
        content_type=JSON_BODY,
        role="tool-turn-body",
        **facts,
    )
    streamed = chat.drafted(topic, {**asked, "stream": True}, pieces, **facts)
    return replace(streamed, role="tool-turn", then=(body,))


def _pieces_of_call(of: str) -> list[str]:
    return ['{"of": ', f'"{of}"', "}"]


def _models() -> Draft:
    entries = [_entry("think-1", ["low", "medium", "high"]), _entry("plain-1", [])]
    body = compact({"object": "list", "data": entries}).encode()
    listed = chat.drafted(
        "reference/models", {}, [body], content_type=JSON_BODY, profile="reference"
    )
    return replace(listed, path="/v1/models", method="GET")


def _entry(name: str, levels: list[str]) -> Fields:
    known = {"id": name, "object": "model", "created": CREATED_AT, "owned_by": "example"}
    return {**known, "supports_thinking": bool(levels), "thinking_levels": levels}
