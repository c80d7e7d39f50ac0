"""A chat server as an ASGI application: right in everything, but for what is switched on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

Fields = dict[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

EFFORTS: Final = ("none", "low", "medium", "high")


@dataclass(slots=True)
class Chatty:
    """One model, `chatty`, that thinks about the number of messages and then answers.

    `random`: no two answers are alike. `busy`: so many requests are refused first, with a
    Retry-After of `retry_after`. `dies_after`: after so many requests nobody answers any more.
    `deaf`: it does not look at the effort. `thoughtless`: it never shows thinking. `mixed_up`:
    streams that go on at the same time get each other's text. `key`: what it lets in.
    """

    random: bool = False
    busy: int = 0
    retry_after: str = "0"
    dies_after: int | None = None
    deaf: bool = False
    thoughtless: bool = False
    mixed_up: bool = False
    refuses: frozenset[str] = frozenset()  # parameters
    mute: bool = False  # it says nothing of what it was asked
    key: str = ""
    echoes: bool = False  # its key, in every answer
    unlisted: bool = False  # it has no list of models
    asked: list[Fields] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _open: list[str] = field(default_factory=list)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError
        body = json.loads((await receive())["body"] or b"{}")
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.asked.append(body)
        self.headers.append(headers)
        if self.dies_after is not None and len(self.asked) > self.dies_after:
            raise RuntimeError("the worker died")
        await self._answer(scope["path"], body, headers, send)

    async def _answer(self, path: str, body: Fields, headers: dict[str, str], send: Send) -> None:
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            key = headers.get("authorization", "").removeprefix("Bearer ")
            await _json(send, 401, _error(f"{key!r} is no key"))
        elif path == "/v1/models" and not self.unlisted:
            await _json(send, 200, {"object": "list", "data": [_MODEL]})
        elif path != "/v1/chat/completions":
            await _json(send, 404, _error("no such path"))
        elif self.busy > 0:
            self.busy -= 1
            await _json(send, 429, _error("too many requests"), retry_after=self.retry_after)
        elif body["model"] != "chatty":
            await _json(send, 404, _error(f"there is no model {body['model']!r}"))
        elif wrong := self._wrong(body):
            await _json(send, 400, _error(wrong))
        else:
            await self._speak(body, send)

    def _wrong(self, body: Fields) -> str:
        if refused := sorted(self.refuses & body.keys()):
            return f"unsupported parameter: {refused[0]}"
        if not isinstance(body["messages"], list):
            return "messages must be a list"
        effort = body.get("reasoning_effort")
        return f"no effort {effort}" if effort not in (None, *EFFORTS) and not self.deaf else ""

    async def _speak(self, body: Fields, send: Send) -> None:
        thinking, text, calls = self._answer_parts(body)
        self._open.append(text)
        await asyncio.sleep(0)
        if self.mixed_up and len(self._open) > 1:
            text = next(each for each in self._open if each != text or each is self._open[0])
        reason = "tool_calls" if calls else "stop"
        if body.get("max_tokens", 99) < 32:
            thinking, text, calls, reason = thinking[:10], "", [], "length"
        head = {"id": f"chatcmpl-{next(self._numbers)}", "created": 1, "model": "chatty"}
        if body.get("stream"):
            await _stream(send, _chunks(body, head, thinking, text, calls, reason))
        else:
            await _json(
                send,
                200,
                _whole(head, thinking, text, calls, reason, _usage(body, reason, thinking)),
            )
        self._open.remove(text) if text in self._open else self._open.pop()

    def _answer_parts(self, body: Fields) -> tuple[str, str, list[Fields]]:
        last = body["messages"][-1]
        salt = f" ({next(self._numbers)})" if self.random else ""
        silent = self.thoughtless or (body.get("reasoning_effort") == "none" and not self.deaf)
        salt += f" {self.key}" if self.echoes else ""
        thinking = "" if silent else f"They said: {last['content']}{salt}"
        may_call = body.get("tools") and body.get("tool_choice") != "none"
        if may_call and last["role"] == "user":
            function = {"name": "calculator", "arguments": '{"expression": "2 + 3"}'}
            return (
                thinking,
                "",
                [{"index": 0, "id": "call_1", "type": "function", "function": function}],
            )
        about = "" if self.mute else f" to {last['content']!r}"
        text = f"Answer{about}{salt}."
        return thinking, json.dumps({"answer": text}) if "response_format" in body else text, []


_MODEL: Final = {"id": "chatty", "object": "model", "created": 1, "owned_by": "tests"}


def _usage(body: Fields, reason: str, thinking: str) -> Fields:
    """More messages are more input, and an answer that is cut has used its limit."""
    read = 5 * len(body["messages"])
    written = body["max_tokens"] if reason == "length" else 7
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "completion_tokens_details": {"reasoning_tokens": 3 if thinking else 0},
    }


def _chunks(
    body: Fields, head: Fields, thinking: str, text: str, calls: list[Fields], reason: str
) -> Iterator[Fields | str]:
    def chunk(delta: Fields, finish: str | None = None) -> Fields:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {**head, "object": "chat.completion.chunk", "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    yield from (chunk({"reasoning_content": piece}) for piece in _pieces(thinking))
    yield from (chunk({"content": piece}) for piece in _pieces(text))
    yield from (chunk({"tool_calls": [call]}) for call in calls)
    yield chunk({}, reason)
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {
            **head,
            "object": "chat.completion.chunk",
            "choices": [],
            "usage": _usage(body, reason, thinking),
        }
    yield "[DONE]"


def _pieces(text: str) -> list[str]:
    return [text[at : at + 6] for at in range(0, len(text), 6)]


def _whole(
    head: Fields, thinking: str, text: str, calls: list[Fields], reason: str, usage: Fields
) -> Fields:
    message: Fields = {"role": "assistant", "content": text or None}
    if thinking:
        message["reasoning_content"] = thinking
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}


def _error(message: str) -> Fields:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return {"error": error}


async def _json(send: Send, status: int, body: Fields, **headers: str) -> None:
    more = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    kind = (b"content-type", b"application/json")
    await send({"type": "http.response.start", "status": status, "headers": [kind, *more]})
    data = json.dumps(body).encode()
    await send({"type": "http.response.body", "body": data, "more_body": False})


async def _stream(send: Send, events: Iterator[Fields | str]) -> None:
    kind = (b"content-type", b"text/event-stream")
    await send({"type": "http.response.start", "status": 200, "headers": [kind]})
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event)
        piece = f"data: {data}\n\n".encode()
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        await asyncio.sleep(0)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


APP = Chatty()
"""What the command line is pointed at."""
