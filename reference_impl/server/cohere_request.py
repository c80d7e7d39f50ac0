"""Cohere's /v2/chat: fields of a request, and what they ask of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from .ask import Ask
from .effort import Effort
from .engine import Limits
from .fields import (
    Count,
    Function,
    SeedNumber,
    Share,
    StopStrings,
    Temperature,
    Tool,
    lets_call,
    stops,
    unsupported,
)
from .refusal import Refusal
from .turns import Turn, assistant, called, function_tool


class Thinking(msgspec.Struct):
    """Whether to think, and for how many tokens at most."""

    type: str
    token_budget: Count | None = None


class Block(msgspec.Struct):
    """A block of content; `thinking` is what the model thought, sent back."""

    type: str
    text: str = ""
    thinking: str = ""


class CalledFunction(msgspec.Struct):
    name: str
    arguments: str = "{}"


class ToolCallGiven(msgspec.Struct):
    id: str
    function: CalledFunction


class Message(msgspec.Struct):
    """One turn. `tool_plan` is what older models say before they call."""

    role: str
    content: str | list[Block] | None = None
    tool_plan: str = ""
    tool_calls: list[ToolCallGiven] | None = None
    tool_call_id: str = ""


class CohereRequest(msgspec.Struct):
    """The fields that mean something here."""

    model: str
    messages: Annotated[list[Message], Meta(min_length=1)]
    stream: bool = False
    thinking: Thinking | None = None
    tools: list[Tool] | None = None
    tool_choice: str | None = None
    max_tokens: Count | None = None
    temperature: Temperature | None = None
    p: Share | None = None
    seed: SeedNumber | None = None
    stop_sequences: StopStrings | None = None
    documents: list[Any] | None = None
    response_format: dict[str, Any] | None = None


def wanted_effort(request: CohereRequest) -> Effort:
    """How hard to think: on where nothing is said. Raises Refusal."""
    thinking = request.thinking
    if thinking is None:
        return Effort()
    if thinking.type not in ("enabled", "disabled"):
        known = "known are enabled and disabled"
        raise Refusal(f"unknown thinking {thinking.type!r}; {known}", param="thinking.type")
    return Effort(thinks=thinking.type == "enabled", budget=thinking.token_budget)


def ask_of(request: CohereRequest, wanted: Effort) -> Ask:
    """What the engine is to do. Raises Refusal for what would have to be ignored."""
    if request.documents:
        raise unsupported("a document", "documents")
    if request.response_format not in (None, {"type": "text"}):
        raise unsupported("a response format", "response_format")
    offered = request.tools if lets_call(request.tool_choice, "tool_choice") else None
    return Ask(
        messages=tuple(map(_turn, request.messages)),
        tools=tuple(_tool(tool.function) for tool in offered or ()),
        thinks=wanted.thinks,
        limits=Limits(
            max_tokens=request.max_tokens,
            thinking_budget=wanted.budget,
            temperature=request.temperature or 0.0,
            top_p=request.p or 1.0,
            seed=request.seed,
            stop=stops(request.stop_sequences),
        ),
    )


def _turn(message: Message) -> Turn:
    text, thought = _texts(message.content)
    match message.role:
        case "system" | "user":
            return {"role": message.role, "content": text}
        case "tool":
            return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}
        case "assistant":
            calls = tuple(map(_call, message.tool_calls or ()))
            return assistant(text, message.tool_plan + thought, calls)
    raise Refusal(f"unknown role {message.role!r}", param="messages")


def _texts(content: str | list[Block] | None) -> tuple[str, str]:
    """Visible text and thinking of a turn. Raises Refusal."""
    if content is None or isinstance(content, str):
        return content or "", ""
    for block in content:
        if block.type not in ("text", "thinking"):
            raise unsupported(f"content of type {block.type!r}", "messages")
    return "".join(b.text for b in content), "".join(b.thinking for b in content)


def _call(call: ToolCallGiven) -> Mapping[str, Any]:
    return called(call.id, call.function.name, call.function.arguments)


def _tool(function: Function) -> Mapping[str, Any]:
    return function_tool(function.name, function.description or "", function.parameters or {})
