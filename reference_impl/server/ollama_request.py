"""Ollama's /api/chat: fields of a request, and what they ask of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from .ask import Ask
from .effort import Effort, effort
from .engine import Limits
from .fields import (
    Function,
    SeedNumber,
    Share,
    StopString,
    StopStrings,
    Temperature,
    Tool,
    stops,
    unsupported,
)
from .refusal import Refusal
from .turns import Turn, assistant, function_tool

LEVELS: Final = ("low", "medium", "high", "max")


class CalledFunction(msgspec.Struct):
    name: str
    arguments: dict[str, Any] = {}


class ToolCallGiven(msgspec.Struct):
    function: CalledFunction
    id: str = ""


class Message(msgspec.Struct):
    """One turn; `thinking` is what the model thought before it, sent back."""

    role: str
    content: str = ""
    thinking: str = ""
    tool_calls: list[ToolCallGiven] | None = None
    tool_name: str = ""
    tool_call_id: str = ""
    images: list[str] | None = None


class Options(msgspec.Struct):
    """Options of the model that mean something here; `num_predict` below 1 is no limit."""

    num_predict: int | None = None
    temperature: Temperature | None = None
    top_p: Share | None = None
    seed: SeedNumber | None = None
    stop: StopString | StopStrings | None = None


class Asked(msgspec.Struct, kw_only=True):
    """The fields that both APIs have; `streams` unless that is switched off."""

    model: str
    stream: bool | None = None
    think: Any = None
    options: Options | None = None
    format: Any = None

    @property
    def streams(self) -> bool:
        return self.stream is not False


class OllamaRequest(Asked, kw_only=True):
    """A chat."""

    messages: Annotated[list[Message], Meta(min_length=1)]
    tools: list[Tool] | None = None


class GenerateRequest(Asked, kw_only=True):
    """A completion. `context` is what an earlier answer gave as the talk so far."""

    prompt: str
    system: str = ""
    context: list[int] | None = None
    images: list[str] | None = None
    suffix: str = ""
    raw: bool = False


def wanted_effort(request: Asked, *, can_think: bool) -> Effort:
    """How hard to think: on where nothing is said and the model can. Raises Refusal."""
    think = request.think
    if think is None or think is False:
        return Effort(thinks=think is None and can_think)
    if think is not True and think not in LEVELS:
        known = ", ".join(f'"{level}"' for level in LEVELS)
        said = f"invalid think value: {msgspec.json.encode(think).decode()}"
        raise Refusal(f"{said} (must be {known}, true, or false)", param="think")
    if not can_think:
        raise Refusal(f'"{request.model}" does not support thinking', param="think")
    return Effort() if think is True else effort(think, "think", LEVELS)


def ask_of(request: OllamaRequest, wanted: Effort) -> Ask:
    """What the engine is to do. Raises Refusal for what would have to be ignored."""
    tools = tuple(_tool(tool.function) for tool in request.tools or ())
    return _ask(request, tuple(map(_turn, request.messages)), tools, wanted)


def asked_once(request: GenerateRequest, wanted: Effort) -> Ask:
    """The same of a completion; the talk so far is not read again."""
    if request.images or request.suffix or request.raw:
        raise unsupported("an image, a suffix or a raw prompt", "prompt")
    system = [{"role": "system", "content": request.system}] if request.system else []
    return _ask(request, (*system, {"role": "user", "content": request.prompt}), (), wanted)


def _ask(
    request: Asked, messages: tuple[Turn, ...], tools: tuple[Mapping[str, Any], ...], wanted: Effort
) -> Ask:
    if request.format not in (None, ""):
        raise unsupported("an output format", "format")
    options = request.options or Options()
    most = options.num_predict
    return Ask(
        messages=messages,
        tools=tools,
        thinks=wanted.thinks,
        limits=Limits(
            max_tokens=most if most is not None and most > 0 else None,
            thinking_budget=wanted.budget,
            temperature=options.temperature or 0.0,
            top_p=options.top_p or 1.0,
            seed=options.seed,
            stop=stops(options.stop),
        ),
    )


def _turn(message: Message) -> Turn:
    if message.images:
        raise unsupported("an image", "messages")
    match message.role:
        case "system" | "user":
            return {"role": message.role, "content": message.content}
        case "tool":
            call = message.tool_call_id or message.tool_name
            return {"role": "tool", "tool_call_id": call, "content": message.content}
        case "assistant":
            calls = tuple(map(_call, message.tool_calls or ()))
            return assistant(message.content, message.thinking, calls)
    raise Refusal(f"unknown role {message.role!r}", param="messages")


def _call(call: ToolCallGiven) -> Mapping[str, Any]:
    named = {"name": call.function.name, "arguments": call.function.arguments}
    return {"id": call.id, "type": "function", "function": named}


def _tool(function: Function) -> Mapping[str, Any]:
    return function_tool(function.name, function.description or "", function.parameters or {})
