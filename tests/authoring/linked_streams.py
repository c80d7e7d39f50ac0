"""Talks without a scenario: a turn that calls, the one that brings the result, and a new question.

What belongs together shows in what is sent back alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from tests.authoring import chat, converse, messages, responses
from tests.authoring import messages as blocks
from tests.authoring.chat import Server, counted
from tests.authoring.draft import Draft
from tests.authoring.pieces import DONE, Fields, Message, Piece, compact, deltas, opaque
from tests.authoring.responses import Answer, Item, call, closed, message, stream, summarised

QUESTION: Final = "Which tide lets a barge pass under the old bridge?"
THOUGHT: Final = "The arch is low, so only ebb will do, and the gauge knows its hour."
AGAIN_THOUGHT: Final = "Nobody but the gauge can say when that is, so I ask it."
NAME: Final = "read_gauge"
ARGUMENTS: Final[Fields] = {"bridge": "old"}
RESULT: Final = "Ebb at a quarter past four."
TEXT: Final = "The ebb at a quarter past four lets a barge pass under the old bridge."
AGAIN: Final = "And the new bridge?"
PRESERVING: Final = "claude-opus-5-5"  # a model that checks what stands before its thinking
SYSTEM: Final = "You know the tides of one harbour. Today is the ninth of May."
AGAIN_TEXT: Final = "It is high enough at any hour."


def drafts() -> Iterator[Draft]:
    yield _chat_talk("google", _google_calls(), [])
    yield _chat_talk("moonshot", _calls(), _thinking("reasoning_content"))
    yield _chat_talk("dashscope", _calls(), _thinking("reasoning_content"))
    yield _openrouter_talk()
    yield _chat_talk(
        "strict",
        _calls(),
        [*_thinking("reasoning_text"), {"reasoning_opaque": opaque("tide", 48)}],
        {"reasoning_opaque": opaque("tide", 48)},
    )
    yield _messages_talk("anthropic/talk", {"model": blocks.MODEL})
    yield _messages_talk("anthropic/preserved-talk", {"model": PRESERVING, "system": SYSTEM})
    yield _converse_talk("claude/talk")
    yield _converse_talk("claude/sealed-talk", "gauge")
    yield _responses_talk("stateless-talk", store=False)
    yield _responses_talk("stored-talk", store=True)
    yield _responses_by_ids()


def _carry_on(first: Draft, *then: Draft) -> Draft:
    return replace(first, then=then)


def _user(text: str) -> Fields:
    return {"role": "user", "content": text}


def _calls() -> list[Fields]:
    function = {"name": NAME, "arguments": compact(ARGUMENTS)}
    return [{"id": "call_ebb", "type": "function", "function": function}]


def _google_calls() -> list[Fields]:
    """Two calls, of which the first one is signed."""
    (first,) = _calls()
    signed = {"google": {"thought_signature": opaque("ebb", 40)}}
    return [{**first, "extra_content": signed}, {**first, "id": "call_flood"}]


def _thinking(field: str) -> list[Fields]:
    return [{field: piece} for piece in deltas(THOUGHT)]


def _chat_talk(
    profile: str, calls: Sequence[Fields], events: Sequence[Fields], beside: Fields | None = None
) -> Draft:
    server = Server()
    pieces = [
        server.opening(content=None),
        *(server.said(**each) for each in events),
        *(server.said(tool_calls=[{"index": n, **each}]) for n, each in enumerate(calls)),
        server.said(finish="tool_calls"),
        server.usage((24, 33, 17)),
        DONE,
    ]
    fields = {"reasoning_content": THOUGHT} if events else {}
    called = {"role": "assistant", "content": None, **fields, **(beside or {})}
    return _chat(f"{profile}/talk", profile, server, pieces, {**called, "tool_calls": [*calls]})


def _chat(
    topic: str, profile: str, server: Server, pieces: Sequence[Piece], called: Fields
) -> Draft:
    """The turn that calls, in `pieces`, is `called` when it comes back."""
    tools = [{"type": "function", "function": {"name": NAME, "parameters": {"type": "object"}}}]
    results = [
        {"role": "tool", "tool_call_id": each["id"], "content": RESULT}
        for each in called["tool_calls"]
    ]

    def turn(given: Sequence[Piece], *history: Fields) -> Draft:
        talk = [_user(QUESTION), *history]
        asked = {"model": "think-1", "messages": talk, "stream": True, "tools": tools}
        return chat.drafted(topic, asked, given, profile=profile)

    spoken = [called, *results]
    more = [*spoken, {"role": "assistant", "content": TEXT}, _user(AGAIN)]
    return _carry_on(
        turn(pieces),
        turn(_chat_text(server, TEXT), *spoken),
        turn(_chat_text(server, AGAIN_TEXT), *more),
    )


def _chat_text(server: Server, text: str) -> list[Message]:
    events = [server.opening(), *server.each("content", deltas(text))]
    end = server.said(content="", finish="stop")
    if not server.repeats_role:
        return [*events, end, server.usage((40, 12, 0)), DONE]
    return [*events, end, Message({**end.payload, "usage": counted((40, 12, 0))}), DONE]


def _openrouter_talk() -> Draft:
    server = Server(repeats_role=True, extra={"provider": "Example"})
    detail = {"type": "reasoning.text", "format": "example-v1", "index": 0}
    sealed = {"type": "reasoning.encrypted", "format": "example-v1", "index": 1}
    signature, data = {"signature": opaque("ebb")}, {"data": opaque("ebb sealed")}
    last = server.said(content="")
    pieces = [
        *(
            server.said(content="", reasoning=each, reasoning_details=[{**detail, "text": each}])
            for each in deltas(THOUGHT)
        ),
        server.said(content="", reasoning=None, reasoning_details=[{**detail, **signature}]),
        server.said(content="", reasoning=None, reasoning_details=[{**sealed, **data}]),
        *(server.said(tool_calls=[{"index": 0, **each}]) for each in _calls()),
        server.said(content="", finish="tool_calls"),
        Message({**last.payload, "usage": counted((43, 36, 19))}),
        DONE,
    ]
    details = [{**detail, "text": THOUGHT, **signature}, {**sealed, **data}]
    called = {"role": "assistant", "content": "", "reasoning_details": details}
    topic = "openrouter/talk"
    return _chat(topic, "openrouter", server, pieces, {**called, "tool_calls": _calls()})


def _messages_talk(topic: str, beside: Fields) -> Draft:
    tools = [{"name": NAME, "input_schema": {"type": "object"}}]

    def turn(given: Sequence[Piece], *history: Fields) -> Draft:
        asked: Fields = {
            **beside,
            "max_tokens": 2048,
            "messages": [_user(QUESTION), *history],
            "thinking": {"type": "adaptive"},
            "stream": True,
            "tools": tools,
        }
        return messages.drafted(topic, asked, given)

    called = blocks.tool(2, NAME, ["", compact(ARGUMENTS)])
    thought = [blocks.thinking(0, THOUGHT), blocks.redacted(1)]
    use = {"type": "tool_use", "id": "toolu_2", "name": NAME, "input": ARGUMENTS}
    signed = {"type": "thinking", "thinking": THOUGHT, "signature": blocks.signature_of(0)}
    sealed = {"type": "redacted_thinking", "data": opaque("redacted 1")}
    result = {"type": "tool_result", "tool_use_id": "toolu_2", "content": RESULT}
    spoken: list[dict[str, Any]] = [
        {"role": "assistant", "content": [signed, sealed, use]},
        {"role": "user", "content": [result]},
    ]
    message = {"role": "assistant", "content": [{"type": "text", "text": TEXT}]}
    return _carry_on(
        turn(blocks.answer([*thought, called], (30, 30, 12), "tool_use")),
        turn(blocks.answer([blocks.text(0, TEXT)], (60, 20, None)), *spoken),
        turn(
            blocks.answer([blocks.text(0, AGAIN_TEXT)], (80, 10, None)),
            *(*spoken, message, _user(AGAIN)),
        ),
    )


def _converse_talk(topic: str, sealed: str = "") -> Draft:
    """`sealed` names a redacted block behind the one that is signed."""
    schema = {"json": {"type": "object", "properties": {"bridge": {"type": "string"}}}}
    tools = {"tools": [{"toolSpec": {"name": NAME, "inputSchema": schema}}]}

    def user(**content: Any) -> Fields:
        return {"role": "user", "content": [content]}

    def turn(given: Sequence[Piece], *history: Fields) -> Draft:
        asked: Fields = {
            "messages": [user(text=QUESTION), *history],
            "inferenceConfig": {"maxTokens": 2048},
            "additionalModelRequestFields": converse.ENABLED,
            "toolConfig": tools,
        }
        return converse.drafted(topic, asked, given)

    redacted = converse.redacted(1, sealed) if sealed else []
    call_block = converse.call(2 if sealed else 1, NAME, ARGUMENTS)
    called = [*converse.thought(0, THOUGHT, "tide"), *redacted, *call_block]
    use = {"toolUseId": "tooluse_synthetic_1", "name": NAME, "input": ARGUMENTS}
    kept = [{"reasoningContent": {"redactedContent": converse.signature(sealed)}}] if sealed else []
    answered = [converse.reasoning(THOUGHT, "tide"), *kept, {"toolUse": use}]
    result = {"toolUseId": "tooluse_synthetic_1", "content": [{"text": RESULT}]}
    spoken = [{"role": "assistant", "content": answered}, user(toolResult=result)]
    message = {"role": "assistant", "content": [{"text": TEXT}]}
    return _carry_on(
        turn(converse.answer(called, (90, 60), "tool_use")),
        turn(converse.answer(converse.spoken(0, TEXT), (130, 22)), *spoken),
        turn(
            converse.answer(converse.spoken(0, AGAIN_TEXT), (160, 12)),
            *(*spoken, message, user(text=AGAIN)),
        ),
    )


def _responses_asked(history: tuple[Any, ...], *, store: bool, **included: Any) -> Fields:
    return {
        "model": "think-1",
        "input": [_user(QUESTION), *history],
        "reasoning": {"effort": "medium", "summary": "auto"},
        **included,
        "store": store,
        "stream": True,
        "tools": [{"type": "function", "name": NAME, "parameters": {"type": "object"}}],
    }


def _responses_talk(name: str, *, store: bool) -> Draft:
    def turn(number: int, items: list[Fields], *history: Any) -> Draft:
        asked = _responses_asked(history, store=store, include=["reasoning.encrypted_content"])
        events = Answer(f"resp_1{number}", "think-1", asked).completed(items, (30, 30, 18))
        made = responses.drafted(f"openai/{name}", asked, stream(events))
        return replace(made, profile="openai") if store else made

    called = [
        *summarised(Item(0, "rs_11"), [THOUGHT], encrypted=True),
        *call(Item(1, "fc_12"), NAME, compact(ARGUMENTS), [compact(ARGUMENTS)]),
    ]
    result = {"type": "function_call_output", "call_id": "call_fc_12", "output": RESULT}
    sent = [*summarised(Item(0, "rs_13"), [], encrypted=True), *message(Item(1, "msg_14"), TEXT)]
    more = [
        *summarised(Item(0, "rs_15"), [], encrypted=True),
        *message(Item(1, "msg_16"), AGAIN_TEXT),
    ]
    spoken = [*closed(called), result]
    return _carry_on(
        turn(1, called), turn(2, sent, *spoken), turn(3, more, *spoken, *closed(sent), _user(AGAIN))
    )


def _responses_by_ids() -> Draft:
    """A call behind two items of reasoning; the server keeps what was thought."""

    def turn(number: int, items: list[Fields], *history: Any) -> Draft:
        asked = _responses_asked(history, store=True)
        events = Answer(f"resp_2{number}", "think-1", asked).completed(items, (30, 30, 18))
        return responses.drafted("openai/two-thoughts-talk", asked, stream(events))

    arguments = compact(ARGUMENTS)
    called = [
        *summarised(Item(0, "rs_21"), [THOUGHT]),
        *summarised(Item(1, "rs_22"), [AGAIN_THOUGHT]),
        *call(Item(2, "fc_23"), NAME, arguments, [arguments]),
    ]
    result = {"type": "function_call_output", "call_id": "call_fc_23", "output": RESULT}
    answer = message(Item(0, "msg_24"), TEXT)
    return _carry_on(turn(1, called), turn(2, answer, *closed(called), result))
