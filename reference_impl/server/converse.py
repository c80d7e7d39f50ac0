"""Converse of Amazon Bedrock: a request and its answer, each in the words of a Messages one.

A host of this API asks the same of a model as the model's own API does, in other words: a request
stands for one of Messages. Model and stream are in the path.

Rule 1: text and thinking are not announced; the first delta begins their block.
Rule 2: a delta has one member; the signature comes in an event of its own.
Rule 3: redacted data is base64 of what the model's own API has as text.
Rule 4: `messageStop` says why, `metadata` counts, and that is the end. A failure is raised.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta
from starlette.requests import HTTPConnection

from .defects import Scene
from .fields import Count, Fields, Share, StopStrings, Temperature, typed, unsupported
from .messages import MessagesRequest, MessagesStream, ask_of, shape_of
from .plan import Plan, check_model, planned
from .projection import AnswerBody, Stamp, call_arguments
from .refusal import Refusal, message_error
from .service import Service
from .summary import AnswerEvent
from .wire import Wire

_MOST: Final = 4096  # tokens, where the request does not say


class SignedText(msgspec.Struct):
    text: str
    signature: str | None = None


class ReasoningContent(msgspec.Struct, rename="camel"):
    reasoning_text: SignedText | None = None
    redacted_content: str | None = None


class ConverseUse(msgspec.Struct, rename="camel"):
    tool_use_id: str
    name: str
    input: dict[str, Any]


class ConverseText(msgspec.Struct):
    text: str


class ConverseResult(msgspec.Struct, rename="camel"):
    tool_use_id: str
    content: list[ConverseText]


class ConverseBlock(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """One block; it has one member."""

    text: str | None = None
    reasoning_content: ReasoningContent | None = None
    tool_use: ConverseUse | None = None
    tool_result: ConverseResult | None = None


class ConverseTurn(msgspec.Struct):
    role: str
    content: Annotated[list[ConverseBlock], Meta(min_length=1)]


class InferenceConfig(msgspec.Struct, rename="camel", frozen=True):
    max_tokens: Count = _MOST
    temperature: Temperature | None = None
    top_p: Share | None = None
    stop_sequences: StopStrings | None = None


class InputSchema(msgspec.Struct):
    json: dict[str, Any]


class ToolSpec(msgspec.Struct, rename="camel"):
    name: str
    input_schema: InputSchema
    description: str | None = None


class ConverseTool(msgspec.Struct, rename="camel"):
    tool_spec: ToolSpec


class ConverseTools(msgspec.Struct, rename="camel"):
    tools: list[ConverseTool]
    tool_choice: dict[str, Any] | None = None


class ConverseOutput(msgspec.Struct, rename="camel"):
    effort: str | None = None
    text_format: Any = None


class ConverseRequest(msgspec.Struct, rename="camel"):
    """The fields that mean something here; others are accepted and have no effect."""

    messages: Annotated[list[ConverseTurn], Meta(min_length=1)]
    system: list[ConverseText] = []
    inference_config: InferenceConfig = InferenceConfig()
    tool_config: ConverseTools | None = None
    output_config: ConverseOutput | None = None
    additional_model_request_fields: dict[str, Any] = {}


def plan(service: Service, fields: Fields, _: HTTPConnection, *, streams: bool = False) -> Plan:
    model = str(fields.pop("model", ""))
    check_model(service, model)
    request = typed({**_as_messages(fields), "model": model}, MessagesRequest)
    hides = service.settings.messages_thinking == "redacted"
    shape = shape_of(service, "redacted" if hides else "shown")
    ask = ask_of(request, shape)
    scene = Scene("bedrock", thinks=ask.thinks, streams=streams)
    stream = ConverseStream(MessagesStream(shape, service.stamp), service.stamp)
    return planned(service, ask, stream, ConverseBody(), scene, framing="messages")


def _as_messages(fields: Fields) -> Fields:
    """The fields of a Messages request. Raises Refusal."""
    request = typed(fields, ConverseRequest)
    config, output = request.inference_config, request.output_config
    if output is not None and output.text_format is not None:
        raise unsupported("an output format", "outputConfig.textFormat")
    stated = {
        "max_tokens": config.max_tokens,
        "temperature": config.temperature,
        "top_p": config.top_p,
        "stop_sequences": config.stop_sequences,
        "tools": list(_offered_tools(request.tool_config)),
        "tool_choice": _tool_choice(request.tool_config),
        "output_config": output and {"effort": output.effort},
    }
    return {
        **{name: value for name, value in stated.items() if value not in (None, [])},
        **request.additional_model_request_fields,
        "system": [{"type": "text", "text": block.text} for block in request.system],
        "messages": [
            {"role": turn.role, "content": list(_blocks_of_turn(turn, f"messages.{number}"))}
            for number, turn in enumerate(request.messages)
        ],
    }


def _blocks_of_turn(turn: ConverseTurn, place: str) -> Iterator[dict[str, Any]]:
    for number, block in enumerate(turn.content):
        at = f"{place}.content.{number}"
        if block.text is not None:
            if not block.text.strip():
                raise Refusal(f"The text field in the ContentBlock object at {at} is blank.")
            yield {"type": "text", "text": block.text}
        elif block.reasoning_content is not None:
            if turn.role == "user":
                raise Refusal("User messages cannot contain reasoning content.", param=at)
            yield _thinking_block(block.reasoning_content, at)
        elif block.tool_use is not None:
            use = block.tool_use
            named = {"id": use.tool_use_id, "name": use.name}
            yield {"type": "tool_use", **named, "input": use.input}
        elif block.tool_result is not None:
            result = block.tool_result
            content = [{"type": "text", "text": each.text} for each in result.content]
            yield {"type": "tool_result", "tool_use_id": result.tool_use_id, "content": content}
        else:
            raise Refusal(f"The ContentBlock object at {at} must set one member.", param=at)


def _thinking_block(reasoning: ReasoningContent, place: str) -> dict[str, Any]:
    if reasoning.redacted_content is not None:
        try:
            data = base64.b64decode(reasoning.redacted_content, validate=True).decode()
        except (binascii.Error, ValueError) as err:
            raise Refusal(f"{place}: redactedContent is not what was sent", param=place) from err
        return {"type": "redacted_thinking", "data": data}
    thought = reasoning.reasoning_text
    if thought is None or not thought.signature:
        raise Refusal(f"{place}: reasoningText.signature: Field required", param=place)
    return {"type": "thinking", "thinking": thought.text, "signature": thought.signature}


def _offered_tools(config: ConverseTools | None) -> Iterator[dict[str, Any]]:
    for tool in config.tools if config is not None else ():
        spec = tool.tool_spec
        fields = {} if spec.description is None else {"description": spec.description}
        yield {"name": spec.name, "input_schema": spec.input_schema.json, **fields}


def _tool_choice(config: ConverseTools | None) -> dict[str, str] | None:
    choice = config.tool_choice if config is not None else None
    return None if choice is None else {"type": next(iter(choice), "auto")}


_MEMBERS: Final = {
    "text_delta": ("text", ("text",)),
    "thinking_delta": ("thinking", ("reasoningContent", "text")),
    "signature_delta": ("signature", ("reasoningContent", "signature")),
    "input_json_delta": ("partial_json", ("toolUse", "input")),
}
"""Type of a delta -> its field, and where that stands here."""


class ConverseStream:
    def __init__(self, inner: MessagesStream, stamp: Stamp) -> None:
        self._inner = inner
        self._stamp = stamp
        self._asked_at = stamp.clock()
        self._usage: Mapping[str, Any] = {}

    @property
    def is_over(self) -> bool:
        return self._inner.is_over

    def opening(self) -> Iterable[Wire]:
        return self._as_converse(self._inner.opening())

    def feed(self, event: AnswerEvent) -> Iterable[Wire]:
        return self._as_converse(self._inner.feed(event))

    def fail(self, message: str) -> Iterable[Wire]:
        return self._as_converse(self._inner.fail(message))

    def _as_converse(self, wires: Iterable[Wire]) -> Iterator[Wire]:
        for wire in wires:
            assert not isinstance(wire.data, str)
            yield from self._translated(wire.event, wire.data)

    def _translated(self, kind: str, data: Mapping[str, Any]) -> Iterator[Wire]:
        place = {"contentBlockIndex": data.get("index")}
        match kind:
            case "message_start":
                yield Wire({"role": "assistant"}, "messageStart")
            case "content_block_start":
                yield from self._started(place, data["content_block"])
            case "content_block_delta":
                yield Wire({**place, "delta": _delta_member(data["delta"])}, "contentBlockDelta")
            case "content_block_stop":
                yield Wire(place, "contentBlockStop")
            case "message_delta":
                self._usage = data["usage"]
                yield Wire({"stopReason": data["delta"]["stop_reason"]}, "messageStop")
            case "message_stop":
                yield Wire(self._metadata(), "metadata")
            case "error":
                yield Wire({"message": data["error"]["message"]}, "modelStreamErrorException")

    def _started(self, place: Mapping[str, Any], block: Mapping[str, Any]) -> Iterator[Wire]:
        if block["type"] == "tool_use":
            start = {"toolUse": {"toolUseId": block["id"], "name": block["name"]}}
            yield Wire({**place, "start": start}, "contentBlockStart")
        elif block["type"] == "redacted_thinking":
            data = base64.b64encode(block["data"].encode()).decode()
            delta = {"reasoningContent": {"redactedContent": data}}
            yield Wire({**place, "delta": delta}, "contentBlockDelta")

    def _metadata(self) -> dict[str, Any]:
        given, output = self._usage["input_tokens"], self._usage["output_tokens"]
        usage = {"inputTokens": given, "outputTokens": output, "totalTokens": given + output}
        took = int((self._stamp.clock() - self._asked_at) * 1000)
        return {"usage": usage, "metrics": {"latencyMs": took}}


def _delta_member(delta: Mapping[str, Any]) -> dict[str, Any]:
    field, path = _MEMBERS[delta["type"]]
    made: Any = delta[field]
    for key in reversed(path):
        made = {key: made}
    return dict(made)


class ConverseBody(AnswerBody):
    def __init__(self) -> None:
        super().__init__(message_error)
        self._blocks: dict[int, list[Mapping[str, Any]]] = {}
        self._ended: dict[str, Any] = {}

    def _add_payload(self, event: str, data: Mapping[str, Any]) -> None:
        if event in ("contentBlockStart", "contentBlockDelta"):
            part = data.get("start") or data["delta"]
            self._blocks.setdefault(data["contentBlockIndex"], []).append(part)
        elif event in ("messageStop", "metadata"):
            self._ended |= data
        elif event.endswith("Exception"):
            self._error = data

    def _whole_body(self) -> dict[str, Any]:
        content = [_whole_block(parts) for parts in self._blocks.values()]
        return {"output": {"message": {"role": "assistant", "content": content}}, **self._ended}


def _whole_block(parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    """A block of its start and its deltas."""
    if "toolUse" in parts[0]:
        arguments = "".join(part["toolUse"].get("input", "") for part in parts)
        return {"toolUse": {**parts[0]["toolUse"], "input": call_arguments(arguments)}}
    if "reasoningContent" not in parts[0]:
        return {"text": "".join(part["text"] for part in parts)}
    thoughts = [part["reasoningContent"] for part in parts]
    if "redactedContent" in thoughts[0]:
        return {"reasoningContent": dict(thoughts[0])}
    fields = ("text", "signature")
    joined = {name: "".join(each.get(name, "") for each in thoughts) for name in fields}
    return {"reasoningContent": {"reasoningText": joined}}
