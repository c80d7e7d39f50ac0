"""Chat Completions: a request becomes typed fields, and these become a plan."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import Meta
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from .chat_stream import ChatBody, ChatShape, ChatStream, MistralBody, MistralStream, Showing
from .defects import Scene
from .effort import Effort, effort, leaving_room
from .fields import (
    Count,
    Fields,
    RefusalPart,
    Sampling,
    StopString,
    StopStrings,
    TextPart,
    Tool,
    TypeChoice,
    offered,
    typed,
    unsupported,
)
from .plan import EngineRequest, Plan, check_model, engine_request, planned
from .service import Service
from .settings import Settings
from .turns import Turn, assistant, function_calls, joined_text, result_turn, text_turn


class ThinkingPart(msgspec.Struct, tag="thinking"):
    """The thinking of the model, as Mistral's API has it."""

    thinking: list[TextPart]
    text: ClassVar[str] = ""


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
    response_format: TypeChoice | None = None

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
    offered(request.tools, request.tool_choice, "tool_choice")
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
    tools = offered(request.tools, request.tool_choice, "tool_choice")
    return engine_request(
        map(_turn_of_message, request.messages), tools, wanted, request, request.most_tokens
    )


def _turn_of_message(message: Message) -> Turn:
    match message:
        case System() | Developer():
            return text_turn("system", joined_text(message.content))
        case User():
            return text_turn("user", joined_text(message.content))
        case ToolResult():
            return result_turn(message.tool_call_id, joined_text(message.content))
        case Assistant():
            own = message.reasoning_content or message.reasoning
            thought = own or _thought_in(message.content)
            calls = function_calls(message.tool_calls)
            return assistant(joined_text(message.content), thought, calls)


def _thought_in(content: Content | None) -> str:
    """Thinking that came back among the parts of a turn."""
    if content is None or isinstance(content, str):
        return ""
    parts = (part for part in content if isinstance(part, ThinkingPart))
    return "".join(piece.text for part in parts for piece in part.thinking)


_YES: Final = frozenset({"1", "true", "yes"})


def plan(service: Service, fields: Fields, connection: HTTPConnection) -> Plan:
    request = typed(fields, ChatRequest)
    check_model(service, request.model)
    check_supported(request)
    opted_in = opts_in(service.settings, fields, connection.headers)
    ask = ask_of(request, _effort_for_request(service.settings, request, opted_in=opted_in))
    shape = _shape_of_stream(service, request, opted_in=opted_in)
    has_parts = shape.showing == "parts"
    scene = Scene(
        "mistral" if has_parts else "chat",
        shape.markers,
        hidden=shape.showing == "hidden",
        thinks=ask.thinks,
        streams=bool(request.stream),
    )
    if has_parts:
        return planned(service, ask, MistralStream(shape, service.stamp), MistralBody(), scene)
    return planned(service, ask, ChatStream(shape, service.stamp), ChatBody(), scene)


def opts_in(settings: Settings, fields: Fields, headers: Headers) -> bool:
    """Whether the request asks to see thinking: 1, true or yes, in any case, blanks around it."""
    if settings.include_field:
        value = _field_at_path(fields, settings.include_field)
        return value is True or str(value).strip().lower() in _YES
    return headers.get(settings.include_header, "").strip().lower() in _YES


def _field_at_path(fields: Fields, path: str) -> Any:
    """Return the value at a dotted path, None where there is none."""
    value: Any = fields
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _effort_for_request(settings: Settings, request: ChatRequest, *, opted_in: bool) -> Effort:
    """How hard to think; thinking that nobody sees may be switched off, or must leave room."""
    wanted = wanted_effort(request, settings.levels)
    if settings.chat_reasoning != "strip":
        return wanted
    if settings.unseen == "skipped" and not opted_in and not switched(request):
        return Effort(thinks=False)
    return leaving_room(wanted, request.most_tokens)


def _shape_of_stream(service: Service, request: ChatRequest, *, opted_in: bool) -> ChatShape:
    markers = service.model.markers
    return ChatShape(
        model=service.model_id,
        showing=_showing_of(service.settings, request, opted_in=opted_in),
        markers=(markers.open, markers.close) if markers else ("", ""),
        # A body always has its usage.
        with_usage=request.wants_usage or not request.stream or service.settings.usage_unasked,
        zero_details=service.settings.zero_details,
        with_done=service.settings.chat_done,
    )


def _showing_of(settings: Settings, request: ChatRequest, *, opted_in: bool) -> Showing:
    if request.excludes_reasoning:
        return "hidden"
    if opted_in and settings.opt_in_wraps:
        return "wrapped"
    if settings.chat_reasoning == "strip":
        return "wrapped" if opted_in else "hidden"
    return "wrapped" if settings.chat_reasoning == "wrap" else settings.chat_reasoning
