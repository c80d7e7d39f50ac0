"""Messages requests: their fields, and what they ask of the engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from .ask import Ask
from .effort import Effort, effort
from .engine import Limits
from .fields import Count, Share, StopStrings, Temperature, stops, unsupported
from .refusal import Refusal
from .sealing import BrokenSeal, Seal
from .turns import Turn, assistant, called, function_tool


class Text(msgspec.Struct, tag="text"):
    text: str


class Thinking(msgspec.Struct, tag="thinking"):
    thinking: str
    signature: str


class Redacted(msgspec.Struct, tag="redacted_thinking"):
    data: str


class ToolUse(msgspec.Struct, tag="tool_use"):
    id: str
    name: str
    input: dict[str, Any]


class ToolResult(msgspec.Struct, tag="tool_result"):
    tool_use_id: str
    content: str | list[Text] | None = None


class User(msgspec.Struct, tag_field="role", tag="user"):
    content: str | list[Text | ToolResult]


class Assistant(msgspec.Struct, tag_field="role", tag="assistant"):
    content: str | list[Text | Thinking | Redacted | ToolUse]


class Tool(msgspec.Struct):
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


class ToolChoice(msgspec.Struct):
    type: str


class MessagesRequest(msgspec.Struct):
    """The fields that mean something here; others are accepted and have no effect."""

    model: str
    max_tokens: Count
    messages: Annotated[list[User | Assistant], Meta(min_length=1)]
    system: str | list[Text] | None = None
    stream: bool | None = None
    stop_sequences: StopStrings | None = None
    temperature: Temperature | None = None
    top_p: Share | None = None
    thinking: Enabled | Adaptive | Disabled | None = None
    output_config: OutputConfig | None = None
    tools: list[Tool] | None = None
    tool_choice: ToolChoice | None = None

    @property
    def omits_thinking(self) -> bool:
        return isinstance(self.thinking, Enabled | Adaptive) and self.thinking.display == "omitted"


def wanted_effort(request: MessagesRequest) -> Effort:
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


def ask_of(request: MessagesRequest, wanted: Effort, signature: Seal, redaction: Seal) -> Ask:
    """What the engine is to do. Raises Refusal for thinking that this server did not write."""
    if request.tool_choice is not None and request.tool_choice.type not in ("auto", "none"):
        raise unsupported("a forced tool call", "tool_choice.type")
    history = _History(signature, redaction)
    return Ask(
        messages=tuple(_turns(request, history)),
        tools=tuple(_tools(request)),
        thinks=wanted.thinks,
        limits=Limits(
            max_tokens=request.max_tokens,
            thinking_budget=wanted.budget,
            temperature=request.temperature or 0.0,
            top_p=request.top_p or 1.0,
            stop=stops(request.stop_sequences),
        ),
    )


class _History:
    """Turns of the history; opens what was sealed."""

    def __init__(self, signature: Seal, redaction: Seal) -> None:
        self._signature = signature
        self._redaction = redaction

    def user(self, content: str | list[Text | ToolResult]) -> Iterator[Turn]:
        """Results of tools are turns of their own."""
        if isinstance(content, str):
            yield {"role": "user", "content": content}
            return
        for block in content:
            if isinstance(block, ToolResult):
                text = _joined(block.content)
                yield {"role": "tool", "tool_call_id": block.tool_use_id, "content": text}
        if text := "".join(block.text for block in content if isinstance(block, Text)):
            yield {"role": "user", "content": text}

    def assistant(self, blocks: Sequence[Any], place: str) -> Turn:
        text, thought, calls = "", "", []
        for number, block in enumerate(blocks):
            match block:
                case Text():
                    text += block.text
                case Thinking():
                    thought += self._thinking(block, f"{place}.content.{number}")
                case Redacted():
                    thought += self._redacted(block, f"{place}.content.{number}")
                case ToolUse():
                    calls.append(called(block.id, block.name, json.dumps(block.input)))
        return assistant(text, thought, tuple(calls))

    def _thinking(self, block: Thinking, place: str) -> str:
        """Empty thinking is thinking that was omitted; its signature still holds it."""
        try:
            written = self._signature.open(block.signature)
        except BrokenSeal as err:
            raise Refusal(f"{place}: Invalid `signature` in `thinking` block", param=place) from err
        if block.thinking not in ("", written):
            raise Refusal(
                f"{place}: `thinking` blocks cannot be modified; send back what was received",
                param=place,
            )
        return written

    def _redacted(self, block: Redacted, place: str) -> str:
        try:
            return self._redaction.open(block.data)
        except BrokenSeal as err:
            raise Refusal(
                f"{place}: Invalid `data` in `redacted_thinking` block", param=place
            ) from err


def _turns(request: MessagesRequest, history: _History) -> Iterator[Turn]:
    if system := _joined(request.system):
        yield {"role": "system", "content": system}
    for number, message in enumerate(request.messages):
        if isinstance(message, User):
            yield from history.user(message.content)
        elif isinstance(message.content, str):
            yield assistant(message.content)
        else:
            yield history.assistant(message.content, f"messages.{number}")


def _joined(content: str | list[Text] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(block.text for block in content)


def _tools(request: MessagesRequest) -> Iterator[Mapping[str, Any]]:
    if request.tool_choice is None or request.tool_choice.type != "none":
        for tool in request.tools or ():
            if tool.type not in (None, "custom"):
                raise unsupported(f"the tool type {tool.type!r}", "tools")
            yield function_tool(tool.name, tool.description or "", tool.input_schema)
