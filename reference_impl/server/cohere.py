"""Cohere's /v2/chat: a request becomes a plan; engine events become blocks and calls.

Rule 1: one block or call is open at a time; blocks and calls count from 0, each by themselves.
Rule 2: thinking is among the output tokens, and is counted apart as well.
Rule 3: a generation that fails ends with `message-end` and the reason ERROR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta
from starlette.requests import HTTPConnection

from .defects import Scene
from .effort import Effort
from .engine import Finish, Start, ToolCall, Usage
from .fields import Count, Fields, Sampling, Share, StopStrings, Tool, offered, typed, unsupported
from .plan import EngineRequest, Plan, check_model, engine_request, planned
from .projection import AnswerBody, BlockProjection, Stamp
from .refusal import Refusal, failed, message_error
from .service import Service
from .turns import Turn, assistant, function_calls, result_turn, text_turn
from .wire import DONE, Wire


class CohereThinking(msgspec.Struct):
    """Whether to think, and for how many tokens at most."""

    type: str
    token_budget: Count | None = None


class CohereBlock(msgspec.Struct):
    """A block of content; `thinking` is what the model thought, sent back."""

    type: str
    text: str = ""
    thinking: str = ""


class WrittenCall(msgspec.Struct):
    name: str
    arguments: str = "{}"


class CohereCall(msgspec.Struct):
    id: str
    function: WrittenCall


class CohereMessage(msgspec.Struct):
    """One turn. `tool_plan` is what older models say before they call."""

    role: str
    content: str | list[CohereBlock] | None = None
    tool_plan: str = ""
    tool_calls: list[CohereCall] | None = None
    tool_call_id: str = ""


class CohereRequest(Sampling, kw_only=True):
    """The fields that mean something here."""

    model: str
    messages: Annotated[list[CohereMessage], Meta(min_length=1)]
    stream: bool = False
    thinking: CohereThinking | None = None
    tools: list[Tool] | None = None
    tool_choice: str | None = None
    max_tokens: Count | None = None
    top_p: Share | None = msgspec.field(default=None, name="p")
    stop: StopStrings | None = msgspec.field(default=None, name="stop_sequences")
    documents: list[Any] | None = None
    response_format: dict[str, Any] | None = None


def plan(service: Service, fields: Fields, _: HTTPConnection) -> Plan:
    request = typed(fields, CohereRequest)
    check_model(service, request.model)
    ask = _ask_of(request, _effort_of_request(request))
    scene = Scene("cohere", thinks=ask.thinks, streams=request.stream)
    return planned(service, ask, CohereStream(service.stamp), CohereBody(), scene)


def _effort_of_request(request: CohereRequest) -> Effort:
    """How hard to think; on where the request does not say. Raises Refusal."""
    thinking = request.thinking
    if thinking is None:
        return Effort()
    if thinking.type not in ("enabled", "disabled"):
        known = "known are enabled and disabled"
        raise Refusal(f"unknown thinking {thinking.type!r}; {known}", param="thinking.type")
    return Effort(thinks=thinking.type == "enabled", budget=thinking.token_budget)


def _ask_of(request: CohereRequest, wanted: Effort) -> EngineRequest:
    """Return the request to the engine. Raises Refusal for fields that it would have to ignore."""
    if request.documents:
        raise unsupported("a document", "documents")
    if request.response_format not in (None, {"type": "text"}):
        raise unsupported("a response format", "response_format")
    choice = request.tool_choice and request.tool_choice.lower()
    tools = offered(request.tools, choice, "tool_choice")
    return engine_request(
        map(_turn_of_message, request.messages), tools, wanted, request, request.max_tokens
    )


def _turn_of_message(message: CohereMessage) -> Turn:
    text, thought = _text_and_thought(message.content)
    match message.role:
        case "system" | "user":
            return text_turn(message.role, text)
        case "tool":
            return result_turn(message.tool_call_id, text)
        case "assistant":
            calls = function_calls(message.tool_calls)
            return assistant(text, message.tool_plan + thought, calls)
    raise Refusal(f"unknown role {message.role!r}", param="messages")


def _text_and_thought(content: str | list[CohereBlock] | None) -> tuple[str, str]:
    """Visible text and thinking of a turn. Raises Refusal."""
    if content is None or isinstance(content, str):
        return content or "", ""
    for block in content:
        if block.type not in ("text", "thinking"):
            raise unsupported(f"content of type {block.type!r}", "messages")
    return "".join(b.text for b in content), "".join(b.thinking for b in content)


_REASONS: Final = {"stop": "COMPLETE", "length": "MAX_TOKENS", "tool_calls": "TOOL_CALL"}


class CohereStream(BlockProjection):
    def __init__(self, stamp: Stamp) -> None:
        super().__init__()
        self._stamp = stamp
        self._calls = 0

    def _emit_thinking(self, text: str) -> Iterator[Wire]:
        return self._add_payload("thinking", text)

    def _emit_text(self, text: str) -> Iterator[Wire]:
        return self._add_payload("text", text)

    def _emit_error(self, refusal: Refusal) -> Iterator[Wire]:
        yield _wire_of("message-end", delta={"finish_reason": "ERROR", "error": refusal.message})
        yield Wire(DONE)

    def _emit_start(self, _: Start) -> Iterator[Wire]:
        empty = {"content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        yield _message_event(
            "message-start", {"role": "assistant", **empty}, id=self._stamp.new("")
        )

    def _add_payload(self, kind: str, text: str) -> Iterator[Wire]:
        yield from self._enter_block(kind)
        yield self._content_fields("content-delta", {kind: text})

    def _begin_block(self, kind: str, **_: Any) -> Iterator[Wire]:
        yield self._content_fields("content-start", {"type": kind, kind: ""})

    def _end_block(self, _: str) -> Iterator[Wire]:
        yield _wire_of("content-end", index=self._index)

    def _content_fields(self, event: str, content: Mapping[str, Any]) -> Wire:
        return _message_event(event, {"content": content}, index=self._index)

    def _emit_call(self, call: ToolCall) -> Iterator[Wire]:
        yield from self._leave_block()
        index, self._calls = self._calls, self._calls + 1
        named = {"id": self._stamp.new(f"{call.name}_"), "type": "function"}
        begun = {**named, "function": {"name": call.name, "arguments": ""}}
        yield _message_event("tool-call-start", {"tool_calls": begun}, index=index)
        arguments = {"function": {"arguments": call.arguments}}
        yield _message_event("tool-call-delta", {"tool_calls": arguments}, index=index)
        yield _wire_of("tool-call-end", index=index)

    def _emit_finish(self, finish: Finish) -> Iterator[Wire]:
        yield from self._leave_block()
        reason = _REASONS[finish.reason]
        if finish.reason == "stop" and finish.stop_string is not None:
            reason = "STOP_SEQUENCE"
        yield _wire_of(
            "message-end", delta={"finish_reason": reason, "usage": _usage_counts(finish.usage)}
        )
        yield Wire(DONE)


class CohereBody(AnswerBody):
    def __init__(self) -> None:
        super().__init__(message_error)
        self._id = ""
        self._content: list[dict[str, Any]] = []
        self._calls: list[dict[str, Any]] = []
        self._end: Mapping[str, Any] = {}

    def _add_payload(self, _: str, data: Mapping[str, Any]) -> None:
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

    def _whole_body(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant"}
        if self._content:
            message["content"] = self._content
        if self._calls:
            message["tool_calls"] = self._calls
        return {"id": self._id, "message": message, **self._end}


def _message_event(kind: str, message: Mapping[str, Any], **fields: Any) -> Wire:
    return _wire_of(kind, **fields, delta={"message": message})


def _wire_of(kind: str, **fields: Any) -> Wire:
    return Wire({"type": kind, **fields}, kind)


def _usage_counts(usage: Usage) -> dict[str, Any]:
    """Tokens, and those that are billed, which here are the same."""
    counted = {"input_tokens": usage.prompt, "output_tokens": usage.completion}
    return {"billed_units": counted, "tokens": {**counted, "reasoning_tokens": usage.reasoning}}
