"""A sample application as the server of ADK: its agent asks the Gemini API, with a tool of its own.

It does everything right except for the faults that are switched on.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Literal

import httpx

from tests.fakes.application import Message, Part, Receive, Send

Fault = Literal["unmarked-thoughts", "cut-as-answer", "doubled-aggregate"]
PATH: Final = "/v1beta/models/gemini-3-think:streamGenerateContent?alt=sse"
_HEADERS: Final = [(b"content-type", b"text/event-stream")]
_TOOLS: Final = [{"functionDeclarations": [{"name": "calculator"}]}]


@dataclass
class AdkApplication:
    """An ASGI application. `upstream` is the base URL of its model."""

    upstream: str = ""
    faults: frozenset[Fault] = frozenset()
    sessions: dict[str, list[Part]] = field(default_factory=dict)
    ids: Iterator[int] = field(default_factory=count)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        asked = json.loads((await receive())["body"])
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        async for event in self._events(asked):
            data = f"data: {json.dumps(event)}\n\n".encode()
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _events(self, asked: Part) -> AsyncIterator[Part]:
        history = self.sessions.setdefault(asked["sessionId"], [])
        history.append(asked["newMessage"])
        run = f"e-{next(self.ids)}"
        while history[-1]["role"] == "user":
            async for event in self._answer(history):
                yield {**event, **self._named(run)} if "error" not in event else event
                if "error" in event:
                    return

    def _named(self, run: str) -> Part:
        named = {"invocationId": run, "author": "sums", "actions": {}}
        return {**named, "id": f"event-{next(self.ids)}", "timestamp": 1.5}

    async def _answer(self, history: list[Part]) -> AsyncIterator[Part]:
        """One answer of the model: fragments, the whole event, and results of its calls."""
        parts: list[Part] = []
        counted: Part = {}
        try:
            async for chunk in self._chunks(history):
                counted = {"usageMetadata": chunk["usageMetadata"]}
                for candidate in chunk["candidates"]:
                    more = _identified(candidate["content"]["parts"], self.ids)
                    parts += more
                    counted |= {k: v for k, v in candidate.items() if k == "finishReason"}
                    yield {**_content(self._shown(more)), "partial": True, **counted}
            if "finishReason" not in counted and "cut-as-answer" not in self.faults:
                raise httpx.ReadError("the model broke off")
        except httpx.HTTPError as error:
            history.append(_content([])["content"])
            yield {"errorCode": type(error).__name__, "errorMessage": "the model is away"}
            yield {"error": "the model is away"}
            return
        whole = _content(_joined(parts))
        history.append(whole["content"])
        if counted.get("finishReason") == "MAX_TOKENS":
            counted["errorCode"] = "MAX_TOKENS"
        twice = 2 if "doubled-aggregate" in self.faults else 1
        yield {**_content(self._shown(_joined(parts * twice))), "partial": False, **counted}
        if results := [_result(part["functionCall"]) for part in parts if "functionCall" in part]:
            history.append({"role": "user", "parts": results})
            yield {"content": history[-1]}

    async def _chunks(self, history: list[Part]) -> AsyncIterator[Part]:
        config = {"thinkingConfig": {"includeThoughts": True}}
        body = {"contents": list(history), "tools": _TOOLS, "generationConfig": config}
        async with (
            httpx.AsyncClient() as client,
            client.stream("POST", f"{self.upstream}{PATH}", json=body) as response,
        ):
            response.raise_for_status()
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    chunk = json.loads(line.removeprefix("data: "))
                    if "error" in chunk:
                        raise httpx.ReadError("the model failed")
                    yield chunk

    def _shown(self, parts: list[Part]) -> list[Part]:
        if "unmarked-thoughts" not in self.faults:
            return parts
        return [{k: v for k, v in part.items() if k != "thought"} for part in parts]


def _content(parts: list[Part]) -> Part:
    return {"content": {"role": "model", "parts": parts}}


def _identified(parts: list[Part], ids: Iterator[int]) -> list[Part]:
    return [
        {**part, "functionCall": {"id": f"adk-{next(ids)}", **part["functionCall"]}}
        if "functionCall" in part
        else part
        for part in parts
        if part.get("text") != "" or "thoughtSignature" in part
    ]


def _joined(parts: list[Part]) -> list[Part]:
    """Texts of one kind that stand beside each other as one part; a signature ends it."""
    made: list[Part] = []
    for part in parts:
        before: Any = made[-1] if made else {}
        is_more = "text" in part and "text" in before and "thoughtSignature" not in before
        if is_more and part.get("thought") == before.get("thought"):
            made[-1] = {**before, **part, "text": before["text"] + part["text"]}
        else:
            made.append(part)
    return made


def _result(call: Part) -> Part:
    answered = {"id": call["id"], "name": call["name"], "response": {"result": "5"}}
    return {"functionResponse": answered}
