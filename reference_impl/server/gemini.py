"""generateContent: a request becomes a plan; engine events become chunks.

Rule 1: a part is a thought, a text or a whole call; thoughts are sent to who asked for them, and
        counted in any case, in the last chunk.
Rule 2: the first call of an answer is signed; where there is none, the last part is, if the model
        was to think.
Rule 3: the last chunk has the reason; a call ends with STOP, too.
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
from .fields import Count, Fields, Sampling, Share, StopStrings, offered, typed, unsupported
from .plan import EngineRequest, Framing, Plan, check_model, engine_request, planned
from .projection import AnswerBody, AnswerProjection, Stamp, call_arguments
from .refusal import Refusal, google_error
from .service import Service
from .turns import Turn, assistant, function_call, function_tool, result_turn, text_turn
from .wire import Wire

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

    @property
    def declared(self) -> Mapping[str, Any]:
        schema = self.parameters_json_schema or self.parameters or {}
        return function_tool(self.name, self.description, schema)


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
    ask = _ask_of(request, _effort_of_request(request))
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
    spelled = {_camel_case(key): each for key, each in value.items()}
    return {key: each if key in free else _in_camel_case(each) for key, each in spelled.items()}


def _camel_case(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(map(str.title, rest))


def _effort_of_request(request: GeminiRequest) -> Effort:
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


def _ask_of(request: GeminiRequest, wanted: Effort) -> EngineRequest:
    """Return the request to the engine. Raises Refusal for fields that it would have to ignore."""
    config = request.config
    if config.response_mime_type not in ("", "text/plain"):
        raise unsupported("an output format", "responseMimeType")
    system = request.system_instruction
    before = [text_turn("system", _text_in(system.parts))] if system else []
    functions = [each for tool in request.tools or () for each in tool.function_declarations]
    mode = request.calling_mode and request.calling_mode.lower()
    tools = offered(functions, mode, "functionCallingConfig")
    turns = (*before, *_turns_of_contents(request.contents))
    return engine_request(turns, tools, wanted, config, config.most_tokens)


def _check_signatures(request: GeminiRequest) -> None:
    """Raises Refusal unless the first call of every step of the current turn is signed."""
    contents = request.contents
    asked_at = max((n for n, each in enumerate(contents) if _asks_something(each)), default=-1)
    for number, content in enumerate(contents[asked_at + 1 :], asked_at + 2):
        call = next((part for part in content.parts if part.function_call), None)
        if content.role == "model" and call and call.function_call:
            name = call.function_call.name
            if call.thought_signature != SIGNATURE:
                raise Refusal(f"{_MISSING}, function call `default_api:{name}`, position {number}.")


def _asks_something(content: GeminiContent) -> bool:
    return content.role != "model" and any(part.text is not None for part in content.parts)


def _turns_of_contents(contents: list[GeminiContent]) -> Iterator[Turn]:
    for content in contents:
        if any(part.inline_data is not None for part in content.parts):
            raise unsupported("an image", "contents")
        if content.role == "model":
            made = [part.function_call for part in content.parts if part.function_call]
            calls = [function_call(call.id or call.name, call.name, call.args) for call in made]
            thoughts = "".join(part.text or "" for part in content.parts if part.thought)
            yield assistant(_text_in(content.parts), thoughts, calls)
            continue
        results = [part.function_response for part in content.parts if part.function_response]
        for result in results:
            output = result.response.get("result", result.response.get("output", result.response))
            text = output if isinstance(output, str) else json.dumps(output)
            yield result_turn(result.id or result.name, text)
        if not results:
            yield text_turn("user", _text_in(content.parts))


def _text_in(parts: list[GeminiPart]) -> str:
    return "".join(part.text or "" for part in parts if not part.thought)


SIGNATURE: Final = "cmVmZXJlbmNlIHRob3VnaHQgc2lnbmF0dXJl"
"""The signature of this server: it keeps nothing, and recognises its own."""


class GeminiStream(AnswerProjection):
    def __init__(self, model: str, stamp: Stamp, *, thinks: bool, shows: bool) -> None:
        super().__init__()
        self._model = model
        self._response = stamp.new("")
        self._thinks = thinks
        self._shows = shows
        self._called = False

    def _emit_thinking(self, text: str) -> Iterator[Wire]:
        if self._shows:
            yield self._one_chunk({"text": text, "thought": True})

    def _emit_text(self, text: str) -> Iterator[Wire]:
        yield self._one_chunk({"text": text})

    def _emit_error(self, refusal: Refusal) -> Iterator[Wire]:
        yield Wire(google_error(refusal))

    def _emit_call(self, call: ToolCall) -> Iterator[Wire]:
        arguments = call_arguments(call.arguments)
        signed = {} if self._called else {"thoughtSignature": SIGNATURE}
        self._called = True
        yield self._one_chunk({"functionCall": {"name": call.name, "args": arguments}, **signed})

    def _emit_finish(self, finish: Finish) -> Iterator[Wire]:
        is_signed = self._thinks and not self._called
        signed = {"thoughtSignature": SIGNATURE} if is_signed else {}
        reason = "MAX_TOKENS" if finish.reason == "length" else "STOP"
        last = self._one_chunk({"text": "", **signed}, reason)
        assert not isinstance(last.data, str)
        yield Wire({**last.data, "usageMetadata": _usage_counts(finish.usage)})

    def _one_chunk(self, part: Mapping[str, Any], reason: str = "") -> Wire:
        candidate: dict[str, Any] = {"content": {"parts": [part], "role": "model"}, "index": 0}
        if reason:
            candidate["finishReason"] = reason
        head = {"modelVersion": self._model, "responseId": self._response}
        return Wire({"candidates": [candidate], **head})


def _usage_counts(usage: Usage) -> dict[str, int]:
    thoughts = usage.reasoning
    counts = {
        "promptTokenCount": usage.prompt,
        "candidatesTokenCount": usage.completion - thoughts,
        **({"thoughtsTokenCount": thoughts} if thoughts else {}),
    }
    return {**counts, "totalTokenCount": usage.prompt + usage.completion}


class GeminiBody(AnswerBody):
    """Adjacent texts of a kind are one part, unless the second one is signed."""

    def __init__(self) -> None:
        super().__init__(google_error)
        self._parts: list[dict[str, Any]] = []
        self._last: Mapping[str, Any] = {}

    def _add_payload(self, _: str, chunk: Mapping[str, Any]) -> None:
        self._last = chunk
        self._error = chunk if "error" in chunk else None
        for candidate in chunk.get("candidates", ()):
            for part in candidate["content"]["parts"]:
                self._add_part(part)

    def _add_part(self, part: Mapping[str, Any]) -> None:
        before = self._parts[-1] if self._parts else {}
        is_text = "text" in part and "text" in before
        if is_text and part.get("thought") == before.get("thought"):
            self._parts[-1] = {**before, **part, "text": before["text"] + part["text"]}
        elif part != {"text": ""}:
            self._parts.append(dict(part))

    def _whole_body(self) -> dict[str, Any]:
        (candidate,) = self._last["candidates"]
        content = {"parts": self._parts, "role": "model"}
        return {**self._last, "candidates": [{**candidate, "content": content}]}
