"""The routes: bodies are read within bounds, requests answered, refusals said in each API's way."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from . import chat, cohere, converse, gemini, interactions, messages, ollama, responses
from .defects import ServerDefect, hooked
from .fields import Fields, decoded
from .models import entry, google_list, listed
from .plan import Framing, Plan
from .refusal import (
    Refusal,
    anthropic_error,
    google_error,
    interactions_error,
    message_error,
    ollama_error,
    openai_error,
)
from .sending import EVENT_STREAM, JSON, JSON_LINES, MESSAGES, Body, EventStream
from .service import Service, check_key
from .sockets import ResponsesSocket
from .wire import Wire, boxed, element, encoded, framed, lined

_TYPES: Final[Mapping[Framing, str]] = {
    "events": EVENT_STREAM,
    "lines": JSON_LINES,
    "array": JSON,
    "messages": MESSAGES,
}
Planner = Callable[[Service, Fields, HTTPConnection], Plan]
Envelope = Callable[[Refusal], Mapping[str, Any]]
Endpoint = Callable[[Request], Awaitable[ASGIApp]]
LookUp = Callable[[Service, Fields], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Api:
    """Where an API is served: how a request is answered, and how it is refused."""

    path: str
    plan: Planner
    envelope: Envelope

    @property
    def takes_key_in_query(self) -> bool:
        """As Google's older API does."""
        return self.envelope is google_error


_APIS: Final = (
    Api("/v1/chat/completions", chat.plan, openai_error),
    Api("/v1/responses", responses.plan, openai_error),
    Api("/v1/messages", messages.plan, anthropic_error),
    Api("/v2/chat", cohere.plan, message_error),
    Api("/v1beta/interactions", interactions.plan, interactions_error),
    Api("/v1beta/models/{model}:generateContent", gemini.plan, google_error),
    Api(
        "/v1beta/models/{model}:streamGenerateContent",
        partial(gemini.plan, streams=True),
        google_error,
    ),
    Api("/api/chat", ollama.plan, ollama_error),
    Api("/api/generate", ollama.completion_plan, ollama_error),
    Api("/model/{model}/converse", converse.plan, message_error),
    Api("/model/{model}/converse-stream", partial(converse.plan, streams=True), message_error),
)
# Beginnings of paths -> how what is not served there is refused; elsewhere as OpenAI does.
_ENVELOPES: Final[Mapping[str, Envelope]] = {
    "/v1/messages": anthropic_error,
    "/v2/": message_error,
    "/v1beta/interactions": interactions_error,
    "/v1beta/": google_error,
    "/api/": ollama_error,
    "/model/": message_error,
}


def application(service: Service) -> Starlette:
    """The whole server as an ASGI application."""
    return Starlette(
        routes=[
            *(Route(api.path, _answers_at(service, api), methods=["POST"]) for api in _APIS),
            WebSocketRoute("/v1/responses", _socket_endpoint(service)),
            Route("/v1beta/models", _looking_up(service, google_list)),
            Route("/api/show", _looking_up(service, ollama.shown, ollama_error), methods=["POST"]),
            Route("/api/tags", _looking_up(service, ollama.tags)),
            Route("/v1/models", _looking_up(service, listed)),
            Route("/v1/models/{model:path}", _looking_up(service, entry)),
            Route("/health", _answer_health),
        ],
        exception_handlers={HTTPException: _no_route, Exception: _own_fault},
    )


def _answers_at(service: Service, api: Api) -> Endpoint:
    async def endpoint(request: Request) -> ASGIApp:
        in_query = request.query_params.get("key") if api.takes_key_in_query else None
        try:
            check_key(service.settings.api_key, request.headers, in_query)
            body = await read(request, service.settings.max_body)
            fields = {**decoded(body), **request.path_params}
            plan = api.plan(service, fields, request)
        except Refusal as refusal:
            return _json_response(api.envelope(refusal), refusal.status)
        except ClientDisconnect:
            return Response(status_code=499)  # nobody is there to read it
        return _answer_of_plan(plan, service.defect)

    return endpoint


def _socket_endpoint(service: Service) -> Callable[[WebSocket], Awaitable[None]]:
    async def endpoint(websocket: WebSocket) -> None:
        await ResponsesSocket(service, websocket).serve()

    return endpoint


def _answer_of_plan(plan: Plan, defect: ServerDefect | None) -> ASGIApp:
    wires = plan.faulty_wires(defect)
    if plan.whole is not None:
        return Body(wires, plan.whole)
    frames = _as_frames(wires, plan)
    if defect is not None and defect.frames is not None:
        frames = hooked(frames, defect.frames, plan.scene)
    return EventStream(frames, _TYPES[plan.framing])


async def _as_frames(wires: AsyncGenerator[Wire, None], plan: Plan) -> AsyncGenerator[bytes, None]:
    framing, with_lines = plan.framing, plan.event_lines
    is_first = True
    async with aclosing(wires):
        async for wire in wires:
            if framing == "array":
                yield element(wire, is_first=is_first)
            elif framing == "messages":
                yield boxed(wire)
            else:
                yield lined(wire) if framing == "lines" else framed(wire, with_lines=with_lines)
            is_first = False
    if framing == "array":
        yield element(None, is_first=is_first)


def _looking_up(service: Service, look_up: LookUp, envelope: Envelope = openai_error) -> Endpoint:
    """An endpoint that says what is there, or what it can do."""

    async def endpoint(request: Request) -> ASGIApp:
        fields: Fields = {}
        try:
            check_key(service.settings.api_key, request.headers)
            if request.method == "POST":
                fields = decoded(await read(request, service.settings.max_body))
            return _json_response(look_up(service, {**fields, **request.path_params}))
        except Refusal as refusal:
            return _json_response(envelope(refusal), refusal.status)

    return endpoint


async def _answer_health(_: Request) -> Response:
    return _json_response({"status": "ok"})


async def _no_route(request: Request, error: Exception) -> Response:
    """A path or method that is not served."""
    assert isinstance(error, HTTPException)
    return _refused_at(request, Refusal(error.detail, status=error.status_code))


async def _own_fault(request: Request, _: Exception) -> Response:
    """A fault of this server; the error itself goes to the log."""
    return _refused_at(request, Refusal("the server made a mistake; its log says more", status=500))


def _refused_at(request: Request, refusal: Refusal) -> Response:
    path = request.url.path
    known = (each for start, each in _ENVELOPES.items() if path.startswith(start))
    envelope = next(known, openai_error)
    return _json_response(envelope(refusal), refusal.status)


async def read(request: Request, most: int) -> bytes:
    """The body. Raises Refusal as soon as it is known to be over `most` bytes."""
    too_large = Refusal(f"the body is over {most} bytes", status=413, code="request_too_large")
    stated = request.headers.get("content-length", "0")
    if stated.isascii() and stated.isdigit() and int(stated[:20]) > most:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise too_large
    return bytes(body)


def _json_response(payload: Mapping[str, Any], status: int = 200) -> Response:
    return Response(encoded(payload), status, media_type=JSON)
