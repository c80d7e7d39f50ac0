"""Interactions: the fields of a request, and how it is answered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta
from starlette.requests import HTTPConnection

from .ask import EngineRequest, check_model, engine_request
from .defects import Scene
from .effort import Effort, effort
from .fields import Count, Fields, Sampling, StopStrings, lets_call, typed, unsupported
from .interactions_stream import SIGNATURE, InteractionBody, InteractionStream
from .plan import Plan, planned
from .refusal import Refusal
from .service import Service
from .turns import Turn, assistant, function_call, function_tool

LEVELS: Final = ("minimal", "low", "medium", "high")
SUMMARIES: Final = ("auto", "none")
_MISSING: Final = "the signature of a thought is missing or was changed"


class StepContent(msgspec.Struct):
    """One piece of content; only text is known here."""

    type: str = "text"
    text: str = ""


class InteractionStep(msgspec.Struct):
    """One step of what was said before; `type` says which fields count."""

    type: str
    content: str | list[StepContent] = ""
    signature: str = ""
    summary: list[StepContent] = []
    id: str = ""
    name: str = ""
    arguments: dict[str, Any] = {}
    call_id: str = ""
    result: Any = None


class InteractionTool(msgspec.Struct):
    type: str
    name: str = ""
    description: str = ""
    parameters: dict[str, Any] | None = None


class InteractionConfig(Sampling):
    thinking_level: str | None = None
    thinking_summaries: str | None = None
    max_output_tokens: Count | None = None
    stop: StopStrings | None = msgspec.field(default=None, name="stop_sequences")
    tool_choice: Any = None


class InteractionRequest(msgspec.Struct):
    """The fields that mean something here."""

    model: str
    input: Annotated[str, Meta(min_length=1)] | Annotated[list[InteractionStep], Meta(min_length=1)]
    stream: bool = False
    store: bool = True
    system_instruction: str | None = None
    previous_interaction_id: str | None = None
    generation_config: InteractionConfig | None = None
    tools: list[InteractionTool] | None = None
    response_format: Any = None

    @property
    def config(self) -> InteractionConfig:
        return self.generation_config or InteractionConfig()

    @property
    def shows_summaries(self) -> bool:
        return self.config.thinking_summaries == "auto"

    @property
    def steps(self) -> list[InteractionStep]:
        given = self.input
        return [InteractionStep("user_input", given)] if isinstance(given, str) else given


def plan(service: Service, fields: Fields, _: HTTPConnection) -> Plan:
    request = typed(fields, InteractionRequest)
    check_model(service, request.model)
    ask = _ask(request, _effort(request))
    _check_thoughts(request)
    scene = Scene("interactions", thinks=ask.thinks, streams=request.stream)
    stream = InteractionStream(request.model, service.stamp, shows=request.shows_summaries)
    return planned(service, ask, stream, InteractionBody(stores=request.store), scene)


def _effort(request: InteractionRequest) -> Effort:
    """How hard to think; on where the request does not say. Raises Refusal."""
    summaries = request.config.thinking_summaries
    if summaries not in (None, *SUMMARIES):
        known = " and ".join(SUMMARIES)
        raise Refusal(f"unknown thinking_summaries {summaries!r}; known are {known}")
    level = request.config.thinking_level
    if level is not None and level not in LEVELS:
        raise Refusal(f"unknown thinking_level {level!r}; known are {', '.join(LEVELS)}")
    return effort(level, "thinking_level", LEVELS)


def _ask(request: InteractionRequest, wanted: Effort) -> EngineRequest:
    """What the engine is to do. Raises Refusal for what would have to be ignored."""
    if request.previous_interaction_id is not None:
        raise Refusal("nothing is stored here: send the steps of the interaction", status=404)
    if request.response_format is not None:
        raise unsupported("an output format", "response_format")
    config, instruction = request.config, request.system_instruction
    before = [{"role": "system", "content": instruction}] if instruction else []
    offered = request.tools if lets_call(config.tool_choice, "tool_choice") else None
    turns = (*before, *_turns(request.steps))
    return engine_request(
        turns, map(_tool, offered or ()), wanted, config, config.max_output_tokens
    )


def _check_thoughts(request: InteractionRequest) -> None:
    """Raises Refusal where a thought came back otherwise than it was sent."""
    for number, step in enumerate(request.steps, 1):
        if step.type == "thought" and step.signature != SIGNATURE:
            raise Refusal(f"{_MISSING}: step {number}")


def _turns(steps: list[InteractionStep]) -> Iterator[Turn]:
    """Turns of a conversation: what the model did from one input to the next is one of its own."""
    held: list[InteractionStep] = []
    for step in steps:
        match step.type:
            case "thought" | "model_output" | "function_call":
                held.append(step)
                continue
            case "user_input" | "function_result":
                if held:
                    yield _answer(held)
                    held = []
            case other:
                raise unsupported(f"a step of type {other!r}", "input")
        yield _given(step)
    if held:
        yield _answer(held)


def _answer(steps: list[InteractionStep]) -> Turn:
    said = "".join(_text(step.content) for step in steps)
    thought = "".join(_text(step.summary) for step in steps)
    made = (step for step in steps if step.type == "function_call")
    return assistant(
        said, thought, [function_call(call.id, call.name, call.arguments) for call in made]
    )


def _given(step: InteractionStep) -> Turn:
    if step.type == "user_input":
        return {"role": "user", "content": _text(step.content)}
    text = step.result if isinstance(step.result, str) else json.dumps(step.result)
    return {"role": "tool", "tool_call_id": step.call_id, "content": text}


def _text(content: str | list[StepContent]) -> str:
    """Raises Refusal for what is no text."""
    if isinstance(content, str):
        return content
    for piece in content:
        if piece.type != "text":
            raise unsupported(f"content of type {piece.type!r}", "input")
    return "".join(piece.text for piece in content)


def _tool(tool: InteractionTool) -> Mapping[str, Any]:
    if tool.type != "function":
        raise unsupported(f"a tool of type {tool.type!r}", "tools")
    return function_tool(tool.name, tool.description, tool.parameters or {})
