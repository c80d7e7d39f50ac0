"""Responses over a WebSocket: every `response.create` is answered by the events of a stream.

https://developers.openai.com/api/docs/guides/websocket-mode. The events are those of a stream over
HTTP, each a message; a request that cannot be served is answered by one `error` event, and the
connection goes on.
Rule 1: requests are answered in the order in which they come, one at a time, whatever `stream_id`
they name; events carry that of their request.
Rule 2: a client that leaves ends the answer under way, and with it the generation.
Rule 3: what waits is bounded: who sends more requests than that is not read for a while.
Rule 4: a connection remembers its latest answers, also those that are not to be stored, until a
request that goes on from one is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any, Final

from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from . import responses
from .fields import Fields, decoded
from .refusal import Refusal, openai_error
from .sending import JSON
from .service import Memory, Service, check_key
from .turns import Turn
from .wire import encoded

_CREATE: Final = "response.create"
_BESIDE: Final = ("type", "stream_id", "stream", "background")
_MOST_WAITING: Final = 8  # requests
_MOST_UNSTORED: Final = 8  # answers


class _ConnectionMemory(Memory):
    """Rule 4; `stored` is what all connections remember."""

    def __init__(self, stored: Memory) -> None:
        super().__init__(_MOST_UNSTORED)
        self._stored = stored

    def recall(self, response_id: str) -> tuple[Turn, ...]:
        if response_id in self:
            return super().recall(response_id)
        return self._stored.recall(response_id)

    def keep(self, response_id: str, turns: tuple[Turn, ...], *, is_stored: bool = True) -> None:
        self._stored.keep(response_id, turns, is_stored=is_stored)
        super().keep(response_id, turns)


class ResponsesSocket:
    """One connection, from the handshake to its end."""

    def __init__(self, service: Service, websocket: WebSocket) -> None:
        self._memory = _ConnectionMemory(service.memory)
        self._service = replace(service, memory=self._memory)
        self._websocket = websocket
        self._waiting: asyncio.Queue[str | bytes] = asyncio.Queue(_MOST_WAITING)

    async def serve(self) -> None:
        """Returns when the client has left, or was not let in."""
        try:
            check_key(self._service.settings.api_key, self._websocket.headers)
        except Refusal as refusal:
            body = encoded(openai_error(refusal))
            denied = Response(body, refusal.status, media_type=JSON)
            await self._websocket.send_denial_response(denied)
            return
        await self._websocket.accept()
        answering = asyncio.create_task(self._answer_all())
        try:
            with suppress(WebSocketDisconnect):
                await self._listen(answering)
        finally:
            answering.cancel()
            await asyncio.wait({answering})

    async def _listen(self, answering: asyncio.Task[None]) -> None:
        """Until the client leaves. Raises WebSocketDisconnect, and what broke the answering."""
        while not answering.done():
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            came = message.get("text")
            waiting = asyncio.create_task(
                self._waiting.put(message["bytes"] if came is None else came)
            )
            await asyncio.wait({waiting, answering}, return_when=asyncio.FIRST_COMPLETED)
        answering.result()

    async def _answer_all(self) -> None:
        with suppress(WebSocketDisconnect):
            while True:
                await self._answer(await self._waiting.get())

    async def _answer(self, message: str | bytes) -> None:
        lane: Mapping[str, Any] = {}
        fields: Fields = {}
        try:
            fields = decoded(message if isinstance(message, bytes) else message.encode())
            lane = {key: fields[key] for key in ("stream_id",) if key in fields}
            await self._stream(_request_of_message(fields, is_text=isinstance(message, str)), lane)
        except Refusal as refusal:
            self._memory.forget(str(fields.get("previous_response_id")))
            about = {"status": refusal.status, **openai_error(refusal)}
            await self._send({"type": "error", **about, **lane})

    async def _stream(self, fields: Fields, lane: Mapping[str, Any]) -> None:
        plan = responses.plan(self._service, fields, self._websocket)
        async with aclosing(plan.faulty_wires(self._service.defect)) as wires:
            async for wire in wires:
                if not isinstance(wire.data, str):  # [DONE] is of HTTP
                    await self._send({**wire.data, **lane})

    async def _send(self, event: Mapping[str, Any]) -> None:
        await self._websocket.send_text(encoded(event).decode())


def _request_of_message(fields: Fields, *, is_text: bool) -> Fields:
    """The body of a request. Raises Refusal for any other message."""
    kind = fields.get("type")
    if not is_text or kind != _CREATE:
        what = f"a message of type {kind!r}" if is_text else "a binary message"
        code = "unsupported_message"
        raise Refusal(f"{what} is not supported: expected {_CREATE}", param="type", code=code)
    return {**{key: each for key, each in fields.items() if key not in _BESIDE}, "stream": True}
