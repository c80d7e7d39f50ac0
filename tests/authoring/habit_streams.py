"""Streams with stable habits of systems, which the systems' own profiles permit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.authoring import chat, messages, responses
from tests.authoring.chat import CREATED_AT, Server, answer, counted
from tests.authoring.draft import Draft
from tests.authoring.messages import answer as messages_answer
from tests.authoring.messages import text, thinking
from tests.authoring.pieces import DONE, Fields, Message, deltas
from tests.authoring.responses import Answer, Item, message, stream, summarised

WIND: Final = "Which way does the wind blow tonight?"
WIND_THOUGHT: Final = "The weather vane points to the sea, so the wind comes off the land."
WIND_TEXT: Final = "It blows out to sea."


def drafts() -> Iterator[Draft]:
    yield from _filtered()
    yield from _usage_twice()
    yield from _routed()
    yield from _inline()
    yield from _behind_litellm()


def _chat(topic: str, pieces: list[Message], **more: Any) -> Draft:
    asked = {
        "model": "think-1",
        "messages": [{"role": "user", "content": WIND}],
        "stream": True,
        **more,
    }
    return chat.drafted(topic, asked, pieces, profile=topic.partition("/")[0])


def _filtered() -> Iterator[Draft]:
    """A content filter speaks first; then choices that carry its results and no null finish."""
    server = Server(model="grok-4-fast", bare=True)
    first = {"choices": [], "created": 0, "id": "", "model": "", "prompt_filter_results": []}
    usage = server.usage((9, 31, 12))
    events = [
        server.said(role="assistant", reasoning_content=""),
        *server.each("reasoning_content", deltas(WIND_THOUGHT)),
        *server.each("content", deltas(WIND_TEXT)),
        server.said(finish="stop"),
    ]
    pieces = [Message({**first, "object": ""}), *map(_with_results, events), usage, DONE]
    yield _chat("azure-grok/thinking-filtered", pieces)

    server = Server(model="gpt-4o", bare=True)
    events = [
        server.opening(),
        *server.each("content", deltas(WIND_TEXT)),
        server.said(finish="stop"),
    ]
    parts = [Message(first), *map(_with_results, events)]
    yield _chat("copilot/filter-first", [*map(_without_object, parts), DONE])


def _with_results(piece: Message) -> Message:
    (choice,) = piece.payload["choices"]
    return Message({**piece.payload, "choices": [{**choice, "content_filter_results": {}}]})


def _without_object(piece: Message) -> Message:
    return Message({key: value for key, value in piece.payload.items() if key != "object"})


def _usage_twice() -> Iterator[Draft]:
    server = Server()
    usage = counted((9, 31, 19))
    finish = {**server.said(finish="stop").payload, "x_groq": {"id": "req_00"}, "usage": usage}
    events = answer(server, "reasoning", WIND_THOUGHT, WIND_TEXT)[:-2]
    pieces = [*events, Message(finish), server.usage((9, 31, 19)), DONE]
    more = {"reasoning_format": "parsed", "stream_options": {"include_usage": True}}
    yield _chat("groq/usage-twice", pieces, **more)

    server = Server(model="@cf/think-1")
    events = [
        server.opening(),
        *server.each("reasoning_content", deltas(WIND_THOUGHT)),
        *server.each("content", deltas(WIND_TEXT)),
        server.said(finish="stop"),
        server.chunk([]),
    ]
    step = {**counted((0, 1, 0), details=False), "neurons": 0.03}
    steps = [Message({**piece.payload, "usage": step}) for piece in events]
    yield _chat("cloudflare/usage-in-steps", [*steps, DONE])


def _routed() -> Iterator[Draft]:
    """Without a terminator, and without a null finish."""
    server = Server(bare=True)
    finish = server.said(finish="stop").payload
    usage = counted((9, 12, 0), details=False)
    events = [server.said(role="assistant"), *server.each("content", deltas(WIND_TEXT))]
    yield _chat("huggingface/no-terminator", [*events, Message({**finish, "usage": usage})])

    server = Server(repeats_role=True, bare=True)
    used = {"usage": {**counted((9, 12, 0), details=False), "search_context_size": "low"}}
    events = [*server.each("content", deltas(WIND_TEXT)), server.said(content="", finish="stop")]
    *chunks, end = [Message({**piece.payload, **used}) for piece in events]
    end = Message({**end.payload, "object": "chat.completion.done"})
    yield _chat("perplexity/by-the-clock", _by_the_clock([*chunks, end]))

    empty = {"graph_data": None, "llm_data": None}
    server = Server(extra={"system_fingerprint": "v1"})
    events = [*server.each("content", deltas(WIND_TEXT), **empty), server.said(finish="stop")]
    yield _chat("writer/graph-data", [server.opening(**empty), *events, DONE])


def _inline() -> Iterator[Draft]:
    """Thinking between tags inside content."""
    server = Server()
    tagged = [f"<think>{WIND_THOUGHT}</think>", *deltas(WIND_TEXT)]
    events = [server.opening(), *server.each("content", tagged), server.said(finish="stop")]
    yield _chat("venice/inline-think", [*events, DONE])

    server = Server(bare=True, extra={"id": "req_0", "model": "think-1@main"})
    events = [server.said(role="assistant"), *server.each("content", tagged)]
    pieces = [*events, server.said(finish="stop")]
    yield _chat("transformers-serve-4/inline-think", _by_the_clock(pieces))


def _by_the_clock(pieces: list[Message]) -> list[Message]:
    times = enumerate(pieces, CREATED_AT)
    return [Message({**piece.payload, "created": time}) for time, piece in times]


def _behind_litellm() -> Iterator[Draft]:
    server = Server(bare=True)
    last: Fields = {"index": 0, "delta": {}}
    pieces = [
        server.said(role="assistant", reasoning_content=""),
        *server.each("reasoning_content", deltas(WIND_THOUGHT)),
        *server.each("content", deltas(WIND_TEXT)),
        server.said(finish="stop"),
        server.chunk([last], usage=counted((9, 31, 12))),
        DONE,
    ]
    yield _chat("litellm/usage-beside-a-choice", pieces)

    asked: Fields = {
        "model": "think-1",
        "max_tokens": 2048,
        "messages": [{"role": "user", "content": WIND}],
        "stream": True,
    }
    blocks = [thinking(0, WIND_THOUGHT, signed=False), text(1, WIND_TEXT)]
    unsigned = messages_answer(blocks, (9, 31, None))
    yield messages.drafted("litellm/unsigned", asked, unsigned, profile="litellm")

    asked = {"model": "think-1", "input": WIND, "reasoning": {"summary": "auto"}, "stream": True}
    items = [*summarised(Item(0, "rs_01"), [WIND_THOUGHT]), *message(Item(1, "msg_02"), WIND_TEXT)]
    events = Answer("resp_00", "think-1", asked).completed(items, (9, 31, 12))
    numbered = stream(events, named=False)
    pieces = [*numbered, DONE]
    yield responses.drafted("litellm/data-lines", asked, pieces, profile="litellm")
    pieces = [*map(_without_number, numbered), DONE]
    profile = "litellm-bridge"
    yield responses.drafted(f"{profile}/no-numbers", asked, pieces, profile=profile)


def _without_number(piece: Message) -> Message:
    return Message({key: each for key, each in piece.payload.items() if key != "sequence_number"})
