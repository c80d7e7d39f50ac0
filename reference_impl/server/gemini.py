"""generateContent: the fields of a request, and how it is answered."""

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
from .fields import Count, Fields, Sampling, Share, StopStrings, lets_call, typed, unsupported
from .gemini_stream import SIGNATURE, GeminiBody, GeminiStream
from .plan import Framing, Plan, planned
from .refusal import Refusal
from .service import Service
from .turns import Turn, assistant, function_call, function_tool

LEVELS: Final = ("minimal", "low", "medium", "high")
_MISSING: Final = (
    "Function call is missing a thought_signature in functionCall parts. This is required for"
    " tools to work correctly"
)


class GeminiCall(msgspec.Struct):
    name: str
    args: dict[str, Any] = {}
    id: str = ""


class FunctionResponse(msgspec.Struct):
    name: str
    response: dict[str, Any]
    id: str = ""


class GeminiPart(msgspec.Struct, rename="camel"):
    """One part; a thought is a text that the model thought."""

    text: str | None = None
    thought: bool = False
    thought_signature: str | None = None
    function_call: GeminiCall | None = None
    function_response: FunctionResponse | None = None
    inline_data: Any = None


class GeminiContent(msgspec.Struct):
    parts: list[GeminiPart] = []
    role: str = "user"


class ThinkingConfig(msgspec.Struct, rename="camel"):
    include_thoughts: bool | None = None
    thinking_budget: Annotated[int, Meta(ge=-1)] | None = None
    thinking_level: str | None = None


class GeminiConfig(Sampling, rename="camel"):
    thinking_config: ThinkingConfig | None = None
    most_tokens: Count | None = msgspec.field(default=None, name="maxOutputTokens")
    top_p: Share | None = None
    stop: StopStrings | None = msgspec.field(default=None, name="stopSequences")
    response_mime_type: str = ""


class DeclaredFunction(msgspec.Struct, rename="camel"):
    name: Annotated[str, Meta(min_length=1)]
    description: str = ""
    parameters: dict[str, Any] | None = None
    parameters_json_schema: dict[str, Any] | None = None


class GeminiTool(msgspec.Struct, rename="camel"):
    function_declarations: list[DeclaredFunction] = []


class FunctionCallingConfig(msgspec.Struct, rename="camel"):
    mode: str | None = None


class CallingConfig(msgspec.Struct, rename="camel"):
    function_calling_config: FunctionCallingConfig | None = None


class GeminiRequest(msgspec.Struct, rename="camel"):
    """The fields that mean something here; the path says which model, and whether it streams."""

    contents: Annotated[list[GeminiContent], Meta(min_length=1)]
    system_instruction: GeminiContent | None = None
    generation_config: GeminiConfig | None = None
    tools: list[GeminiTool] | None = None
    tool_config: CallingConfig | None = None

    @property
    def calling_mode(self) -> str | None:
        calling = self.tool_config.function_calling_config if self.tool_config else None
        return calling.mode if calling else None

    @property
    def config(self) -> GeminiConfig:
        return self.generation_config or GeminiConfig()

    @property
    def shows_thoughts(self) -> bool:
        thinking = self.config.thinking_config
        return thinking is not None and thinking.include_thoughts is True


def plan(
    service: Service, fields: Fields, connection: HTTPConnection, *, streams: bool = False
) -> Plan:
    """How to answer; without `alt=sse` a stream is one array. Raises Refusal."""
    model = str(fields.pop("model"))
    request = typed(_in_camel_case(fields), GeminiRequest)
    check_model(service, model)
    _check_signatures(request)
    ask = _ask(request, _effort(request))
    scene = Scene("gemini", thinks=ask.thinks, streams=streams)
    stream = GeminiStream(model, service.stamp, thinks=ask.thinks, shows=request.shows_thoughts)
    has_events = connection.query_params.get("alt") == "sse"
    framing: Framing = "events" if has_events else "array"
    return planned(service, ask, stream, GeminiBody(), scene, framing=framing)


def _in_camel_case(value: Any) -> Any:
    """Keys as answers have them: requests may be written with underscores, too."""
    if isinstance(value, list):
        return [_in_camel_case(each) for each in value]
    if not isinstance(value, dict):
        return value
    free = ("args", "response", "parameters", "parametersJsonSchema")
    spelled = {_camel(key): each for key, each in value.items()}
    return {key: each if key in free else _in_camel_case(each) for key, each in spelled.items()}


def _camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(map(str.title, rest))


def _effort(request: GeminiRequest) -> Effort:
    """How hard to think; on where the request does not say. Raises Refusal."""
    thinking = request.config.thinking_config or ThinkingConfig()
    level, budget = thinking.thinking_level, thinking.thinking_budget
    if level is not None and budget is not None:
        raise Refusal("You can only set only one of thinking budget and thinking level.")
    if budget == 0:
        return Effort(thinks=False)
    if budget is not None:
        return Effort(budget=budget if budget > 0 else None)
    return effort(level.lower() if level else None, "thinkingLevel", LEVELS)


def _ask(request: GeminiRequest, wanted: Effort) -> EngineRequest:
    """What the engine is to do. Raises Refusal for what would have to be ignored."""
    config = request.config
    if config.response_mime_type not in ("", "text/plain"):
        raise unsupported("an output format", "responseMimeType")
    system = request.system_instruction
    before = [{"role": "system", "content": _texts(system.parts)}] if system else []
    offered = request.tools if lets_call(request.calling_mode, "functionCallingConfig") else None
    declared = (each for tool in offered or () for each in tool.function_declarations)
    tools = map(_tool, declared)
    return engine_request(
        (*before, *_turns(request.contents)), tools, wanted, config, config.most_tokens
    )


def _check_signatures(request: GeminiRequest) -> None:
    """Raises Refusal unless the first call of every step of the current turn is signed."""
    contents = request.contents
    asked_at = max((n for n, each in enumerate(contents) if _asks(each)), default=-1)
    for number, content in enumerate(contents[asked_at + 1 :], asked_at + 2):
        call = next((part for part in content.parts if part.function_call), None)
        if content.role == "model" and call and call.function_call:
            name = call.function_call.name
            if call.thought_signature != SIGNATURE:
                raise Refusal(f"{_MISSING}, function call `default_api:{name}`, position {number}.")


def _asks(content: GeminiContent) -> bool:
    return content.role != "model" and any(part.text is not None for part in content.parts)


def _turns(contents: list[GeminiContent]) -> Iterator[Turn]:
    for content in contents:
        if any(part.inline_data is not None for part in content.parts):
            raise unsupported("an image", "contents")
        if content.role == "model":
            made = [part.function_call for part in content.parts if part.function_call]
            calls = [function_call(call.id or call.name, call.name, call.args) for call in made]
            thoughts = "".join(part.text or "" for part in content.parts if part.thought)
            yield assistant(_texts(content.parts), thoughts, calls)
            continue
        results = [part.function_response for part in content.parts if part.function_response]
        for result in results:
            said = result.response.get("result", result.response.get("output", result.response))
            text = said if isinstance(said, str) else json.dumps(said)
            yield {"role": "tool", "tool_call_id": result.id or result.name, "content": text}
        if not results:
            yield {"role": "user", "content": _texts(content.parts)}


def _texts(parts: list[GeminiPart]) -> str:
    return "".join(part.text or "" for part in parts if not part.thought)


def _tool(function: DeclaredFunction) -> Mapping[str, Any]:
    schema = function.parameters_json_schema or function.parameters or {}
    return function_tool(function.name, function.description, schema)
