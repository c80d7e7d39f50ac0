"""Chat Completions requests: their fields, and what they ask of the engine."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from .ask import EngineRequest, engine_request
from .effort import Effort, effort
from .fields import Count, Sampling, StopString, StopStrings, Tool, unsupported
from .turns import Turn, assistant, function_call


class TextPart(msgspec.Struct, tag="text"):
    text: str


class RefusalPart(msgspec.Struct, tag="refusal"):
    refusal: str


class ThinkingPart(msgspec.Struct, tag="thinking"):
    """What the model thought, as Mistral's API has it."""

    thinking: list[TextPart]


Content = str | list[TextPart | RefusalPart | ThinkingPart]


class Named(msgspec.Struct):
    name: str
    arguments: str = ""


class ChatCall(msgspec.Struct, tag_field="type", tag="function"):
    id: str
    function: Named


class System(msgspec.Struct, tag_field="role", tag="system"):
    content: Content


class Developer(msgspec.Struct, tag_field="role", tag="developer"):
    content: Content


class User(msgspec.Struct, tag_field="role", tag="user"):
    content: Content


class Assistant(msgspec.Struct, tag_field="role", tag="assistant"):
    """Thinking may come back under either name that servers use for it."""

    content: Content | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[ChatCall] | None = None


class ToolResult(msgspec.Struct, tag_field="role", tag="tool"):
    tool_call_id: str
    content: Content


Message = System | Developer | User | Assistant | ToolResult


class StreamOptions(msgspec.Struct):
    include_usage: bool = False


class ResponseFormat(msgspec.Struct):
    type: str


class TemplateOptions(msgspec.Struct):
    enable_thinking: bool | None = None


class ReasoningOptions(msgspec.Struct):
    exclude: bool = False


class ChatRequest(Sampling, kw_only=True):
    """The fields that mean something here; others are accepted and have no effect."""

    model: str
    messages: Annotated[list[Message], Meta(min_length=1)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    stop: StopString | StopStrings | None = None
    n: int | None = None
    logprobs: bool | None = None
    reasoning_effort: str | None = None
    reasoning: ReasoningOptions | None = None
    chat_template_kwargs: TemplateOptions | None = None
    tools: list[Tool] | None = None
    tool_choice: str | dict[str, Any] | None = None
    response_format: ResponseFormat | None = None

    @property
    def most_tokens(self) -> int | None:
        """The newer name wins."""
        return self.max_completion_tokens or self.max_tokens

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage

    @property
    def excludes_reasoning(self) -> bool:
        return self.reasoning is not None and self.reasoning.exclude


def check_supported(request: ChatRequest) -> None:
    """Raises Refusal for what would have to be ignored."""
    if request.n not in (None, 1):
        raise unsupported(f"n = {request.n}", "n")
    if request.logprobs:
        raise unsupported("logprobs", "logprobs")
    if request.tool_choice not in (None, "auto", "none"):
        raise unsupported("a forced tool call", "tool_choice")
    if request.response_format is not None and request.response_format.type != "text":
        raise unsupported(f"the format {request.response_format.type!r}", "response_format.type")


def switched(request: ChatRequest) -> bool | None:
    """The switch of the chat template; None where it is not touched."""
    options = request.chat_template_kwargs
    return None if options is None else options.enable_thinking


def wanted_effort(request: ChatRequest, levels: Collection[str]) -> Effort:
    """The level asked for; the switch of the chat template wins."""
    named = effort(request.reasoning_effort, "reasoning_effort", levels)
    return Effort(thinks=False) if switched(request) is False else named


def ask_of(request: ChatRequest, wanted: Effort) -> EngineRequest:
    offered = () if request.tool_choice == "none" else request.tools or ()
    tools = [tool.declared for tool in offered]
    return engine_request(map(_turn, request.messages), tools, wanted, request, request.most_tokens)


def _turn(message: Message) -> Turn:
    match message:
        case System() | Developer():
            return {"role": "system", "content": _text(message.content)}
        case User():
            return {"role": "user", "content": _text(message.content)}
        case ToolResult():
            text = _text(message.content)
            return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}
        case Assistant():
            own = message.reasoning_content or message.reasoning
            thought = own or _thought(message.content)
            calls = tuple(
                function_call(call.id, call.function.name, call.function.arguments)
                for call in message.tool_calls or ()
            )
            return assistant(_text(message.content), thought, calls)


def _text(content: Content | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    said = (part for part in content if not isinstance(part, ThinkingPart))
    return "".join(p.text if isinstance(p, TextPart) else p.refusal for p in said)


def _thought(content: Content | None) -> str:
    """Thinking that came back among the parts of a turn."""
    if content is None or isinstance(content, str):
        return ""
    parts = (part for part in content if isinstance(part, ThinkingPart))
    return "".join(piece.text for part in parts for piece in part.thinking)
