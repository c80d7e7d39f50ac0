"""Interactions: a request becomes a plan; engine events become events of steps.

Rule 1: one step is open at a time; steps count from 0.
Rule 2: a thought ends with its signature; its summary, here the thought itself, is sent to who
        asked for it. Where the model did not think there is no thought.
Rule 3: the last event says what became of the interaction, and counts; thoughts are counted beside
        the output. After an error there is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta
from starlette.requests import HTTPConnection

from .defects import Scene
from .effort import Effort, effort
from .engine import Finish, ToolCall, Usage
from .fields import Count, Fields, Sampling, StopStrings, offered, typed, unsupported
from .plan import EngineRequest, Plan, check_model, engine_request, planned
from .projection import AnswerBody, BlockProjection, Stamp, call_arguments, utc_text
from .refusal import Refusal, interactions_error
from .service import Service
from .turns import (
    Turn,
    assistant,
    function_call,
    function_tool,
    joined_text,
    result_turn,
    text_turn,
)
from .wire import DONE, Wire

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

    @property
    def declared(self) -> Mapping[str, Any]:
        """Raises Refusal for a tool that the server would have to run."""
        if self.type != "function":
            raise unsupported(f"a tool of type {self.type!r}", "tools")
        return function_tool(self.name, self.description, self.parameters or {})


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
    ask = _ask_of(request, _effort_of_request(request))
    _check_thoughts(request)
    scene = Scene("interactions", thinks=ask.thinks, streams=request.stream)
    stream = InteractionStream(request.model, service.stamp, shows=request.shows_summaries)
    return planned(service, ask, stream, InteractionBody(stores=request.store), scene)


def _effort_of_request(request: InteractionRequest) -> Effort:
    """How hard to think; on where the request does not say. Raises Refusal."""
    summaries = request.config.thinking_summaries
    if summaries not in (None, *SUMMARIES):
        known = " and ".join(SUMMARIES)
        raise Refusal(f"unknown thinking_summaries {summaries!r}; known are {known}")
    level = request.config.thinking_level
    if level is not None and level not in LEVELS:
        raise Refusal(f"unknown thinking_level {level!r}; known are {', '.join(LEVELS)}")
    return effort(level, "thinking_level", LEVELS)


def _ask_of(request: InteractionRequest, wanted: Effort) -> EngineRequest:
    """Return the request to the engine. Raises Refusal for fields that it would have to ignore."""
    if request.previous_interaction_id is not None:
        raise Refusal("nothing is stored here: send the steps of the interaction", status=404)
    if request.response_format is not None:
        raise unsupported("an output format", "response_format")
    config, instruction = request.config, request.system_instruction
    before = [text_turn("system", instruction)] if instruction else []
    choice = config.tool_choice
    word = choice.lower() if isinstance(choice, str) else choice
    tools = offered(request.tools, word, "tool_choice")
    turns = (*before, *_turns_of_steps(request.steps))
    return engine_request(turns, tools, wanted, config, config.max_output_tokens)


def _check_thoughts(request: InteractionRequest) -> None:
    """Raises Refusal where a thought came back otherwise than it was sent."""
    for number, step in enumerate(request.steps, 1):
        if step.type == "thought" and step.signature != SIGNATURE:
            raise Refusal(f"{_MISSING}: step {number}")


def _turns_of_steps(steps: list[InteractionStep]) -> Iterator[Turn]:
    """Turns of a conversation: what the model did from one input to the next is one of its own."""
    held: list[InteractionStep] = []
    for step in steps:
        match step.type:
            case "thought" | "model_output" | "function_call":
                held.append(step)
                continue
            case "user_input" | "function_result":
                if held:
                    yield _turn_of_answer(held)
                    held = []
            case other:
                raise unsupported(f"a step of type {other!r}", "input")
        yield _turn_of_input(step)
    if held:
        yield _turn_of_answer(held)


def _turn_of_answer(steps: list[InteractionStep]) -> Turn:
    text = "".join(_content_text(step.content) for step in steps)
    thought = "".join(_content_text(step.summary) for step in steps)
    made = (step for step in steps if step.type == "function_call")
    return assistant(
        text, thought, [function_call(call.id, call.name, call.arguments) for call in made]
    )


def _turn_of_input(step: InteractionStep) -> Turn:
    if step.type == "user_input":
        return text_turn("user", _content_text(step.content))
    text = step.result if isinstance(step.result, str) else json.dumps(step.result)
    return result_turn(step.call_id, text)


def _content_text(content: str | list[StepContent]) -> str:
    """Raises Refusal for what is no text."""
    for piece in () if isinstance(content, str) else content:
        if piece.type != "text":
            raise unsupported(f"content of type {piece.type!r}", "input")
    return joined_text(content)


SIGNATURE: Final = "cmVmZXJlbmNlIHNpZ25hdHVyZSBvZiBhIHRob3VnaHQ="
"""The signature of this server: it keeps nothing, and recognises its own."""


class InteractionStream(BlockProjection):
    def __init__(self, model: str, stamp: Stamp, *, shows: bool) -> None:
        super().__init__()
        at = utc_text(stamp.now())
        self._stamp = stamp
        self._head = {"id": stamp.new("v1_"), "object": "interaction", "model": model}
        self._times = {"created": at, "updated": at}
        self._shows = shows

    def opening(self) -> Iterator[Wire]:
        begun = {**self._head, "status": "in_progress"}
        yield _wire_of("interaction.created", interaction=begun)
        name, status = begun["id"], begun["status"]
        yield _wire_of("interaction.status_update", interaction_id=name, status=status)

    def _emit_thinking(self, text: str) -> Iterator[Wire]:
        yield from self._enter_block("thought")
        if self._shows:
            yield self._one_delta("thought_summary", content={"type": "text", "text": text})

    def _emit_text(self, text: str) -> Iterator[Wire]:
        yield from self._enter_block("model_output")
        yield self._one_delta("text", text=text)

    def _emit_error(self, refusal: Refusal) -> Iterator[Wire]:
        yield _wire_of("error", **interactions_error(refusal))

    def _begin_block(self, kind: str, **fields: Any) -> Iterator[Wire]:
        yield _wire_of("step.start", index=self._index, step={"type": kind, **fields})

    def _one_delta(self, kind: str, **content: Any) -> Wire:
        return _wire_of("step.delta", index=self._index, delta={"type": kind, **content})

    def _end_block(self, kind: str) -> Iterator[Wire]:
        if kind == "thought":
            yield self._one_delta("thought_signature", signature=SIGNATURE)
        yield _wire_of("step.stop", index=self._index)

    def _emit_call(self, call: ToolCall) -> Iterator[Wire]:
        named = {"id": self._stamp.new(""), "name": call.name, "arguments": {}}
        yield from self._leave_block()
        yield from self._enter_block("function_call", **named)
        yield self._one_delta("arguments_delta", arguments=call.arguments)
        yield from self._leave_block()

    def _emit_finish(self, finish: Finish) -> Iterator[Wire]:
        yield from self._leave_block()
        status = "incomplete" if finish.reason == "length" else "completed"
        ended = {"status": "requires_action" if finish.reason == "tool_calls" else status}
        counted = {"usage": _usage_counts(finish.usage)}
        yield _wire_of(
            "interaction.completed", interaction={**self._head, **ended, **counted, **self._times}
        )
        yield Wire(DONE, "done")


def _wire_of(kind: str, **fields: Any) -> Wire:
    return Wire({"event_type": kind, **fields}, kind)


def _usage_counts(usage: Usage) -> dict[str, int]:
    return {
        "total_tokens": usage.prompt + usage.completion,
        "total_input_tokens": usage.prompt,
        "total_cached_tokens": 0,
        "total_output_tokens": usage.completion - usage.reasoning,
        "total_tool_use_tokens": 0,
        "total_thought_tokens": usage.reasoning,
    }


class InteractionBody(AnswerBody):
    """The body of an answer; one that is not stored has no id."""

    def __init__(self, *, stores: bool) -> None:
        super().__init__(interactions_error)
        self._stores = stores
        self._steps: list[dict[str, Any]] = []
        self._end: Mapping[str, Any] = {}

    def _add_payload(self, _: str, data: Mapping[str, Any]) -> None:
        match data["event_type"]:
            case "step.start":
                self._steps.append(dict(data["step"]))
            case "step.delta":
                _add_delta(self._steps[-1], data["delta"])
            case "interaction.completed":
                self._end = data["interaction"]
            case "error":
                self._error = {"error": data["error"]}

    def _whole_body(self) -> dict[str, Any]:
        for step in self._steps:
            if "arguments" in step:
                step["arguments"] = call_arguments(step["arguments"])
        named = {key: self._end[key] for key in self._end if key != "id" or self._stores}
        return {**named, "steps": self._steps}


def _add_delta(step: dict[str, Any], delta: Mapping[str, Any]) -> None:
    match delta["type"]:
        case "thought_signature":
            step["signature"] = delta["signature"]
        case "thought_summary":
            step["summary"] = _joined_content(step.get("summary"), delta["content"]["text"])
        case "text":
            step["content"] = _joined_content(step.get("content"), delta["text"])
        case "arguments_delta":
            step["arguments"] = delta["arguments"]


def _joined_content(before: list[Any] | None, text: str) -> list[Any]:
    words = "".join(piece["text"] for piece in before or ())
    return [{"type": "text", "text": words + text}]
