"""Messages: a request becomes a plan; engine events become content blocks.

Rule 1: one block is open at a time; blocks count from 0 and none is reopened.
Rule 2: a thinking block ends with its one signature, which also holds the text, sealed: a block
        whose text is omitted can still be sent back.
Rule 3: redacted thinking is one block whose data comes with its start, so it waits for its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from starlette.requests import HTTPConnection

from .defects import Scene
from .effort import Effort, effort
from .engine import Finish, Start, ToolCall, Usage
from .fields import (
    Count,
    EffortChoice,
    Fields,
    Share,
    StopStrings,
    Temperature,
    TextPart,
    TypeChoice,
    offered,
    typed,
    unsupported,
)
from .plan import EngineRequest, Plan, check_model, engine_request, planned
from .projection import AnswerBody, BlockProjection, Stamp, call_arguments
from .refusal import Refusal, anthropic_error
from .sealing import BrokenSeal, Seal
from .service import Service
from .settings import Settings
from .turns import (
    Turn,
    assistant,
    function_call,
    function_tool,
    joined_text,
    result_turn,
    text_turn,
)
from .wire import Wire


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
    content: str | list[TextPart] | None = None


class UserMessage(msgspec.Struct, tag_field="role", tag="user"):
    content: str | list[TextPart | ToolResultBlock]


class AssistantMessage(msgspec.Struct, tag_field="role", tag="assistant"):
    content: str | list[TextPart | ThinkingBlock | RedactedBlock | ToolUseBlock]


class MessagesTool(msgspec.Struct):
    name: Annotated[str, Meta(min_length=1)]
    input_schema: dict[str, Any]
    description: str | None = None
    type: str | None = None

    @property
    def declared(self) -> Mapping[str, Any]:
        """Raises Refusal for a tool that the server would have to run."""
        if self.type not in (None, "custom"):
            raise unsupported(f"the tool type {self.type!r}", "tools")
        return function_tool(self.name, self.description or "", self.input_schema)


class Enabled(msgspec.Struct, tag="enabled"):
    """The API asks for at least 1,024; smaller budgets serve small models."""

    budget_tokens: Count
    display: Literal["summarized", "omitted"] | None = None


class Adaptive(msgspec.Struct, tag="adaptive"):
    display: Literal["summarized", "omitted"] | None = None


class Disabled(msgspec.Struct, tag="disabled"):
    pass


class OutputConfig(EffortChoice):
    format: Any = None


class MessagesRequest(msgspec.Struct):
    """The fields that mean something here; others are accepted and have no effect."""

    model: str
    max_tokens: Count
    messages: Annotated[list[UserMessage | AssistantMessage], Meta(min_length=1)]
    system: str | list[TextPart] | None = None
    stream: bool | None = None
    stop: StopStrings | None = msgspec.field(default=None, name="stop_sequences")
    temperature: Temperature | None = None
    top_p: Share | None = None
    thinking: Enabled | Adaptive | Disabled | None = None
    output_config: OutputConfig | None = None
    tools: list[MessagesTool] | None = None
    tool_choice: TypeChoice | None = None

    @property
    def omits_thinking(self) -> bool:
        return isinstance(self.thinking, Enabled | Adaptive) and self.thinking.display == "omitted"


def plan(service: Service, fields: Fields, _: HTTPConnection) -> Plan:
    request = typed(fields, MessagesRequest)
    check_model(service, request.model)
    shape = shape_of(service, _display_of_thinking(service.settings, request))
    ask = ask_of(request, shape)
    scene = Scene("messages", thinks=ask.thinks, streams=bool(request.stream))
    return planned(service, ask, MessagesStream(shape, service.stamp), MessagesBody(), scene)


def shape_of(service: Service, display: Display) -> MessagesShape:
    """How a stream looks, with what its thinking is sealed with."""
    seals = (service.seal("signature"), service.seal("redaction"))
    return MessagesShape(service.model_id, *seals, display)


def _display_of_thinking(settings: Settings, request: MessagesRequest) -> Display:
    if settings.messages_thinking == "redacted":
        return "redacted"
    return "omitted" if request.omits_thinking else "shown"


def _effort_of_request(request: MessagesRequest) -> Effort:
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
    """Return the request to the engine. Raises Refusal for thinking of another server."""
    if request.output_config is not None and request.output_config.format is not None:
        raise unsupported("an output format", "output_config.format")
    wanted = _effort_of_request(request)
    choice = request.tool_choice and request.tool_choice.type
    tools = offered(request.tools, choice, "tool_choice.type")
    turns = _turns_of_request(request, _History(shape.signature, shape.redaction))
    return engine_request(turns, tools, wanted, request, request.max_tokens)


class _History:
    """Turns of the history; opens what was sealed."""

    def __init__(self, signature: Seal, redaction: Seal) -> None:
        self._signature = signature
        self._redaction = redaction

    def user(self, content: str | list[TextPart | ToolResultBlock]) -> Iterator[Turn]:
        """Results of tools are turns of their own."""
        if isinstance(content, str):
            yield text_turn("user", content)
            return
        for block in content:
            if isinstance(block, ToolResultBlock):
                yield result_turn(block.tool_use_id, joined_text(block.content))
        if text := "".join(block.text for block in content if isinstance(block, TextPart)):
            yield text_turn("user", text)

    def assistant(self, blocks: Sequence[Any], place: str) -> Turn:
        text, thought, calls = "", "", []
        for number, block in enumerate(blocks):
            match block:
                case TextPart():
                    text += block.text
                case ThinkingBlock():
                    thought += self._thinking(block, f"{place}.content.{number}")
                case RedactedBlock():
                    what, at = "`data` in `redacted_thinking`", f"{place}.content.{number}"
                    thought += _opened_seal(self._redaction, block.data, what, at)
                case ToolUseBlock():
                    calls.append(function_call(block.id, block.name, block.input))
        return assistant(text, thought, tuple(calls))

    def _thinking(self, block: ThinkingBlock, place: str) -> str:
        """Empty thinking is thinking that was omitted; its signature still holds it."""
        written = _opened_seal(self._signature, block.signature, "`signature` in `thinking`", place)
        if block.thinking not in ("", written):
            raise Refusal(
                f"{place}: `thinking` blocks cannot be modified; send back what was received",
                param=place,
            )
        return written


def _opened_seal(seal: Seal, data: str, what: str, place: str) -> str:
    try:
        return seal.open(data)
    except BrokenSeal as err:
        raise Refusal(f"{place}: Invalid {what} block", param=place) from err


def _turns_of_request(request: MessagesRequest, history: _History) -> Iterator[Turn]:
    if system := joined_text(request.system):
        yield text_turn("system", system)
    for number, message in enumerate(request.messages):
        if isinstance(message, UserMessage):
            yield from history.user(message.content)
        elif isinstance(message.content, str):
            yield assistant(message.content)
        else:
            yield history.assistant(message.content, f"messages.{number}")


Display = Literal["shown", "omitted", "redacted"]
# Delta type -> the field that it adds to, of the delta and of the block.
_ADDS: Final = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("partial_json", "input"),
}
_STOPS: Final = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}


@dataclass(frozen=True, slots=True)
class MessagesShape:
    """How one stream looks, and what its thinking is sealed with."""

    model: str
    signature: Seal
    redaction: Seal
    display: Display = "shown"


class MessagesStream(BlockProjection):
    def __init__(self, shape: MessagesShape, stamp: Stamp) -> None:
        super().__init__()
        self._shape = shape
        self._stamp = stamp
        self._thought: list[str] = []

    def _emit_text(self, text: str) -> Iterator[Wire]:
        yield from self._enter_block("text", text="")
        yield self._one_delta({"type": "text_delta", "text": text})

    def _emit_error(self, refusal: Refusal) -> Iterator[Wire]:
        yield _named_wire("error", anthropic_error(refusal))

    def _emit_start(self, start: Start) -> Iterator[Wire]:
        usage = anthropic_usage(Usage(start.prompt_tokens, 0, 0))
        message: dict[str, Any] = {
            "id": self._stamp.new("msg_"),
            "type": "message",
            "role": "assistant",
            "model": self._shape.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        yield _named_wire("message_start", {"message": message})

    def _emit_thinking(self, text: str) -> Iterator[Wire]:
        if self._open == "text":
            yield from self._leave_block()
        self._thought.append(text)
        if self._shape.display == "redacted":
            self._open = "redacted"
            return
        yield from self._enter_block("thinking", thinking="", signature="")
        if self._shape.display == "shown":
            yield self._one_delta({"type": "thinking_delta", "thinking": text})

    def _emit_call(self, call: ToolCall) -> Iterator[Wire]:
        yield from self._leave_block()
        tool = {"id": self._stamp.new("toolu_"), "name": call.name, "input": {}}
        yield from self._enter_block("tool_use", **tool)
        yield self._one_delta({"type": "input_json_delta", "partial_json": call.arguments})
        yield from self._leave_block()

    def _emit_finish(self, finish: Finish) -> Iterator[Wire]:
        yield from self._leave_block()
        reason = _STOPS[finish.reason]
        if finish.reason == "stop" and finish.stop_string is not None:
            reason = "stop_sequence"
        delta = {"stop_reason": reason, "stop_sequence": finish.stop_string}
        yield _named_wire("message_delta", {"delta": delta, "usage": anthropic_usage(finish.usage)})
        yield _named_wire("message_stop", {})

    def _begin_block(self, kind: str, **fields: Any) -> Iterator[Wire]:
        """The start of a block; a ping follows the first, where the API has its own."""
        block = {"type": kind, **fields}
        yield _named_wire("content_block_start", {"index": self._index, "content_block": block})
        if self._index == 0:
            yield _named_wire("ping", {})

    def _end_block(self, kind: str) -> Iterator[Wire]:
        thought = "".join(self._thought)
        self._thought.clear()
        if kind == "thinking":
            signature = self._shape.signature.seal(thought)
            yield self._one_delta({"type": "signature_delta", "signature": signature})
        elif kind == "redacted":
            data = self._shape.redaction.seal(thought)
            yield from self._begin_block("redacted_thinking", data=data)
        yield _named_wire("content_block_stop", {"index": self._index})

    def _one_delta(self, delta: dict[str, Any]) -> Wire:
        return _named_wire("content_block_delta", {"index": self._index, "delta": delta})


def _named_wire(kind: str, fields: dict[str, Any]) -> Wire:
    return Wire({"type": kind, **fields}, kind)


def anthropic_usage(usage: Usage) -> dict[str, Any]:
    """Usage as this API counts: thinking is part of the output."""
    return {
        "input_tokens": usage.prompt,
        "output_tokens": usage.completion,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
    }


class MessagesBody(AnswerBody):
    def __init__(self) -> None:
        super().__init__(anthropic_error)
        self._message: dict[str, Any] = {}
        self._blocks: list[dict[str, Any]] = []

    def _add_payload(self, _: str, data: Mapping[str, Any]) -> None:
        match data["type"]:
            case "message_start":
                self._message = dict(data["message"])
            case "content_block_start":
                block = dict(data["content_block"])
                self._blocks.append({**block, "input": ""} if "input" in block else block)
            case "content_block_delta":
                taken, field = _ADDS[data["delta"]["type"]]
                self._blocks[-1][field] += data["delta"][taken]
            case "message_delta":
                counted = {name: data[name] for name in ("usage",) if name in data}
                self._message |= {**data["delta"], **counted}
            case "error":
                self._error = data

    def _whole_body(self) -> dict[str, Any]:
        for block in self._blocks:
            if "input" in block:
                block["input"] = call_arguments(block["input"])
        return {**self._message, "content": self._blocks}
