"""Turns that carry on a talk: what was thought before stands in the request, or is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from tests.authoring import chat_streams, responses_streams
from tests.authoring.chat import Server, answer
from tests.authoring.draft import Draft
from tests.authoring.pieces import DONE, Fields, Message, deltas
from tests.authoring.responses import Answer, Item, call, closed, message, stream, summarised

FERRY: Final = "Does the ferry to the island sail today?"
FERRY_THOUGHT: Final = (
    "Whether it sails depends on the wind, which only the timetable service knows."
)
FERRY_RESULT: Final = "Sailings at nine and at five."
FERRY_TEXT: Final = "Yes, at nine and at five."
FOUND: Final = "Two sailings are listed, so the answer is yes."
NAME: Final = "get_timetable"
ARGUMENTS: Final = '{"line":"island"}'
ROUND: Final = "tool-round"


def drafts() -> Iterator[Draft]:
    yield _chat_round()
    yield _chat_left_out()
    yield _responses_round()
    yield _responses_third_turn()


def _chat_asked(*history: Fields, **more: Any) -> Fields:
    messages = [_user(FERRY), *history]
    return {"model": "think-1", "messages": messages, "stream": True, **more}


def _user(text: str) -> Fields:
    return {"role": "user", "content": text}


def _chat_round() -> Draft:
    """A turn that calls a tool, and the one that brings the tool's result."""
    server = Server(extra={"system_fingerprint": "fp_00"})
    pieces = [
        server.opening(content=None, reasoning_content=""),
        *server.each("reasoning_content", deltas(FERRY_THOUGHT), content=None),
        *server.tool(0, NAME, ['{"line":', '"island"}']),
        server.said(content="", finish="tool_calls"),
        server.usage((24, 33, 17)),
        DONE,
    ]
    function = {"name": NAME, "arguments": ARGUMENTS}
    called = {
        "role": "assistant",
        "content": None,
        "reasoning_content": FERRY_THOUGHT,
        "tool_calls": [{"id": "call_0", "type": "function", "function": function}],
    }
    result = {"role": "tool", "tool_call_id": "call_0", "content": FERRY_RESULT}
    carried_on = answer(
        Server(extra={"system_fingerprint": "fp_00", "id": "chatcmpl-01"}),
        "reasoning_content",
        FOUND,
        FERRY_TEXT,
        usage=(66, 20, 11),
    )
    tools = [{"type": "function", "function": {"name": NAME, "parameters": {"type": "object"}}}]
    topic = f"deepseek/{ROUND}"
    first = chat_streams.drafted(topic, _chat_asked(tools=tools), pieces, profile="deepseek")
    asked = _chat_asked(called, result, tools=tools)
    second = chat_streams.drafted(topic, asked, carried_on, profile="deepseek")
    return _in_rounds(first, second)


def _in_rounds(first: Draft, second: Draft) -> Draft:
    facts: Fields = {"scenario": ROUND}
    follow_up = replace(second, role="follow-up", after=1, **facts)
    return replace(first, role="tool-turn", then=(follow_up,), **facts)


def _chat_left_out() -> Draft:
    said = {"role": "assistant", "content": FERRY_TEXT}
    pieces = answer(Server(), "reasoning_content", FOUND, "The last one is at five.")
    asked = _chat_asked(said, _user("And when is the last one?"))
    return chat_streams.drafted(
        "openhands/thinking-left-out", asked, pieces, profile="openhands-document"
    )


def _responses_asked(*history: Any, **more: Any) -> Fields:
    return {
        "model": "think-1",
        "input": [_user(FERRY), *history],
        "reasoning": {"effort": "medium", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "store": False,
        "stream": True,
        **more,
    }


def _answered(number: int, asked: Fields, items: list[Fields], given: int) -> tuple[Message, ...]:
    usage = (given, 30, 18)
    return stream(Answer(f"resp_0{number}", "think-1", asked).completed(items, usage))


def _responses_round() -> Draft:
    """The closed items of the first turn come back whole, followed by the tool's result."""
    tools = [{"type": "function", "name": NAME, "parameters": {"type": "object"}}]
    asked = _responses_asked(tools=tools)
    thought = [f"**Asking the service**\n\n{FERRY_THOUGHT}"]
    items = [
        *summarised(Item(0, "rs_01"), thought, encrypted=True),
        *call(Item(1, "fc_02"), NAME, ARGUMENTS, ['{"line":', '"island"}']),
    ]
    topic = f"openai/{ROUND}"
    first = responses_streams.drafted(topic, asked, _answered(0, asked, items, 30))
    result = {"type": "function_call_output", "call_id": "call_fc_02", "output": FERRY_RESULT}
    asked = _responses_asked(*closed(items), result, tools=tools)
    items = [
        *summarised(Item(0, "rs_03"), [FOUND], encrypted=True),
        *message(Item(1, "msg_04"), FERRY_TEXT),
    ]
    return _in_rounds(
        first, responses_streams.drafted(topic, asked, _answered(1, asked, items, 70))
    )


def _responses_third_turn() -> Draft:
    """Two turns came before, each with its reasoning item."""
    asked = _responses_asked(
        *_turn(1, FERRY_TEXT),
        _user("And tomorrow?"),
        *_turn(2, "Tomorrow it sails at nine only."),
        _user("What does a ticket cost?"),
    )
    items = [
        *summarised(Item(0, "rs_05"), [], encrypted=True),
        *message(Item(1, "msg_06"), "Four coins a person."),
    ]
    pieces = _answered(2, asked, items, 90)
    return responses_streams.drafted("openai/third-turn", asked, pieces)


def _turn(number: int, text: str) -> list[Fields]:
    part = {"type": "output_text", "text": text, "annotations": []}
    said = {"type": "message", "id": f"msg_0{number}", "role": "assistant", "content": [part]}
    return [{"type": "reasoning", "id": f"rs_0{number}", "summary": []}, said]
