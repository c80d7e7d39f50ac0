"""Chat Completions: a request becomes a plan."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import Headers

from reference_impl.server.ask import check_model, prompted
from reference_impl.server.chat_body import ChatBody
from reference_impl.server.chat_request import ChatRequest, asked, check_supported, wanted_effort
from reference_impl.server.chat_stream import ChatShape, ChatStream, Showing
from reference_impl.server.defects import Scene
from reference_impl.server.effort import leaving_room
from reference_impl.server.fields import Fields, typed
from reference_impl.server.plan import Plan
from reference_impl.server.projection import projected
from reference_impl.server.service import Service
from reference_impl.server.settings import Settings

_YES: Final = frozenset({"1", "true", "yes"})


def plan(service: Service, fields: Fields, headers: Headers) -> Plan:
    """How to answer. Raises Refusal."""
    request = typed(fields, ChatRequest)
    check_model(service, request.model)
    check_supported(request)
    wanted = wanted_effort(request)
    if service.settings.chat_reasoning == "strip":
        wanted = leaving_room(wanted, request.most_tokens)
    ask = asked(request, wanted)
    prompt = prompted(service.model, ask)
    shape = _shape(service, request, opted_in=opts_in(service.settings, fields, headers))
    scene = Scene(
        "chat",
        shape.markers,
        hidden=shape.showing == "hidden",
        thinks=ask.thinks,
        streams=bool(request.stream),
    )
    begin = service.faulty(lambda: service.model.generate(prompt, ask.limits), scene)
    wires = projected(begin, ChatStream(shape, service.stamp))
    return Plan(wires, None if request.stream else ChatBody(), scene)


def opts_in(settings: Settings, fields: Fields, headers: Headers) -> bool:
    """Whether the request asks to see thinking: 1, true or yes, in any case, blanks around it."""
    if settings.include_field:
        value = fields.get(settings.include_field)
        return value is True or str(value).strip().lower() in _YES
    return headers.get(settings.include_header, "").strip().lower() in _YES


def _shape(service: Service, request: ChatRequest, *, opted_in: bool) -> ChatShape:
    markers = service.model.markers
    return ChatShape(
        model=service.model_id,
        showing=_showing(service.settings, request, opted_in=opted_in),
        markers=(markers.open, markers.close) if markers else ("", ""),
        # A body always has its usage.
        with_usage=request.wants_usage or not request.stream,
    )


def _showing(settings: Settings, request: ChatRequest, *, opted_in: bool) -> Showing:
    if request.excludes_reasoning:
        return "hidden"
    if settings.chat_reasoning == "strip":
        return "wrapped" if opted_in else "hidden"
    return "wrapped" if settings.chat_reasoning == "wrap" else settings.chat_reasoning
