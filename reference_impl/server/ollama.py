"""Ollama's native APIs: requests become plans, engine events lines of JSON; which models there are.

Rule 1: a line holds thinking, text or whole calls, never two of them; `thinking` is left out where
        there is none, `content` never is.
Rule 2: the last line has `done` true, the reason and the counts; a call ends with `stop` too.
Rule 3: thinking is part of `eval_count`, and is not counted apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from starlette.requests import HTTPConnection

from .defects import Scene
from .effort import Effort, effort
from .engine import Finish, Start, ToolCall, Usage
from .fields import Fields, Sampling, StopString, StopStrings, Tool, offered, typed, unsupported
from .plan import EngineRequest, Plan, engine_request, planned
from .projection import AnswerBody, AnswerProjection, Stamp, call_arguments, utc_text
from .refusal import Refusal, ollama_error
from .service import Service
from .turns import Turn, assistant, function_calls, result_turn, text_turn
from .wire import Wire

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


class ContextTurn(msgspec.Struct, array_like=True):
    """A turn as `context` holds it: thinking is not part of it."""

    role: Literal["system", "user", "assistant"]
    content: str


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
    wanted = _effort_of_request(service, request)
    tools = offered(request.tools, None, "tools")
    ask = _ask_of(request, map(_turn_of_message, request.messages), tools, wanted)
    scene = Scene("ollama", thinks=ask.thinks, streams=request.streams)
    stream = OllamaStream(request.model, service.stamp)
    return planned(service, ask, stream, OllamaBody(), scene, framing="lines")


def completion_plan(service: Service, fields: Fields, _: HTTPConnection) -> Plan:
    """How to complete a prompt. Raises Refusal."""
    request = typed(fields, GenerateRequest)
    wanted = _effort_of_request(service, request)
    if request.images or request.suffix or request.raw:
        raise unsupported("an image, a suffix or a raw prompt", "prompt")
    earlier = _turns_of_context(request.context or ())
    system = [text_turn("system", request.system)] if request.system and not earlier else []
    turns = (*earlier, *system, text_turn("user", request.prompt))
    ask = _ask_of(request, turns, (), wanted)
    scene = Scene("ollama-generate", thinks=ask.thinks, streams=request.streams)
    stream = GenerateStream(request.model, service.stamp, turns)
    return planned(service, ask, stream, GenerateBody(), scene, framing="lines")


def _context_of_turns(turns: Iterable[Turn]) -> list[int]:
    """The turns so far as numbers, which a client sends back as they are."""
    return list(msgspec.json.encode([ContextTurn(each["role"], each["content"]) for each in turns]))


def _turns_of_context(context: Iterable[int]) -> list[Turn]:
    """Raises Refusal for numbers that this server did not give."""
    try:
        given = msgspec.json.decode(bytes(context) or b"[]", type=list[ContextTurn])
    except ValueError as err:
        raise Refusal("the context is not one of this server", param="context") from err
    return [text_turn(each.role, each.content) for each in given]


def _effort_of_request(service: Service, request: OllamaFields) -> Effort:
    """How hard to think; on where the request does not say and the model can. Raises Refusal."""
    check_model(service, request.model)
    think, can_think = request.think, service.model.markers is not None
    if think is None or think is False:
        return Effort(thinks=think is None and can_think)
    if think is not True and think not in LEVELS:
        known = ", ".join(f'"{level}"' for level in LEVELS)
        text = f"invalid think value: {msgspec.json.encode(think).decode()}"
        raise Refusal(f"{text} (must be {known}, true, or false)", param="think")
    if not can_think:
        raise Refusal(f'"{request.model}" does not support thinking', param="think")
    return Effort() if think is True else effort(think, "think", LEVELS)


def _ask_of(
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


def _turn_of_message(message: OllamaMessage) -> Turn:
    if message.images:
        raise unsupported("an image", "messages")
    match message.role:
        case "system" | "user":
            return text_turn(message.role, message.content)
        case "tool":
            return result_turn(message.tool_call_id or message.tool_name, message.content)
        case "assistant":
            calls = function_calls(message.tool_calls)
            return assistant(message.content, message.thinking, calls)
    raise Refusal(f"unknown role {message.role!r}", param="messages")


def tags(service: Service, _: Fields) -> dict[str, Any]:
    at = utc_text(service.started)
    named = {"name": service.model_id, "model": service.model_id, "modified_at": at}
    return {"models": [{**named, "size": 0, "digest": "", "details": {"format": "safetensors"}}]}


def shown(service: Service, fields: Fields) -> dict[str, Any]:
    """Return the details of one model. Raises Refusal for one that is not served."""
    check_model(service, str(fields.get("model", "")))
    thinks = ["thinking"] if service.model.markers is not None else []
    return {"capabilities": ["completion", "tools", *thinks], "model_info": {}, "details": {}}


def check_model(service: Service, named: str) -> None:
    """Raises Refusal unless that is the model that is served; `:latest` may stand behind it."""
    if named.removesuffix(_LATEST) != service.model_id:
        raise Refusal(f"model '{named}' not found", status=404)


_NANOSECONDS = 1_000_000_000


class OllamaStream(AnswerProjection):
    def __init__(self, model: str, stamp: Stamp) -> None:
        super().__init__()
        self._model = model
        self._stamp = stamp
        self._calls = 0
        self._asked_at = stamp.clock()
        self._first_at: float | None = None

    def _emit_start(self, start: Start) -> Iterator[Wire]:
        self._first_at = self._stamp.clock()
        return super()._emit_start(start)

    def _emit_thinking(self, text: str) -> Iterator[Wire]:
        yield self._one_line({"content": "", "thinking": text})

    def _emit_text(self, text: str) -> Iterator[Wire]:
        yield self._one_line({"content": text})

    def _emit_error(self, refusal: Refusal) -> Iterator[Wire]:
        """The error is the last line; no line says that the answer is done."""
        yield Wire(ollama_error(refusal))

    def _emit_call(self, call: ToolCall) -> Iterator[Wire]:
        arguments = call_arguments(call.arguments)
        function = {"index": self._calls, "name": call.name, "arguments": arguments}
        self._calls += 1
        called = {"id": self._stamp.new("call_"), "function": function}
        yield self._one_line({"content": "", "tool_calls": [called]})

    def _emit_finish(self, finish: Finish) -> Iterator[Wire]:
        reason = "length" if finish.reason == "length" else "stop"
        last = {"done": True, "done_reason": reason, **self._last_fields(finish.usage)}
        yield self._one_line({"content": ""}, last)

    def _last_fields(self, usage: Usage) -> dict[str, Any]:
        now = self._stamp.clock()
        first = now if self._first_at is None else self._first_at
        return {
            "total_duration": int((now - self._asked_at) * _NANOSECONDS),
            "load_duration": 0,
            "prompt_eval_count": usage.prompt,
            "prompt_eval_duration": int((first - self._asked_at) * _NANOSECONDS),
            "eval_count": usage.completion,
            "eval_duration": int((now - first) * _NANOSECONDS),
        }

    def _one_line(self, message: Mapping[str, Any], last: Mapping[str, Any] | None = None) -> Wire:
        return Wire(
            {
                "model": self._model,
                "created_at": utc_text(self._stamp.clock(), "microseconds"),
                **self._message_fields(message),
                **(last or {"done": False}),
            }
        )

    def _message_fields(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"message": {"role": "assistant", **message}}


class GenerateStream(OllamaStream):
    """The lines of a completion: texts stand on the line itself, and the last has the context."""

    def __init__(self, model: str, stamp: Stamp, turns: Iterable[Turn]) -> None:
        super().__init__(model, stamp)
        self._turns = turns
        self._answer: list[str] = []

    def _emit_text(self, text: str) -> Iterator[Wire]:
        self._answer.append(text)
        return super()._emit_text(text)

    def _last_fields(self, usage: Usage) -> dict[str, Any]:
        answered = text_turn("assistant", "".join(self._answer))
        context = _context_of_turns((*self._turns, answered))
        return {**super()._last_fields(usage), "context": context}

    def _message_fields(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        texts = {"response": message["content"]}
        return {**texts, "thinking": message["thinking"]} if "thinking" in message else texts


class OllamaBody(AnswerBody):
    """The last line, with the whole message."""

    def __init__(self) -> None:
        super().__init__(ollama_error)
        self._texts: dict[str, str] = {self._text: "", "thinking": ""}
        self._calls: list[Any] = []
        self._last: Mapping[str, Any] = {}

    _text = "content"

    def _add_payload(self, _: str, line: Mapping[str, Any]) -> None:
        self._last = line
        self._error = line if "error" in line else None
        message = self._whole_message(line)
        for name in self._texts:
            self._texts[name] += message.get(name, "")
        self._calls += message.get("tool_calls", ())

    def _whole_body(self) -> dict[str, Any]:
        kept = {self._text: self._texts[self._text]}
        if self._texts["thinking"]:
            kept["thinking"] = self._texts["thinking"]
        return self._with_texts(kept)

    def _whole_message(self, line: Mapping[str, Any]) -> Mapping[str, Any]:
        message: Mapping[str, Any] = line.get("message", {})
        return message

    def _with_texts(self, texts: Mapping[str, str]) -> dict[str, Any]:
        calls = {"tool_calls": self._calls} if self._calls else {}
        return {**self._last, "message": {"role": "assistant", **texts, **calls}}


class GenerateBody(OllamaBody):
    """The same of a completion: its texts stand on the line itself."""

    _text = "response"

    def _whole_message(self, line: Mapping[str, Any]) -> Mapping[str, Any]:
        return line

    def _with_texts(self, texts: Mapping[str, str]) -> dict[str, Any]:
        return {**self._last, **texts}
