"""Streams that users reported: switches, arguments in one piece, raw thinking that goes back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from tests.authoring import chat, responses
from tests.authoring.chat import Server
from tests.authoring.draft import Draft
from tests.authoring.pieces import DONE, Fields, deltas
from tests.authoring.responses import Answer, Item, call, closed, message, raw_thinking, stream

TIDE: Final = "When is low water?"
TIDE_THOUGHT: Final = "Only the table of tides can tell, so it is asked for the harbour."
TIDE_TEXT: Final = "Low water is at noon, high water at six."
ARGUMENTS: Final = '{"harbour":"Esbjerg"}'
NAME: Final = "get_tides"
TOOL: Final = {"type": "function", "name": NAME, "parameters": {"type": "object"}}


def drafts() -> Iterator[Draft]:
    yield _switched_off()
    yield _whole_arguments()
    yield _raw_talk()


def _switched_off() -> Draft:
    """A model that was asked not to think, by the switch of its server, and does not."""
    server = Server()
    question = {"role": "user", "content": TIDE}
    asked: Fields = {"model": "think-1", "messages": [question], "stream": True}
    said = server.each("content", deltas(TIDE_TEXT))
    pieces = [server.opening(), *said, server.said(finish="stop"), DONE]
    asked["think"] = False
    return chat.drafted("ollama/think-off", asked, pieces)


def _asked(*history: Fields, **more: Any) -> Fields:
    question = {"role": "user", "content": TIDE}
    return {"model": "think-1", "input": [question, *history], "stream": True, **more}


def _called(*said: str) -> list[Fields]:
    thinking = raw_thinking(Item(0, "rs_01"), TIDE_THOUGHT)
    return [*thinking, *call(Item(1, "fc_02"), NAME, ARGUMENTS, said)]


def _whole_arguments() -> Draft:
    """A model of ChatGPT's backend that says the arguments of a call in one piece."""
    asked = _asked(tools=[TOOL], store=False)
    *others, end = Answer("resp_00", "think-1", asked).completed(_called(), (21, 33, 15))
    empty = {**end, "response": {**end["response"], "output": []}}
    return responses.drafted(
        "chatgpt-codex/whole-arguments", asked, stream([*others, empty]), profile="chatgpt-codex"
    )


def _raw_talk() -> Draft:
    """Raw thinking leads to a call, and goes back with its result."""
    asked = _asked(tools=[TOOL])
    items = _called(ARGUMENTS[:9], ARGUMENTS[9:])
    first = Answer("resp_00", "think-1", asked).completed(items, (21, 33, 15))
    result = {"type": "function_call_output", "call_id": "call_fc_02", "output": "noon"}
    again = _asked(*closed(items), result, tools=[TOOL])
    spoken = message(Item(0, "msg_03"), TIDE_TEXT)
    second = Answer("resp_01", "think-1", again).completed(spoken, (60, 12, 0))
    topic, profile = "deepseek/raw-talk", "deepseek"
    begun = responses.drafted(topic, asked, stream(first), profile=profile)
    ended = responses.drafted(topic, again, stream(second), profile=profile)
    return replace(begun, then=(ended,))
