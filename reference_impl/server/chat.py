"""Chat Completions: a request becomes a plan."""

from __future__ import annotations

from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from .ask import check_model
from .chat_request import ChatRequest, ask_of, check_supported, switched, wanted_effort
from .chat_stream import ChatBody, ChatShape, ChatStream, Showing
from .defects import Scene
from .effort import Effort, leaving_room
from .fields import Fields, typed
from .mistral import MistralBody, MistralStream
from .plan import Plan, planned
from .service import Service
from .settings import Settings

_YES: Final = frozenset({"1", "true", "yes"})


def plan(service: Service, fields: Fields, connection: HTTPConnection) -> Plan:
    request = typed(fields, ChatRequest)
    check_model(service, request.model)
    check_supported(request)
    opted_in = opts_in(service.settings, fields, connection.headers)
    ask = ask_of(request, _wanted(service.settings, request, opted_in=opted_in))
    shape = _shape(service, request, opted_in=opted_in)
    has_parts = shape.showing == "parts"
    scene = Scene(
        "mistral" if has_parts else "chat",
        shape.markers,
        hidden=shape.showing == "hidden",
        thinks=ask.thinks,
        streams=bool(request.stream),
    )
    if has_parts:
        return planned(service, ask, MistralStream(shape, service.stamp), MistralBody(), scene)
    return planned(service, ask, ChatStream(shape, service.stamp), ChatBody(), scene)


def opts_in(settings: Settings, fields: Fields, headers: Headers) -> bool:
    """Whether the request asks to see thinking: 1, true or yes, in any case, blanks around it."""
    if settings.include_field:
        value = _at(fields, settings.include_field)
        return value is True or str(value).strip().lower() in _YES
    return headers.get(settings.include_header, "").strip().lower() in _YES


def _at(fields: Fields, path: str) -> Any:
    """What stands at a dotted path, None where there is nothing."""
    value: Any = fields
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _wanted(settings: Settings, request: ChatRequest, *, opted_in: bool) -> Effort:
    """How hard to think; thinking that nobody sees may be switched off, or must leave room."""
    wanted = wanted_effort(request, settings.levels)
    if settings.chat_reasoning != "strip":
        return wanted
    if settings.unseen == "skipped" and not opted_in and not switched(request):
        return Effort(thinks=False)
    return leaving_room(wanted, request.most_tokens)


def _shape(service: Service, request: ChatRequest, *, opted_in: bool) -> ChatShape:
    markers = service.model.markers
    return ChatShape(
        model=service.model_id,
        showing=_showing(service.settings, request, opted_in=opted_in),
        markers=(markers.open, markers.close) if markers else ("", ""),
        # A body always has its usage.
        with_usage=request.wants_usage or not request.stream or service.settings.usage_unasked,
        zero_details=service.settings.zero_details,
        with_done=service.settings.chat_done,
    )


def _showing(settings: Settings, request: ChatRequest, *, opted_in: bool) -> Showing:
    if request.excludes_reasoning:
        return "hidden"
    if opted_in and settings.opt_in_wraps:
        return "wrapped"
    if settings.chat_reasoning == "strip":
        return "wrapped" if opted_in else "hidden"
    return "wrapped" if settings.chat_reasoning == "wrap" else settings.chat_reasoning
