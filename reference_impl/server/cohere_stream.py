"""Cohere's /v2/chat: engine events become blocks and calls, and a body puts them together.

Rule 1: one block or call is open at a time; blocks and calls count from 0, each by themselves.
Rule 2: thinking is among the output tokens, and is counted apart as well.
Rule 3: a generation that fails ends with `message-end` and the reason ERROR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .engine import Finish, Start, ToolCall, Usage
from .projection import AnswerBody, AnswerProjection
from .refusal import Refusal, failed, message_error
from .stamp import Stamp
from .wire import DONE, Wire

_REASONS: Final = {"stop": "COMPLETE", "length": "MAX_TOKENS", "tool_calls": "TOOL_CALL"}


class CohereStream(AnswerProjection):
    def __init__(self, stamp: Stamp) -> None:
        super().__init__()
        self._stamp = stamp
        self._blocks = 0
        self._calls = 0
        self._open = ""  # the type of the block that is open

    def _think(self, text: str) -> Iterator[Wire]:
        return self._add("thinking", text)

    def _say(self, text: str) -> Iterator[Wire]:
        return self._add("text", text)

    def _fail(self, refusal: Refusal) -> Iterator[Wire]:
        yield _event("message-end", delta={"finish_reason": "ERROR", "error": refusal.message})
        yield Wire(DONE)

    def _start(self, _: Start) -> Iterator[Wire]:
        empty = {"content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        yield _message_event(
            "message-start", {"role": "assistant", **empty}, id=self._stamp.new("")
        )

    def _add(self, kind: str, text: str) -> Iterator[Wire]:
        if self._open != kind:
            yield from self._leave()
            self._open = kind
            yield self._content("content-start", {"type": kind, kind: ""})
        yield self._content("content-delta", {kind: text})

    def _content(self, event: str, content: Mapping[str, Any]) -> Wire:
        return _message_event(event, {"content": content}, index=self._blocks)

    def _call(self, call: ToolCall) -> Iterator[Wire]:
        yield from self._leave()
        index, self._calls = self._calls, self._calls + 1
        named = {"id": self._stamp.new(f"{call.name}_"), "type": "function"}
        begun = {**named, "function": {"name": call.name, "arguments": ""}}
        yield _message_event("tool-call-start", {"tool_calls": begun}, index=index)
        arguments = {"function": {"arguments": call.arguments}}
        yield _message_event("tool-call-delta", {"tool_calls": arguments}, index=index)
        yield _event("tool-call-end", index=index)

    def _finish(self, finish: Finish) -> Iterator[Wire]:
        yield from self._leave()
        reason = _REASONS[finish.reason]
        if finish.reason == "stop" and finish.stop_string is not None:
            reason = "STOP_SEQUENCE"
        yield _event("message-end", delta={"finish_reason": reason, "usage": _counts(finish.usage)})
        yield Wire(DONE)

    def _leave(self) -> Iterator[Wire]:
        if self._open:
            self._open = ""
            yield _event("content-end", index=self._blocks)
            self._blocks += 1


class CohereBody(AnswerBody):
    def __init__(self) -> None:
        super().__init__(message_error)
        self._id = ""
        self._content: list[dict[str, Any]] = []
        self._calls: list[dict[str, Any]] = []
        self._end: Mapping[str, Any] = {}

    def _add(self, _: str, data: Mapping[str, Any]) -> None:
        delta = data.get("delta", {})
        message = delta.get("message", {})
        match data["type"]:
            case "message-start":
                self._id = data["id"]
            case "content-start":
                self._content.append(dict(message["content"]))
            case "content-delta":
                for key, text in message["content"].items():
                    self._content[-1][key] = self._content[-1].get(key, "") + text
            case "tool-call-start":
                call = message["tool_calls"]
                self._calls.append({**call, "function": dict(call["function"])})
            case "tool-call-delta":
                self._calls[-1]["function"]["arguments"] += message["tool_calls"]["function"][
                    "arguments"
                ]
            case "message-end":
                self._end = delta
                if "error" in delta:
                    self._error = self._envelope(failed(delta["error"]))

    def _whole(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant"}
        if self._content:
            message["content"] = self._content
        if self._calls:
            message["tool_calls"] = self._calls
        return {"id": self._id, "message": message, **self._end}


def _message_event(kind: str, message: Mapping[str, Any], **fields: Any) -> Wire:
    return _event(kind, **fields, delta={"message": message})


def _event(kind: str, **fields: Any) -> Wire:
    return Wire({"type": kind, **fields}, kind)


def _counts(usage: Usage) -> dict[str, Any]:
    """Tokens, and those that are billed, which here are the same."""
    counted = {"input_tokens": usage.prompt, "output_tokens": usage.completion}
    return {"billed_units": counted, "tokens": {**counted, "reasoning_tokens": usage.reasoning}}
