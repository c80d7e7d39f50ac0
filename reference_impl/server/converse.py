"""Converse of Amazon Bedrock: the fields of a request, and how it is answered.

A host of this API asks the same of a model as the model's own API does, in other words: a request
stands for one of Messages. Model and stream are in the path.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta
from starlette.requests import HTTPConnection

from .ask import check_model
from .converse_stream import ConverseBody, ConverseStream
from .defects import Scene
from .fields import Count, Fields, Share, StopStrings, Temperature, typed
from .messages import MessagesRequest, ask_of, shape_of
from .messages_stream import MessagesStream
from .plan import Plan, planned
from .refusal import Refusal
from .service import Service

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


class EffortWish(msgspec.Struct):
    effort: str | None = None


class ConverseRequest(msgspec.Struct, rename="camel"):
    """The fields that mean something here; others are accepted and have no effect."""

    messages: Annotated[list[ConverseTurn], Meta(min_length=1)]
    system: list[ConverseText] = []
    inference_config: InferenceConfig = InferenceConfig()
    tool_config: ConverseTools | None = None
    output_config: EffortWish | None = None
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
    config = request.inference_config
    stated = {
        "max_tokens": config.max_tokens,
        "temperature": config.temperature,
        "top_p": config.top_p,
        "stop_sequences": config.stop_sequences,
        "tools": list(_tools(request.tool_config)),
        "tool_choice": _choice(request.tool_config),
        "output_config": request.output_config and {"effort": request.output_config.effort},
    }
    return {
        **{name: value for name, value in stated.items() if value not in (None, [])},
        **request.additional_model_request_fields,
        "system": [{"type": "text", "text": block.text} for block in request.system],
        "messages": [
            {"role": turn.role, "content": list(_blocks(turn, f"messages.{number}"))}
            for number, turn in enumerate(request.messages)
        ],
    }


def _blocks(turn: ConverseTurn, place: str) -> Iterator[dict[str, Any]]:
    for number, block in enumerate(turn.content):
        at = f"{place}.content.{number}"
        if block.text is not None:
            if not block.text.strip():
                raise Refusal(f"The text field in the ContentBlock object at {at} is blank.")
            yield {"type": "text", "text": block.text}
        elif block.reasoning_content is not None:
            if turn.role == "user":
                raise Refusal("User messages cannot contain reasoning content.", param=at)
            yield _reasoning(block.reasoning_content, at)
        elif block.tool_use is not None:
            use = block.tool_use
            named = {"id": use.tool_use_id, "name": use.name}
            yield {"type": "tool_use", **named, "input": use.input}
        elif block.tool_result is not None:
            result = block.tool_result
            said = [{"type": "text", "text": each.text} for each in result.content]
            yield {"type": "tool_result", "tool_use_id": result.tool_use_id, "content": said}
        else:
            raise Refusal(f"The ContentBlock object at {at} must set one member.", param=at)


def _reasoning(reasoning: ReasoningContent, place: str) -> dict[str, Any]:
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


def _tools(config: ConverseTools | None) -> Iterator[dict[str, Any]]:
    for tool in config.tools if config is not None else ():
        spec = tool.tool_spec
        said = {} if spec.description is None else {"description": spec.description}
        yield {"name": spec.name, "input_schema": spec.input_schema.json, **said}


def _choice(config: ConverseTools | None) -> dict[str, str] | None:
    choice = config.tool_choice if config is not None else None
    return None if choice is None else {"type": next(iter(choice), "auto")}
