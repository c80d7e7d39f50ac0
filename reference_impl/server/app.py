"""The routes: bodies are read within bounds, requests answered, refusals said in each API's way."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, Final

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from . import chat, cohere, converse, gemini, interactions, messages, ollama, responses
from .defects import Defect, hooked
from .fields import Fields, decoded
from .keys import check_key
from .models import entry, google_list, listed
from .plan import Framing, Plan
from .refusal import (
    Refusal,
    anthropic_error,
    cohere_error,
    converse_error,
    google_error,
    interactions_error,
    ollama_error,
    openai_error,
)
from .sending import EVENT_STREAM, JSON, JSON_LINES, MESSAGES, Body, EventStream
from .service import Service
from .sockets import ResponsesSocket
from .wire import Wire, boxed, element, encoded, framed, lined

_TYPES: Final[Mapping[Framing, str]] = {
    "events": EVENT_STREAM,
    "lines": JSON_LINES,
    "array": JSON,
    "messages": MESSAGES,
}
Planner = Callable[[Service, Fields, Headers], Plan]
Envelope = Callable[[Refusal], Mapping[str, Any]]
Endpoint = Callable[[Request], Awaitable[ASGIApp]]


def application(service: Service) -> Starlette:
    """The whole server as an ASGI application."""
    return Starlette(
        routes=[
            _posting("/v1/chat/completions", _answering(service, chat.plan, _openai)),
            _posting("/v1/responses", _answering(service, responses.plan, _openai)),
            WebSocketRoute("/v1/responses", _conversing(service)),
            _posting("/v1/messages", _answering(service, messages.plan, _anthropic)),
            _posting("/v2/chat", _answering(service, cohere.plan, _cohere)),
            Route("/v1beta/models", _reading(service, lambda _: google_list(service))),
            _posting("/v1beta/interactions", _answering(service, interactions.plan, _interactions)),
            _posting("/v1beta/models/{model}:generateContent", _generating(service)),
            _posting(
                "/v1beta/models/{model}:streamGenerateContent", _generating(service, streams=True)
            ),
            _posting("/api/chat", _answering(service, ollama.plan, _ollama)),
            _posting("/api/generate", _answering(service, ollama.completion_plan, _ollama)),
            _posting("/model/{model}/converse", _answering(service, converse.plan_body, _converse)),
            _posting(
                "/model/{model}/converse-stream",
                _answering(service, converse.plan_stream, _converse),
            ),
            _posting("/api/show", _describing(service)),
            Route("/api/tags", _reading(service, lambda _: ollama.tags(service))),
            Route("/v1/models", _reading(service, lambda _: listed(service))),
            Route("/v1/models/{model:path}", _reading(service, lambda at: entry(service, at))),
            Route("/health", _health),
        ],
        exception_handlers={HTTPException: _misdirected, Exception: _broken},
    )


def _posting(path: str, endpoint: Endpoint) -> Route:
    return Route(path, endpoint, methods=["POST"])


def _answering(service: Service, planned: Planner, envelope: Envelope) -> Endpoint:
    """An endpoint of one API."""

    async def endpoint(request: Request) -> ASGIApp:
        try:
            check_key(service.settings.api_key, request.headers)
            body = await read(request, service.settings.max_body)
            fields = {**decoded(body), **request.path_params}
            plan = planned(service, fields, request.headers)
        except Refusal as refusal:
            return _json(envelope(refusal), refusal.status)
        except ClientDisconnect:
            return Response(status_code=499)  # nobody is there to read it
        return _answer(plan, service.defect)

    return endpoint


def _conversing(service: Service) -> Callable[[WebSocket], Awaitable[None]]:
    """The endpoint of Responses over a WebSocket."""

    async def endpoint(websocket: WebSocket) -> None:
        await ResponsesSocket(service, websocket).serve()

    return endpoint


def _generating(service: Service, *, streams: bool = False) -> Endpoint:
    """An endpoint of the Gemini API: its path says which model, the query how a stream comes."""

    async def endpoint(request: Request) -> ASGIApp:
        model = str(request.path_params["model"])
        has_events = request.query_params.get("alt") == "sse"
        try:
            check_key(service.settings.api_key, request.headers, request.query_params.get("key"))
            fields = decoded(await read(request, service.settings.max_body))
            plan = gemini.plan(service, fields, model, streams=streams, has_events=has_events)
        except Refusal as refusal:
            return _json(_google(refusal), refusal.status)
        except ClientDisconnect:
            return Response(status_code=499)  # nobody is there to read it
        return _answer(plan, service.defect)

    return endpoint


def _answer(plan: Plan, defect: Defect | None) -> ASGIApp:
    wires = plan.wires
    if defect is not None and defect.wires is not None:
        wires = hooked(wires, defect.wires, plan.scene)
    if plan.whole is not None:
        return Body(wires, plan.whole)
    frames = _frames(wires, plan)
    if defect is not None and defect.frames is not None:
        frames = hooked(frames, defect.frames, plan.scene)
    return EventStream(frames, _TYPES[plan.framing])


async def _frames(wires: AsyncGenerator[Wire, None], plan: Plan) -> AsyncGenerator[bytes, None]:
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


def _describing(service: Service) -> Endpoint:
    """The endpoint that says what a model can do."""

    async def endpoint(request: Request) -> ASGIApp:
        try:
            check_key(service.settings.api_key, request.headers)
            fields = decoded(await read(request, service.settings.max_body))
            return _json(ollama.shown(service, fields))
        except Refusal as refusal:
            return _json(_ollama(refusal), refusal.status)

    return endpoint


def _reading(service: Service, look_up: Callable[[str], Mapping[str, Any]]) -> Endpoint:
    """An endpoint that says what is there."""

    async def endpoint(request: Request) -> ASGIApp:
        try:
            check_key(service.settings.api_key, request.headers)
            return _json(look_up(request.path_params.get("model", "")))
        except Refusal as refusal:
            return _json(_openai(refusal), refusal.status)

    return endpoint


async def _health(request: Request) -> Response:
    del request
    return _json({"status": "ok"})


async def _misdirected(request: Request, error: Exception) -> Response:
    """A path or method that is not served."""
    assert isinstance(error, HTTPException)
    return _said(request, Refusal(error.detail, status=error.status_code))


async def _broken(request: Request, error: Exception) -> Response:
    """A fault of this server; the error itself goes to the log."""
    del error
    return _said(request, Refusal("the server made a mistake; its log says more", status=500))


def _said(request: Request, refusal: Refusal) -> Response:
    envelopes = {
        "/v1/messages": _anthropic,
        "/v2/": _cohere,
        "/v1beta/interactions": _interactions,
        "/v1beta/": _google,
        "/api/": _ollama,
        "/model/": _converse,
    }
    path = request.url.path
    envelope = next((each for at, each in envelopes.items() if path.startswith(at)), _openai)
    return _json(envelope(refusal), refusal.status)


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


def _json(payload: Mapping[str, Any], status: int = 200) -> Response:
    return Response(encoded(payload), status, media_type=JSON)


def _openai(refusal: Refusal) -> Mapping[str, Any]:
    return openai_error(
        refusal.message, status=refusal.status, param=refusal.param, code=refusal.code
    )


def _anthropic(refusal: Refusal) -> Mapping[str, Any]:
    return anthropic_error(refusal.message, status=refusal.status)


def _cohere(refusal: Refusal) -> Mapping[str, Any]:
    return cohere_error(refusal.message)


def _google(refusal: Refusal) -> Mapping[str, Any]:
    return google_error(refusal.message, status=refusal.status)


def _interactions(refusal: Refusal) -> Mapping[str, Any]:
    return interactions_error(refusal.message, status=refusal.status)


def _converse(refusal: Refusal) -> Mapping[str, Any]:
    return converse_error(refusal.message)


def _ollama(refusal: Refusal) -> Mapping[str, Any]:
    return ollama_error(refusal.message)
