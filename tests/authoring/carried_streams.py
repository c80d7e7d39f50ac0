"""Turns after turns that thought: what a client carries along always, by model, or never."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from tests.authoring import chat, messages, responses
from tests.authoring import messages as blocks
from tests.authoring.chat import Server, answer
from tests.authoring.draft import Draft
from tests.authoring.history_shared import ARGUMENTS, FERRY, FERRY_RESULT, FOUND, NAME
from tests.authoring.pieces import Fields, opaque
from tests.authoring.responses import Answer, Item, closed, message, stream, summarised

FERRY_THOUGHT: Final = "The timetable of last year names nine and five, and it rarely changes."
FERRY_TEXT: Final = "It sailed at nine and at five last year."
SURE: Final = "Are you sure?"
SURE_TEXT: Final = "No, look at the notice on the pier."
OWN: Final = "reference-client"
WANTS: Final = "kimi-k3"
WANTS_NOT: Final = "gpt-4o"
_USER: Final[Fields] = {"role": "user", "content": FERRY}
_SURE: Final[Fields] = {"role": "user", "content": SURE}
_ADAPTIVE: Final[Fields] = {"type": "adaptive"}


def drafts() -> Iterator[Draft]:
    yield _chat(f"{OWN}/next-turn", OWN, "think-1", carries=True)
    yield _chat("openhands-sdk/wants-thinking", "openhands-sdk", WANTS, carries=True)
    yield _chat("openhands-sdk/wants-none", "openhands-sdk", WANTS_NOT, carries=False)
    yield _responses(OWN, carries=True)
    yield _responses("never-sends-back", carries=False)
    yield _messages_turns(OWN, carries=True)
    yield _messages_turns("never-sends-back", carries=False)
    yield _messages_round("tool-round", _signed())
    yield _messages_round("redacted-round", [*blocks.redacted(0)])
    yield _messages_round("budget-round", _signed(), {"type": "enabled", "budget_tokens": 1024})


def _next(first: Draft, second: Draft, *roles: str) -> Draft:
    facts: Fields = {"scenario": "next-turn"}
    follows = replace(second, role=roles[1], after=1, **facts)
    return replace(first, role=roles[0], then=(follows,), **facts)


def _chat(topic: str, profile: str, model: str, *, carries: bool) -> Draft:
    facts: Fields = {"profile": profile, "chosen": {"model": model}}
    server = Server(model=model)

    def turn(thought: str, text: str, *history: Fields) -> Draft:
        asked = {"model": model, "messages": [_USER, *history], "stream": True}
        pieces = answer(server, "reasoning_content", thought, text)
        return chat.drafted(topic, asked, pieces, **facts)

    message: Fields = {"role": "assistant", "content": FERRY_TEXT}
    message |= {"reasoning_content": FERRY_THOUGHT} if carries else {}
    second = turn(FOUND, SURE_TEXT, message, _SURE)
    return _next(turn(FERRY_THOUGHT, FERRY_TEXT), second, "turn", "next-turn")


def _responses(profile: str, *, carries: bool) -> Draft:
    topic = f"{profile}/next-turn"
    facts: Fields = {"profile": profile, "chosen": {"model": "think-1", "effort": "low"}}
    reasoning = {"effort": "low", "summary": "auto"}

    def turn(items: list[Fields], *history: Any) -> Draft:
        talk = [_USER, *history]
        asked = {"model": "think-1", "input": talk, "reasoning": reasoning, "stream": True}
        events = Answer("resp_00", "think-1", asked).completed(items, (30, 30, 12))
        return responses.drafted(topic, asked, stream(events), **facts)

    thought = summarised(Item(0, "rs_01"), ["**Looking back**", FERRY_THOUGHT])
    answer = message(Item(1, "msg_02"), FERRY_TEXT)
    back = closed([*thought, *answer] if carries else answer)
    more = [*summarised(Item(0, "rs_03"), [FOUND]), *message(Item(1, "msg_04"), SURE_TEXT)]
    return _next(turn([*thought, *answer]), turn(more, *back, _SURE), "turn", "next-turn")


def _messages_asked(*history: Fields, **more: Any) -> Fields:
    return {
        "model": blocks.MODEL,
        "max_tokens": 2048,
        "messages": [_USER, *history],
        "thinking": _ADAPTIVE,
        "stream": True,
        **more,
    }


def _signed() -> list[Fields]:
    return blocks.thinking(0, FERRY_THOUGHT)


def _sent_back() -> Fields:
    signature = blocks.signature_of(0)
    return {"type": "thinking", "thinking": FERRY_THOUGHT, "signature": signature}


def _messages_turns(profile: str, *, carries: bool) -> Draft:
    facts: Fields = {"profile": profile, "chosen": {"model": blocks.MODEL}}
    topic = f"{profile}/next-turn"
    part = {"type": "text", "text": FERRY_TEXT}
    content = [_sent_back(), part] if carries else [part]
    pieces = blocks.answer([_signed(), blocks.text(1, FERRY_TEXT)], (30, 30, 12))
    first = messages.drafted(topic, _messages_asked(), pieces, **facts)
    asked = _messages_asked({"role": "assistant", "content": content}, _SURE)
    pieces = blocks.answer([blocks.thinking(0, FOUND), blocks.text(1, SURE_TEXT)], (60, 20, 9))
    second = messages.drafted(topic, asked, pieces, **facts)
    return _next(first, second, "turn", "next-turn")


def _messages_round(topic: str, thought: list[Fields], thinking: Fields = _ADAPTIVE) -> Draft:
    """The block of thinking comes back in front of the call, with the tool's result after it."""
    topic = f"anthropic/{topic}"
    tools = [{"name": NAME, "input_schema": {"type": "object"}}]
    called = blocks.tool(1, NAME, ["", ARGUMENTS])
    pieces = blocks.answer([thought, called], (30, 30, 12), "tool_use")
    first = messages.drafted(topic, _messages_asked(tools=tools, thinking=thinking), pieces)
    is_signed = thought[0]["content_block"]["type"] == "thinking"
    sealed = {"type": "redacted_thinking", "data": opaque("redacted 0")}
    use = {"type": "tool_use", "id": "toolu_1", "name": NAME, "input": {"line": "island"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": FERRY_RESULT}
    asked = _messages_asked(
        {"role": "assistant", "content": [_sent_back() if is_signed else sealed, use]},
        {"role": "user", "content": [result]},
        tools=tools,
        thinking=thinking,
    )
    pieces = blocks.answer([blocks.thinking(0, FOUND), blocks.text(1, FERRY_TEXT)], (70, 20, 9))
    second = messages.drafted(topic, asked, pieces)
    return _next(first, second, "tool-turn", "follow-up")
