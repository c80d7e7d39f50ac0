"""Messages: the fields of a request, and how it is answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from starlette.requests import HTTPConnection

from .ask import EngineRequest, check_model, engine_request
from .defects import Scene
from .effort import Effort, effort
from .fields import Count, Fields, Share, StopStrings, Temperature, typed, unsupported
from .messages_stream import Display, MessagesBody, MessagesShape, MessagesStream
from .plan import Plan, planned
from .refusal import Refusal
from .sealing import BrokenSeal, Seal
from .service import Service
from .settings import Settings
from .turns import Turn, assistant, function_call, function_tool


class TextBlock(msgspec.Struct, tag="text"):
    text: str


class ThinkingBlock(msgspec.Struct, tag="thinking"):
    thinking: str
    signature: str


class RedactedBlock(msgspec.Struct, tag="redacted_thinking"):
    data: str


class ToolUseBlock(msgspec.Struct, tag="tool_use"):
    id: str
    name: str
    input: dict[str, Any]


class ToolResultBlock(msgspec.Struct, tag="tool_result"):
    tool_use_id: str
    content: str | list[TextBlock] | None = None


class UserMessage(msgspec.Struct, tag_field="role", tag="user"):
    content: str | list[TextBlock | ToolResultBlock]


class AssistantMessage(msgspec.Struct, tag_field="role", tag="assistant"):
    content: str | list[TextBlock | ThinkingBlock | RedactedBlock | ToolUseBlock]


class MessagesTool(msgspec.Struct):
    name: Annotated[str, Meta(min_length=1)]
    input_schema: dict[str, Any]
    description: str | None = None
    type: str | None = None


class Enabled(msgspec.Struct, tag="enabled"):
    """The API asks for at least 1,024; smaller budgets serve small models."""

    budget_tokens: Count
    display: Literal["summarized", "omitted"] | None = None


class Adaptive(msgspec.Struct, tag="adaptive"):
    display: Literal["summarized", "omitted"] | None = None


class Disabled(msgspec.Struct, tag="disabled"):
    pass


class OutputConfig(msgspec.Struct):
    effort: str | None = None
    format: Any = None


class ToolChoice(msgspec.Struct):
    type: str


class MessagesRequest(msgspec.Struct):
    """The fields that mean something here; others are accepted and have no effect."""

    model: str
    max_tokens: Count
    messages: Annotated[list[UserMessage | AssistantMessage], Meta(min_length=1)]
    system: str | list[TextBlock] | None = None
    stream: bool | None = None
    stop: StopStrings | None = msgspec.field(default=None, name="stop_sequences")
    temperature: Temperature | None = None
    top_p: Share | None = None
    thinking: Enabled | Adaptive | Disabled | None = None
    output_config: OutputConfig | None = None
    tools: list[MessagesTool] | None = None
    tool_choice: ToolChoice | None = None

    @property
    def omits_thinking(self) -> bool:
        return isinstance(self.thinking, Enabled | Adaptive) and self.thinking.display == "omitted"


def plan(service: Service, fields: Fields, _: HTTPConnection) -> Plan:
    request = typed(fields, MessagesRequest)
    check_model(service, request.model)
    shape = shape_of(service, _display(service.settings, request))
    ask = ask_of(request, shape)
    scene = Scene("messages", thinks=ask.thinks, streams=bool(request.stream))
    return planned(service, ask, MessagesStream(shape, service.stamp), MessagesBody(), scene)


def shape_of(service: Service, display: Display) -> MessagesShape:
    """How a stream looks, with what its thinking is sealed with."""
    seals = (service.seal("signature"), service.seal("redaction"))
    return MessagesShape(service.model_id, *seals, display)


def _display(settings: Settings, request: MessagesRequest) -> Display:
    if settings.messages_thinking == "redacted":
        return "redacted"
    return "omitted" if request.omits_thinking else "shown"


def _effort(request: MessagesRequest) -> Effort:
    """Thinking is off unless it is asked for. Raises Refusal."""
    config = request.output_config
    level = effort(config.effort if config is not None else None, "output_config.effort")
    match request.thinking:
        case Enabled(budget_tokens=budget):
            if budget >= request.max_tokens:
                raise Refusal(
                    "thinking.budget_tokens must be less than max_tokens",
                    param="thinking.budget_tokens",
                )
            return Effort(budget=budget)
        case Adaptive():
            return level
        case _:
            return Effort(thinks=False)


def ask_of(request: MessagesRequest, shape: MessagesShape) -> EngineRequest:
    """What the engine is to do. Raises Refusal for thinking that this server did not write."""
    wanted = _effort(request)
    if request.tool_choice is not None and request.tool_choice.type not in ("auto", "none"):
        raise unsupported("a forced tool call", "tool_choice.type")
    if request.output_config is not None and request.output_config.format is not None:
        raise unsupported("an output format", "output_config.format")
    history = _History(shape.signature, shape.redaction)
    turns = _turns(request, history)
    return engine_request(turns, _tools(request), wanted, request, request.max_tokens)


class _History:
    """Turns of the history; opens what was sealed."""

    def __init__(self, signature: Seal, redaction: Seal) -> None:
        self._signature = signature
        self._redaction = redaction

    def user(self, content: str | list[TextBlock | ToolResultBlock]) -> Iterator[Turn]:
        """Results of tools are turns of their own."""
        if isinstance(content, str):
            yield {"role": "user", "content": content}
            return
        for block in content:
            if isinstance(block, ToolResultBlock):
                text = _joined(block.content)
                yield {"role": "tool", "tool_call_id": block.tool_use_id, "content": text}
        if text := "".join(block.text for block in content if isinstance(block, TextBlock)):
            yield {"role": "user", "content": text}

    def assistant(self, blocks: Sequence[Any], place: str) -> Turn:
        text, thought, calls = "", "", []
        for number, block in enumerate(blocks):
            match block:
                case TextBlock():
                    text += block.text
                case ThinkingBlock():
                    thought += self._thinking(block, f"{place}.content.{number}")
                case RedactedBlock():
                    what, at = "`data` in `redacted_thinking`", f"{place}.content.{number}"
                    thought += _opened(self._redaction, block.data, what, at)
                case ToolUseBlock():
                    calls.append(function_call(block.id, block.name, block.input))
        return assistant(text, thought, tuple(calls))

    def _thinking(self, block: ThinkingBlock, place: str) -> str:
        """Empty thinking is thinking that was omitted; its signature still holds it."""
        written = _opened(self._signature, block.signature, "`signature` in `thinking`", place)
        if block.thinking not in ("", written):
            raise Refusal(
                f"{place}: `thinking` blocks cannot be modified; send back what was received",
                param=place,
            )
        return written


def _opened(seal: Seal, data: str, what: str, place: str) -> str:
    try:
        return seal.open(data)
    except BrokenSeal as err:
        raise Refusal(f"{place}: Invalid {what} block", param=place) from err


def _turns(request: MessagesRequest, history: _History) -> Iterator[Turn]:
    if system := _joined(request.system):
        yield {"role": "system", "content": system}
    for number, message in enumerate(request.messages):
        if isinstance(message, UserMessage):
            yield from history.user(message.content)
        elif isinstance(message.content, str):
            yield assistant(message.content)
        else:
            yield history.assistant(message.content, f"messages.{number}")


def _joined(content: str | list[TextBlock] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(block.text for block in content)


def _tools(request: MessagesRequest) -> Iterator[Mapping[str, Any]]:
    if request.tool_choice is None or request.tool_choice.type != "none":
        for tool in request.tools or ():
            if tool.type not in (None, "custom"):
                raise unsupported(f"the tool type {tool.type!r}", "tools")
            yield function_tool(tool.name, tool.description or "", tool.input_schema)
