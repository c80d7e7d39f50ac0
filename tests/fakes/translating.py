"""A gateway that translates: the reference server, whose model asks another server in another API.

It shares no code with the checker: the reference client reads what comes, the reference server
says it again. It is right in everything, but for what is switched on.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

import httpx
from starlette.types import Message, Receive, Scope, Send

from reference_impl.client.event import Event
from reference_impl.client.reader import Reader
from reference_impl.client.wire import Api
from reference_impl.server.app import application
from reference_impl.server.defects import DEFECTS
from reference_impl.server.engine.events import (
    EngineError,
    EngineEvent,
    Finish,
    Limits,
    Prompt,
    Reason,
    ReasoningDelta,
    Start,
    Stream,
    TextDelta,
    ToolCall,
    Usage,
)
from reference_impl.server.engine.markers import Markers
from reference_impl.server.service import Service
from reference_impl.server.settings import Settings
from tests.fakes.asking import Asked, asked_body
from tests.fakes.gateway import Rewrite

PATHS: Mapping[Api, str] = {
    "chat": "/chat/completions",
    "responses": "/responses",
    "messages": "/messages",
}
REASONS: Mapping[str, Reason] = {"length": "length", "tool_calls": "tool_calls"}
_FAILING = (b"server_error", b"api_error")
_BLAMING = b"invalid_request_error"
Change = Callable[[list[EngineEvent]], list[EngineEvent]]


@dataclass(slots=True)
class Translator:
    """Asks `upstream`, a base URL, in the API `asks`, and answers by `settings`.

    `change` does something to the events of an answer, `rewrites` to what is asked; `defect` is one
    of the reference server's.
    """

    asks: Api = "chat"
    upstream: str = ""
    change: Change = list
    defect: str = ""
    settings: Settings = Settings(chat_reasoning="reasoning_content")  # noqa: RUF009 - frozen
    model_id: str = "scripted"
    context: int = 4096
    markers: Markers | None = None
    streams: bool = True
    rewrites: Rewrite = dict
    _refused: bool = False
    _turn: list[dict[str, Any]] = field(default_factory=list)
    _asked: list[Asked] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError
        message = await receive()
        with suppress(ValueError):
            self.streams = bool(json.loads(message["body"]).get("stream"))
        settings = replace(self.settings, max_body=64 * 1024 * 1024)
        service = Service(self, settings, key=bytes(32), defect=DEFECTS.get(self.defect))
        first = [message]

        async def again() -> Any:
            return first.pop() if first else await receive()

        async def send_blaming(answered: Message) -> None:
            if self._refused and answered["type"] == "http.response.body":
                for code in _FAILING:  # a stream had begun before the upstream refused
                    answered["body"] = answered["body"].replace(code, _BLAMING)
            await send(answered)

        await application(service)(scope, again, send_blaming)

    def prompt(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        thinking: bool = True,
    ) -> Prompt:
        number = len(self._asked)
        self._asked.append(Asked(tuple(messages), tuple(tools), thinking))
        return Prompt((number, *range(1, len(messages))), opens_thinking=False)

    def generate(self, prompt: Prompt, limits: Limits, *, parent: Stream | None = None) -> Stream:
        del parent
        asked = replace(
            self._asked[prompt.ids[0]],
            limit=limits.max_tokens,
            temperature=limits.temperature,
            stops=limits.stop,
        )
        return self._generated(asked)

    async def _generated(self, asked: Asked) -> AsyncGenerator[EngineEvent, None]:
        events = [each async for each in self._upstream_events(asked)]
        failed = next((each for each in events if isinstance(each, EngineError)), None)
        yield Start(0)
        for event in self.change([each for each in events if not isinstance(each, EngineError)]):
            yield event
        if failed is not None:
            raise failed

    async def _upstream_events(self, asked: Asked) -> AsyncIterator[EngineEvent | EngineError]:
        """What came, and at last an error where it was no answer."""
        telling = Telling()
        async with httpx.AsyncClient(timeout=60, verify=False) as client:
            try:
                url = f"{self.upstream}{PATHS[self.asks]}"
                async with client.stream("POST", url, json=self._body(asked)) as response:
                    self._refused = response.status_code == HTTPStatus.BAD_REQUEST
                    reader = Reader(self.asks, status=response.status_code)
                    async for piece in response.aiter_bytes():
                        for each in telling.take(reader.feed(piece)):
                            yield each
                    for each in telling.take(reader.close("eof")):
                        yield each
            except httpx.HTTPError:
                telling.failure = telling.failure or "the connection broke"
        self._turn = telling.turn()
        yield telling.last()

    def _body(self, asked: Asked) -> dict[str, Any]:
        body = asked_body(self.asks, asked, streams=self.streams)
        if self.asks == "messages" and any(each["role"] == "tool" for each in asked.messages):
            # Signed thinking goes back, whatever the client can carry.
            body["messages"] = [each for each in body["messages"] if _is_plain(each)] + self._turn
        return self.rewrites(body)


def _is_plain(turn: Mapping[str, Any]) -> bool:
    return turn["role"] == "user" and isinstance(turn["content"], str)


@dataclass(slots=True)
class Telling:
    """Events of a client become events of an engine."""

    reason: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    failure: str = ""
    calls: int = 0
    thought: list[str] = field(default_factory=list)
    signature: str = ""
    called: list[dict[str, Any]] = field(default_factory=list)

    def take(self, events: Iterable[Event]) -> list[EngineEvent]:
        return [each for event in events for each in self._one(event)]

    def _one(self, event: Event) -> list[EngineEvent]:
        data = event.data
        match event.type:
            case "thinking.opaque":
                self.signature = data["data"]
            case "thinking.delta":
                self.thought.append(data["text"])
                return [ReasoningDelta(data["text"], 1)]
            case "text.delta" | "refusal.delta":
                return [TextDelta(data["text"])]
            case "tool.end":
                self.calls += 1
                called = {"id": data.get("id"), "name": data.get("name")}
                self.called.append({**called, "input": json.loads(data["arguments"])})
                return [ToolCall(data.get("name", ""), data["arguments"], self.calls)]
            case "finish":
                self.reason = data["reason"]
            case "usage":
                self.usage = data
            case "error" | "cut":
                self.failure = str(data.get("message") or "it broke off")
        return []

    def turn(self) -> list[dict[str, Any]]:
        """The turn with its calls, and their results, as Messages has them."""
        if not self.called:
            return []
        thought = {"thinking": "".join(self.thought), "signature": self.signature}
        calls = [{"type": "tool_use", **each} for each in self.called]
        results = [
            {"type": "tool_result", "tool_use_id": each["id"], "content": result}
            for each, result in zip(self.called, ("5", "9"), strict=False)
        ]
        return [
            {"role": "assistant", "content": [{"type": "thinking", **thought}, *calls]},
            {"role": "user", "content": results},
        ]

    def last(self) -> EngineEvent | EngineError:
        if self.failure or not self.reason:
            return EngineError(self.failure or "it ended without saying why")
        counts = (self.usage.get(name) or 0 for name in ("input", "output", "reasoning"))
        return Finish(REASONS.get(self.reason, "stop"), Usage(*counts))


def loses(events: list[EngineEvent]) -> list[EngineEvent]:
    """The last piece of text is lost."""
    last = max((n for n, each in enumerate(events) if isinstance(each, TextDelta)), default=None)
    return [each for n, each in enumerate(events) if n != last]


def invents(events: list[EngineEvent]) -> list[EngineEvent]:
    """A word more than was said."""
    return [*events[:-1], TextDelta(" Indeed."), *events[-1:]]


def leaks(events: list[EngineEvent]) -> list[EngineEvent]:
    """Thinking is said aloud."""
    return [TextDelta(e.text) if isinstance(e, ReasoningDelta) else e for e in events]


def loses_calls(events: list[EngineEvent]) -> list[EngineEvent]:
    return [each for each in events if not isinstance(each, ToolCall)]


def forgets(events: list[EngineEvent]) -> list[EngineEvent]:
    """Thinking is not passed on."""
    return [each for each in events if not isinstance(each, ReasoningDelta)]


def reorders(events: list[EngineEvent]) -> list[EngineEvent]:
    """The answer comes first, its thinking after it."""
    thoughts = [each for each in events if isinstance(each, ReasoningDelta)]
    rest = forgets(events)
    return [*rest[:-1], *thoughts, *rest[-1:]]


def miscounts(events: list[EngineEvent]) -> list[EngineEvent]:
    """The usage is not what was used."""
    return [Finish(e.reason, Usage(0, 1, 0)) if isinstance(e, Finish) else e for e in events]
