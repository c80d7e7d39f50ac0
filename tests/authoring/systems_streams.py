"""Streams in the forms that documents of real systems show, where no recording has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.authoring import responses
from tests.authoring.chat import Server, counted, drafted
from tests.authoring.draft import JSON_BODY, Draft
from tests.authoring.pieces import DONE, Fields, Message, compact, deltas, opaque

_QUESTION = "What is 17 times 3?"
_THOUGHT = "Ten times three is thirty, seven times three is twenty-one, so fifty-one."
_ANSWER = "17 times 3 is 51."
_CALL = {"name": "multiply", "arguments": '{"a":17,"b":3}'}


def drafts() -> Iterator[Draft]:
    """Each is named for who sends or reads its form."""
    yield drafted("copilot/opaque-alone", _asked(), _proxied(), profile="copilot")
    yield _body("litellm/thinking-blocks", {"content": _ANSWER, "thinking_blocks": [_signed()]})
    blocks = [{"type": "reasoning", "text": _THOUGHT}, {"type": "text", "text": _ANSWER}]
    yield _body("openhands/reasoning-block", {"content": blocks})
    blocks = [{"type": "thinking", "text": _THOUGHT}, {"type": "text", "text": _ANSWER}]
    yield _body("openhands/thinking-block", {"content": blocks})
    call = {"id": "call_0", "type": "function", "function": _CALL}
    said = {"content": [{"type": "text", "text": "I multiply."}], "tool_calls": [call]}
    yield _body("openhands/text-blocks-beside-call", {**said, "reasoning_content": _THOUGHT})
    yield _summarised()


def _asked() -> Fields:
    messages = [{"role": "user", "content": _QUESTION}]
    return {"model": "think-1", "messages": messages, "stream": True}


def _proxied() -> list[Message]:
    """Every chunk has a role and a content, none an object; opaque data alone ends the thinking."""
    server = Server(repeats_role=True, bare=True)
    chunks = [
        *server.each("reasoning_text", deltas(_THOUGHT), content=""),
        server.said(content="", reasoning_opaque=opaque("copilot", 32)),
        *server.each("content", deltas(_ANSWER)),
        server.said(content="", finish="stop"),
    ]
    return [*map(_without_object, chunks), DONE]


def _without_object(chunk: Message) -> Message:
    return Message({key: value for key, value in chunk.payload.items() if key != "object"})


def _signed() -> Fields:
    return {"type": "thinking", "thinking": _THOUGHT, "signature": opaque("litellm", 32)}


def _body(name: str, message: dict[str, Any]) -> Draft:
    finish = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    whole = Server().chunk([choice], usage=counted((9, 31, 19))).payload
    body = compact({**whole, "object": "chat.completion"}).encode()
    asked = {**_asked(), "stream": False}
    return drafted(name, asked, [body], content_type=JSON_BODY, profile="strict")


def _summarised() -> Draft:
    """A whole Responses body whose raw thinking has the summary that was asked for."""
    reasoning = {"effort": "low", "summary": "concise"}
    asked = {"model": "think-1", "input": _QUESTION, "reasoning": reasoning}
    thought = {
        "type": "reasoning",
        "status": "completed",
        "content": [{"type": "reasoning_text", "text": _THOUGHT}],
        "summary": [{"type": "summary_text", "text": "The product is worked out by tens."}],
    }
    said = {
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": _ANSWER, "annotations": []}],
    }
    output = [{"id": "rs_01", **thought}, {"id": "msg_02", **said}]
    answer = responses.Answer("resp_00", "think-1", asked)
    usage = responses.counted((9, 40, 19))
    body = compact(answer.object("completed", output, usage=usage)).encode()
    topic = "reference/summary-in-body"
    facts = {"content_type": JSON_BODY, "profile": "reference"}
    return responses.drafted(topic, asked, [body], **facts)
