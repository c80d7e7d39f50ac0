"""Responses: a request becomes a plan."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any

from starlette.requests import HTTPConnection

from .defects import Scene
from .engine import Finish, Start, Usage
from .fields import Fields, typed
from .plan import EngineRequest, Plan, check_model, prompted
from .projection import AnswerBody, Events, projected
from .refusal import failed, openai_error
from .responses_input import turns
from .responses_items import ThinkingShape
from .responses_request import Resource, ResponsesRequest, ask_of, check_supported
from .responses_stream import ResponsesShape, ResponsesStream
from .service import Service
from .settings import Settings
from .summary import AnswerEvent, Summariser
from .turns import Turn
from .wire import Wire


class ResponsesBody(AnswerBody):
    """The last response; a failed one says so itself, in `status` and `error`."""

    def __init__(self) -> None:
        super().__init__(openai_error)
        self._error = openai_error(failed("no response was made"))
        self._response: Mapping[str, Any] = {}

    def _add_payload(self, _: str, data: Mapping[str, Any]) -> None:
        if "response" in data:
            self._error, self._response = None, data["response"]

    def _whole_body(self) -> Mapping[str, Any]:
        return self._response


def plan(service: Service, fields: Fields, _: HTTPConnection) -> Plan:
    request = typed(fields, ResponsesRequest)
    check_model(service, request.model)
    settings = service.settings
    check_supported(request, remembers=settings.remembers)
    conversation = _conversation_so_far(service, request)
    ask = ask_of(request, conversation, settings.levels)
    warms_up = request.generate is False
    begin = _nothing if warms_up else _generation_of(service, request, ask)
    shape = _shape_of_stream(service, request)
    stream = ResponsesStream(shape, service.stamp)
    scene = Scene("responses", thinks=ask.thinks, streams=bool(request.stream))
    wires = projected(service.faulty(begin, scene), stream)
    keep = partial(service.memory.keep, shape.resource.id, is_stored=request.store is not False)
    added = () if warms_up else (stream,)
    wires = _kept_after(wires, lambda: keep((*conversation, *(each.turn for each in added))))
    whole = None if request.stream else ResponsesBody()
    return Plan(wires, whole, scene, event_lines=settings.event_lines)


def _shape_of_stream(service: Service, request: ResponsesRequest) -> ResponsesShape:
    settings, stamp = service.settings, service.stamp
    zeros = settings.zero_details
    resource = Resource(stamp.new("resp_"), stamp.now(), service.model_id, request, zeros)
    seals = request.wants_encrypted and settings.seals
    thinking = ThinkingShape(
        carrier=settings.summary_carrier,
        parts=settings.summary_parts,
        states_text=settings.summary_text_done,
        as_summary=settings.responses_thinking == "summary",
        seal=service.seal("reasoning").seal if seals else None,
    )
    return ResponsesShape(
        resource,
        thinking,
        shows_thinking=_shows_thinking(settings, request),
        thinks_once=settings.thinks_once,
        always_a_message=settings.always_a_message,
    )


def _shows_thinking(settings: Settings, request: ResponsesRequest) -> bool:
    return request.level is not None or not settings.needs_effort


def _conversation_so_far(service: Service, request: ResponsesRequest) -> tuple[Turn, ...]:
    """Without the instructions, which hold for one request."""
    earlier = request.previous_response_id
    before = service.memory.recall(earlier) if earlier is not None else ()
    seal, reads = service.seal("reasoning"), service.settings.reads_reasoning
    return turns(request.input, seal, before, reads_reasoning=reads)


def _generation_of(
    service: Service, request: ResponsesRequest, ask: EngineRequest
) -> Callable[[], Events[AnswerEvent]]:
    """Return the start of the generation, with a summary if one is requested and can be sent."""
    prompt = prompted(service.model, ask)
    settings = service.settings
    summarises = settings.summary_carrier != "none" and _shows_thinking(settings, request)
    if request.style is None or not summarises:
        return lambda: service.model.generate(prompt, ask.limits)
    summariser = Summariser(service.model, request.style, settings.summary_failure)
    return lambda: summariser.woven(service.model.generate(prompt, ask.limits))


async def _nothing() -> AsyncGenerator[AnswerEvent, None]:
    """Yield nothing: the request only prepares the next one."""
    yield Start(0)
    yield Finish("stop", Usage(0, 0, 0))


async def _kept_after(
    wires: AsyncGenerator[Wire, None], keep: Callable[[], None]
) -> AsyncGenerator[Wire, None]:
    """The same events; the conversation is kept before the last one leaves."""
    async with aclosing(wires):
        async for wire in wires:
            if wire.event in ("response.completed", "response.incomplete"):
                keep()
            yield wire
