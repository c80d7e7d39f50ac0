"""A user-message-stream application in front of Chat Completions, that makes calls of its own, too.

What it asks beside the turn is no fault; neither is it one of the toolkit's that it closes its
connection where its model refuses.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from tests.fakes.application import HEADERS, Message, Part, Receive, Send

TOOL: Final = {
    "type": "function",
    "function": {
        "name": "calculator",
        "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}},
    },
}
FINAL: Final[Part] = {
    "type": "function",
    "function": {
        "name": "final_answer",
        "parameters": {
            "type": "object",
            "properties": {"response": {"type": "string"}},
            "required": ["response"],
        },
    },
}
SCORE: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"score": {"type": "integer"}},
    "required": ["score"],
    "additionalProperties": False,
}
FORMAT: Final = {"type": "json_schema", "json_schema": {"name": "s", "schema": SCORE}}


@dataclass
class ChatApplication:
    """An ASGI application. `asks` are calls that it makes before each turn: titles, a router.

    `shows_score`: what the router says is all that it shows. `tries` is how often it asks a model
    that refuses; then it hangs up. `streams`: it asks its model for a stream, not for a whole body.
    `reads_thinking`: it shows what the model thinks. `answers_by_call`: its model has to answer by
    a call, whose argument is shown. `wants_model`: it asks the model that its user names.
    """

    upstream: str = ""
    asks: tuple[str, ...] = ()
    shows_score: bool = False
    tries: int = 1
    streams: bool = True
    model: str = "m"
    reads_thinking: bool = True
    answers_by_call: bool = False
    shows_less: bool = False  # of such an argument
    wants_model: bool = False
    scores: list[int] = field(default_factory=list)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        asked = json.loads((await receive())["body"])
        if self.wants_model:
            self.model = asked.get("model") or ""
        parts = self.answer(_history(asked))
        first = await anext(parts)  # a model that refuses is told by silence
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        for part in (first, *[each async for each in parts]):
            data = part if isinstance(part, str) else json.dumps(part)
            event = f"data: {data}\n\n".encode()
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def answer(self, history: list[Part]) -> AsyncIterator[Part | str]:
        if not self.model:
            yield {"type": "error", "errorText": "`model` must be set"}
            yield "[DONE]"
            return
        async with httpx.AsyncClient(base_url=f"{self.upstream}/v1", verify=False) as client:
            for kind in self.asks:
                response = await client.post("/chat/completions", json=_own_call(kind, history))
                if kind == "router":
                    message = response.json()["choices"][0]["message"]["content"]
                    self.scores.append(json.loads(message)["score"])
            if self.shows_score:
                message = str(self.scores[-1])
                stream = f'data: {{"choices": [{{"delta": {{"content": "{message}"}}}}]}}'
            else:
                stream = await self._turn(client, history)
        yield {"type": "start"}
        yield {"type": "start-step"}
        for part in _parts(stream, skips=() if self.reads_thinking else ("reasoning",)):
            yield part
        yield {"type": "finish-step"}
        yield {"type": "finish", "finishReason": "stop"}
        yield "[DONE]"

    async def _turn(self, client: httpx.AsyncClient, history: list[Part]) -> str:
        body = {"model": self.model, "stream": self.streams, "messages": history, "tools": [TOOL]}
        if self.answers_by_call:
            tasks = [{**each, "content": f"Your task: {each['content']}"} for each in history]
            chosen = {"type": "function", "function": {"name": "final_answer"}}
            body |= {"messages": tasks, "tools": [FINAL], "tool_choice": chosen}
        lost = 4 if self.shows_less else 0
        for _ in range(self.tries):
            response = await client.post("/chat/completions", json=body)
            if response.status_code == 200:
                return response.text if self.streams else _as_stream(response.json(), lost)
        raise ConnectionError


def _as_stream(body: Part, lost: int) -> str:
    messages = [_with_argument(each["message"], lost) for each in body["choices"]]
    return f"data: {json.dumps({'choices': [{'delta': each} for each in messages]})}"


def _with_argument(message: Part, lost: int) -> Part:
    """The message; its text is the argument of the function for answers, where it calls that."""
    for call in message.get("tool_calls") or ():
        if call["function"]["name"] == "final_answer":
            return {
                **message,
                "content": json.loads(call["function"]["arguments"])["response"][lost:],
            }
    return message


def _history(asked: Part) -> list[Part]:
    texts = (
        (each["role"], [part["text"] for part in each["parts"] if part["type"] == "text"])
        for each in asked["messages"]
    )
    return [{"role": role, "content": "".join(text)} for role, text in texts]


def _own_call(kind: str, history: list[Part]) -> Part:
    words = history[-1]["content"]
    prompts = {
        "router": [{"role": "system", "content": "Rate how hard this is."}, history[-1]],
        "title": [{"role": "user", "content": "Generate a title for this conversation:"}],
        "title-inside": [{"role": "user", "content": f"Write a title for: {words}"}],
    }
    messages = [*prompts[kind], history[-1]] if kind == "title" else prompts[kind]
    own = {"response_format": FORMAT} if kind == "router" else {"stream": True}
    return {"model": "m", "messages": messages, **own}


def _parts(stream: str, skips: tuple[str, ...]) -> Iterator[Part]:
    kind = ""
    for line in stream.splitlines():
        if not line.startswith("data: {"):
            continue
        for choice in json.loads(line[6:])["choices"]:
            for name, key in (("reasoning", "reasoning_content"), ("text", "content")):
                if name not in skips and (piece := choice["delta"].get(key)):
                    if kind != name:
                        yield from ([{"type": f"{kind}-end", "id": kind}] if kind else [])
                        yield {"type": f"{name}-start", "id": name}
                        kind = name
                    yield {"type": f"{name}-delta", "id": name, "delta": piece}
    if kind:
        yield {"type": f"{kind}-end", "id": kind}
