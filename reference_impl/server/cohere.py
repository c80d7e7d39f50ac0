"""Cohere's /v2/chat: the fields of a request, and how it is answered."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import HTTPConnection

from .ask import EngineRequest, check_model, engine_request
from .cohere_stream import CohereBody, CohereStream
from .defects import Scene
from .effort import Effort
from .fields import Count, Fields, Sampling, Share, StopStrings, Tool, lets_call, typed, unsupported
from .plan import Plan, planned
from .refusal import Refusal
from .service import Service
from .turns import Turn, assistant, function_call


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
    ask = _ask(request, _effort(request))
    scene = Scene("cohere", thinks=ask.thinks, streams=request.stream)
    return planned(service, ask, CohereStream(service.stamp), CohereBody(), scene)


def _effort(request: CohereRequest) -> Effort:
    """How hard to think; on where the request does not say. Raises Refusal."""
    thinking = request.thinking
    if thinking is None:
        return Effort()
    if thinking.type not in ("enabled", "disabled"):
        known = "known are enabled and disabled"
        raise Refusal(f"unknown thinking {thinking.type!r}; {known}", param="thinking.type")
    return Effort(thinks=thinking.type == "enabled", budget=thinking.token_budget)


def _ask(request: CohereRequest, wanted: Effort) -> EngineRequest:
    """What the engine is to do. Raises Refusal for what would have to be ignored."""
    if request.documents:
        raise unsupported("a document", "documents")
    if request.response_format not in (None, {"type": "text"}):
        raise unsupported("a response format", "response_format")
    offered = request.tools if lets_call(request.tool_choice, "tool_choice") else None
    turns = map(_turn, request.messages)
    tools = [tool.declared for tool in offered or ()]
    return engine_request(turns, tools, wanted, request, request.max_tokens)


def _turn(message: CohereMessage) -> Turn:
    text, thought = _texts(message.content)
    match message.role:
        case "system" | "user":
            return {"role": message.role, "content": text}
        case "tool":
            return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}
        case "assistant":
            calls = [
                function_call(call.id, call.function.name, call.function.arguments)
                for call in message.tool_calls or ()
            ]
            return assistant(text, message.tool_plan + thought, calls)
    raise Refusal(f"unknown role {message.role!r}", param="messages")


def _texts(content: str | list[CohereBlock] | None) -> tuple[str, str]:
    """Visible text and thinking of a turn. Raises Refusal."""
    if content is None or isinstance(content, str):
        return content or "", ""
    for block in content:
        if block.type not in ("text", "thinking"):
            raise unsupported(f"content of type {block.type!r}", "messages")
    return "".join(b.text for b in content), "".join(b.thinking for b in content)
