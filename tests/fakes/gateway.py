"""A gateway as an ASGI application: chat in, chat out, right but for what is switched on."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import httpx

Fields = dict[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Rewrite = Callable[[Fields], Fields]


@dataclass(slots=True)
class Gateway:
    """Asks `upstream`, a base URL.

    `splits`: a line with U+2028 in it is lost. `trims`: deltas lose the white space around them.
    `completes`: whatever happened, the stream ends as if the answer were whole. `asks_twice`: one
    request more than needed. `drops_thinking`: thinking is left out. `drops_second_call`: of calls
    in a stream only the first is passed on. `hides_header`: the opt-in is
    not passed on. `spoils`: what it asks is no JSON, this before the body. `caches`: whole bodies
    that were asked for before come from a cache, which is no fault. `refuses`: a request that
    holds this gets HTTP 400 of its own. `rewrites` changes what is asked.
    """

    upstream: str = ""
    splits: bool = False
    trims: bool = False
    completes: bool = False
    asks_twice: bool = False
    drops_thinking: bool = False
    drops_second_call: bool = False
    hides_header: bool = False
    spoils: bytes = b""
    caches: bool = False
    refuses: bytes = b""
    rewrites: Rewrite | None = None
    known: dict[bytes, bytes] = field(default_factory=dict)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError
        body = (await receive())["body"]
        if self.rewrites and scope["method"] == "POST":
            body = json.dumps(self.rewrites(json.loads(body))).encode()
        body = self.spoils + body if scope["method"] == "POST" else body
        if body in self.known:
            await send({**_OK, "headers": [(b"content-type", b"application/json")]})
            await send(_part(self.known[body], more=False))
            return
        if self.refuses and self.refuses in body:
            await send({**_OK, "status": 400, "headers": [(b"content-type", b"application/json")]})
            await send(_part(b'{"error": {"message": "no such field"}}', more=False))
            return
        headers = {n.decode(): v.decode() for n, v in scope["headers"]}
        kept = {n: v for n, v in headers.items() if n == "content-type"}
        if not self.hides_header and "x-include-thinking" in headers:
            kept["x-include-thinking"] = headers["x-include-thinking"]
        async with httpx.AsyncClient(
            base_url=self.upstream,
            headers=kept,
            timeout=60,
            verify=False,  # certificates are slow to read, and nobody shows one
        ) as client:
            path = scope["path"].removeprefix("/v1")
            if self.asks_twice and scope["method"] == "POST":
                await client.post(path, content=body)
            try:
                async with client.stream(scope["method"], path, content=body) as response:
                    await self._pass_on(response, send, body)
            except httpx.HTTPError:
                await _end(send, self.completes)

    async def _pass_on(self, response: httpx.Response, send: Send, asked: bytes) -> None:
        kind = response.headers["content-type"]
        head = {"type": "http.response.start", "status": response.status_code}
        await send({**head, "headers": [(b"content-type", kind.encode())]})
        if "event-stream" not in kind:
            body = await response.aread()
            if self.caches and asked:
                self.known[asked] = body
            await send(_part(body, more=False))
            return
        is_done = False
        async for line in _lines(response):
            if self.splits and "\u2028" in line:
                continue
            is_done = is_done or line == "data: [DONE]"
            await send(_part(f"{self._changed(line)}\n".encode()))
        if self.completes and not is_done:
            await _end(send, True)
        else:
            await send(_part(b"", more=False))

    def _changed(self, line: str) -> str:
        data = line.removeprefix("data: ")
        changes = self.trims or self.drops_thinking or self.drops_second_call
        if data == line or data == "[DONE]" or not changes:
            return line
        payload = json.loads(data)
        for choice in payload.get("choices", ()):
            self._change(choice["delta"])
        return f"data: {json.dumps(payload)}"

    def _change(self, delta: Fields) -> None:
        if self.drops_thinking:
            delta.pop("reasoning_content", None)
        calls = delta.get("tool_calls")
        if self.drops_second_call and calls and calls[0]["index"]:
            del delta["tool_calls"]
        if self.trims and isinstance(delta.get("content"), str):
            delta["content"] = delta["content"].strip()


_OK = {"type": "http.response.start", "status": 200}


async def _lines(response: httpx.Response) -> AsyncIterator[str]:
    """Lines by line feeds only: httpx.Response.aiter_lines cuts at U+2028 too."""
    held = b""
    async for piece in response.aiter_bytes():
        *whole, held = (held + piece).split(b"\n")
        for line in whole:
            yield line.decode()


async def _end(send: Send, completes: bool) -> None:
    if not completes:
        raise RuntimeError("the server behind the gateway broke off")
    choice = {"index": 0, "delta": {}, "finish_reason": "stop"}
    head = {"id": "chatcmpl-0", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    last = f"data: {json.dumps({**head, 'choices': [choice]})}\n\ndata: [DONE]\n\n"
    await send(_part(last.encode()))
    await send(_part(b"", more=False))


def _part(data: bytes, *, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": more}
