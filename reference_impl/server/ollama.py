"""Ollama's native APIs: fields of requests, how they are answered, which models there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta
from starlette.requests import HTTPConnection

from .ask import EngineRequest, engine_request
from .defects import Scene
from .effort import Effort, effort
from .fields import Fields, Sampling, StopString, StopStrings, Tool, typed, unsupported
from .ollama_stream import GenerateBody, GenerateStream, OllamaBody, OllamaStream
from .plan import Plan, planned
from .refusal import Refusal
from .service import Service
from .turns import Turn, assistant, function_call

_LATEST: Final = ":latest"
LEVELS: Final = ("low", "medium", "high", "max")


class OllamaFunction(msgspec.Struct):
    name: str
    arguments: dict[str, Any] = {}


class OllamaCall(msgspec.Struct):
    function: OllamaFunction
    id: str = ""


class OllamaMessage(msgspec.Struct):
    """One turn; `thinking` is what the model thought before it, sent back."""

    role: str
    content: str = ""
    thinking: str = ""
    tool_calls: list[OllamaCall] | None = None
    tool_name: str = ""
    tool_call_id: str = ""
    images: list[str] | None = None


class OllamaOptions(Sampling):
    """Options of the model that mean something here; `num_predict` below 1 is no limit."""

    num_predict: int | None = None
    stop: StopString | StopStrings | None = None


class OllamaFields(msgspec.Struct, kw_only=True):
    """The fields that both APIs have; `streams` unless that is switched off."""

    model: str
    stream: bool | None = None
    think: Any = None
    options: OllamaOptions | None = None
    format: Any = None

    @property
    def streams(self) -> bool:
        return self.stream is not False


class OllamaRequest(OllamaFields, kw_only=True):
    messages: Annotated[list[OllamaMessage], Meta(min_length=1)]
    tools: list[Tool] | None = None


class GenerateRequest(OllamaFields, kw_only=True):
    """A completion. `context` is what an earlier answer gave as the talk so far."""

    prompt: str
    system: str = ""
    context: list[int] | None = None
    images: list[str] | None = None
    suffix: str = ""
    raw: bool = False


def plan(service: Service, fields: Fields, _: HTTPConnection) -> Plan:
    request = typed(fields, OllamaRequest)
    wanted = _effort(service, request)
    tools = [tool.declared for tool in request.tools or ()]
    ask = _ask(request, map(_turn, request.messages), tools, wanted)
    scene = Scene("ollama", thinks=ask.thinks, streams=request.streams)
    stream = OllamaStream(request.model, service.stamp)
    return planned(service, ask, stream, OllamaBody(), scene, framing="lines")


def completion_plan(service: Service, fields: Fields, _: HTTPConnection) -> Plan:
    """How to complete a prompt; the talk so far is not read again. Raises Refusal."""
    request = typed(fields, GenerateRequest)
    wanted = _effort(service, request)
    if request.images or request.suffix or request.raw:
        raise unsupported("an image, a suffix or a raw prompt", "prompt")
    system = [{"role": "system", "content": request.system}] if request.system else []
    ask = _ask(request, (*system, {"role": "user", "content": request.prompt}), (), wanted)
    scene = Scene("ollama-generate", thinks=ask.thinks, streams=request.streams)
    stream = GenerateStream(request.model, service.stamp)
    return planned(service, ask, stream, GenerateBody(), scene, framing="lines")


def _effort(service: Service, request: OllamaFields) -> Effort:
    """How hard to think; on where the request does not say and the model can. Raises Refusal."""
    check_model(service, request.model)
    think, can_think = request.think, service.model.markers is not None
    if think is None or think is False:
        return Effort(thinks=think is None and can_think)
    if think is not True and think not in LEVELS:
        known = ", ".join(f'"{level}"' for level in LEVELS)
        said = f"invalid think value: {msgspec.json.encode(think).decode()}"
        raise Refusal(f"{said} (must be {known}, true, or false)", param="think")
    if not can_think:
        raise Refusal(f'"{request.model}" does not support thinking', param="think")
    return Effort() if think is True else effort(think, "think", LEVELS)


def _ask(
    request: OllamaFields,
    messages: Iterable[Turn],
    tools: Iterable[Mapping[str, Any]],
    wanted: Effort,
) -> EngineRequest:
    """Raises Refusal for what would have to be ignored."""
    turns = tuple(messages)
    if request.format not in (None, ""):
        raise unsupported("an output format", "format")
    options = request.options or OllamaOptions()
    most = options.num_predict
    limit = most if most is not None and most > 0 else None
    return engine_request(turns, tools, wanted, options, limit)


def _turn(message: OllamaMessage) -> Turn:
    if message.images:
        raise unsupported("an image", "messages")
    match message.role:
        case "system" | "user":
            return {"role": message.role, "content": message.content}
        case "tool":
            call = message.tool_call_id or message.tool_name
            return {"role": "tool", "tool_call_id": call, "content": message.content}
        case "assistant":
            calls = [
                function_call(call.id, call.function.name, call.function.arguments)
                for call in message.tool_calls or ()
            ]
            return assistant(message.content, message.thinking, calls)
    raise Refusal(f"unknown role {message.role!r}", param="messages")


def tags(service: Service) -> dict[str, Any]:
    at = datetime.fromtimestamp(service.started, UTC).isoformat().replace("+00:00", "Z")
    named = {"name": service.model_id, "model": service.model_id, "modified_at": at}
    return {"models": [{**named, "size": 0, "digest": "", "details": {"format": "safetensors"}}]}


def shown(service: Service, fields: Fields) -> dict[str, Any]:
    """What one model can do. Raises Refusal for one that is not served."""
    check_model(service, str(fields.get("model", "")))
    thinks = ["thinking"] if service.model.markers is not None else []
    return {"capabilities": ["completion", "tools", *thinks], "model_info": {}, "details": {}}


def check_model(service: Service, named: str) -> None:
    """Raises Refusal unless that is the model that is served; `:latest` may stand behind it."""
    if named.removesuffix(_LATEST) != service.model_id:
        raise Refusal(f"model '{named}' not found", status=404)
