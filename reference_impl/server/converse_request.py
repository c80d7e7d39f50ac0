"""Converse requests: their fields, as the Messages request that they stand for.

A host of this API asks the same of a model as the model's own API does, in other words.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from .fields import Count, Fields, Share, StopStrings, Temperature, typed
from .refusal import Refusal

_MOST: Final = 4096  # tokens, where nothing is said


class ReasoningText(msgspec.Struct):
    text: str
    signature: str | None = None


class Reasoning(msgspec.Struct, rename="camel"):
    reasoning_text: ReasoningText | None = None
    redacted_content: str | None = None


class ToolUse(msgspec.Struct, rename="camel"):
    tool_use_id: str
    name: str
    input: dict[str, Any]


class TextBlock(msgspec.Struct):
    text: str


class ToolResult(msgspec.Struct, rename="camel"):
    tool_use_id: str
    content: list[TextBlock]


class Block(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """One block; it has one member."""

    text: str | None = None
    reasoning_content: Reasoning | None = None
    tool_use: ToolUse | None = None
    tool_result: ToolResult | None = None


class Turn(msgspec.Struct):
    role: str
    content: Annotated[list[Block], Meta(min_length=1)]


class InferenceConfig(msgspec.Struct, rename="camel", frozen=True):
    max_tokens: Count = _MOST
    temperature: Temperature | None = None
    top_p: Share | None = None
    stop_sequences: StopStrings | None = None


class Schema(msgspec.Struct):
    json: dict[str, Any]


class ToolSpec(msgspec.Struct, rename="camel"):
    name: str
    input_schema: Schema
    description: str | None = None


class Tool(msgspec.Struct, rename="camel"):
    tool_spec: ToolSpec


class ToolConfig(msgspec.Struct, rename="camel"):
    tools: list[Tool]
    tool_choice: dict[str, Any] | None = None


class OutputConfig(msgspec.Struct):
    effort: str | None = None


class ConverseRequest(msgspec.Struct, rename="camel"):
    """The fields that mean something here; others are accepted and have no effect."""

    messages: Annotated[list[Turn], Meta(min_length=1)]
    system: list[TextBlock] = []
    inference_config: InferenceConfig = InferenceConfig()
    tool_config: ToolConfig | None = None
    output_config: OutputConfig | None = None
    additional_model_request_fields: dict[str, Any] = {}


def as_messages(fields: Fields) -> Fields:
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


def _blocks(turn: Turn, place: str) -> Iterator[dict[str, Any]]:
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


def _reasoning(reasoning: Reasoning, place: str) -> dict[str, Any]:
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


def _tools(config: ToolConfig | None) -> Iterator[dict[str, Any]]:
    for tool in config.tools if config is not None else ():
        spec = tool.tool_spec
        said = {} if spec.description is None else {"description": spec.description}
        yield {"name": spec.name, "input_schema": spec.input_schema.json, **said}


def _choice(config: ToolConfig | None) -> dict[str, str] | None:
    choice = config.tool_choice if config is not None else None
    return None if choice is None else {"type": next(iter(choice), "auto")}
