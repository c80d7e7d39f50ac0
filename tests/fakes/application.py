"""A sample application: the UI message stream in front of a Messages API, with a tool of its own.

It does everything right except for the faults that are switched on.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import httpx

Fault = Literal[
    "late-end", "start-per-delta", "lost-signature", "leak", "success-after-cut", "finish-for-limit"
]
Part = dict[str, Any]
Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]

HEADERS: Final = [
    (b"content-type", b"text/event-stream"),
    (b"x-vercel-ai-ui-message-stream", b"v1"),
]
TOOL: Final = {
    "name": "calculator",
    "description": "Works out an arithmetic expression.",
    "input_schema": {"type": "object", "properties": {"expression": {"type": "string"}}},
}
_REASONS: Final = {
    "end_turn": "stop",
    "max_tokens": "length",
    "tool_use": "tool-calls",
    "error": "error",
}
METADATA: Final = "providerMetadata"


class ModelFailedError(Exception):
    """The model answered with an error, or not to the end."""


@dataclass
class Application:
    """An ASGI application. `upstream` is the base URL of its model, without `/v1`."""

    upstream: str = ""
    faults: frozenset[Fault] = frozenset()
    tools: tuple[Part, ...] = (TOOL,)
    stored: dict[str, list[Part]] | None = None  # conversations that the application itself keeps

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        async for part in self.answer(json.loads(body)):
            data = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
            event = f"data: {data}\n\n".encode()
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def answer(self, asked: Mapping[str, Any]) -> AsyncIterator[Part | str]:
        yield {"type": "start", "messageId": f"answer-{len(asked['messages'])}"}
        history = self._history(asked)
        number, step = 0, None
        while step is None or step.calls:
            number, step = number + 1, _Step(self.faults, number, self.stored is not None)
            async for part in self._step_parts(step, history):
                yield part
            history += _continued(self._kept(step.content))
        reason = _REASONS[step.reason]
        is_sold = reason == "length" and "finish-for-limit" in self.faults
        yield {"type": "finish", "finishReason": "stop" if is_sold else reason}
        yield "[DONE]"

    def _history(self, asked: Mapping[str, Any]) -> list[Part]:
        if self.stored is None:
            return [turn for each in asked["messages"] for turn in _turns(each)]
        history = self.stored.setdefault(asked["id"], [])
        history += _turns(asked["messages"][-1])
        return history

    def _kept(self, content: list[Part]) -> list[Part]:
        """What goes back to the model of an answer."""
        if self.stored is None or "lost-signature" not in self.faults:
            return content
        return [each for each in content if each["type"] in ("text", "tool_use")]

    async def _step_parts(self, step: _Step, history: list[Part]) -> AsyncIterator[Part]:
        yield {"type": "start-step"}
        failed = True
        try:
            async for event in self._model_events(history):
                for part in step.parts(event):
                    yield part
            failed = not step.reason
        except (ModelFailedError, httpx.HTTPError):
            step.calls.clear()
        for part in step.close():
            yield part
        if failed and "success-after-cut" in self.faults:
            step.reason = "end_turn"
        elif failed:
            step.reason = "error"
            yield {"type": "error", "errorText": "The model failed."}
        for call in step.calls:
            yield {"type": "tool-output-available", "toolCallId": call["id"], "output": "5"}
        yield {"type": "finish-step"}

    async def _model_events(self, history: list[Part]) -> AsyncIterator[Part]:
        body = {
            "model": "think-1",
            "max_tokens": 2048,
            "thinking": {"type": "adaptive", "display": "summarized"},
            "tools": self.tools,
            "messages": history,
            "stream": True,
        }
        async with (
            httpx.AsyncClient(verify=False) as client,  # certificates are slow to read
            client.stream("POST", f"{self.upstream}/v1/messages", json=body) as response,
        ):
            if response.status_code != 200:
                raise ModelFailedError
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    event = json.loads(line[6:])
                    if event["type"] == "error":
                        raise ModelFailedError
                    yield event


@dataclass
class _Step:
    """One call of the model: its blocks as they come, and as they go back."""

    faults: frozenset[Fault]
    number: int
    is_stored: bool = False  # the interface need not get what only the model reads
    content: list[Part] = field(default_factory=list)
    calls: list[Part] = field(default_factory=list)
    reason: str = ""
    open: dict[int, str] = field(default_factory=dict)  # index -> kind of part
    late: list[Part] = field(default_factory=list)
    inputs: dict[int, str] = field(default_factory=dict)

    def parts(self, event: Part) -> list[Part]:
        index = event.get("index", 0)
        match event["type"]:
            case "content_block_start":
                return self._start(index, dict(event["content_block"]))
            case "content_block_delta":
                return self._add(index, event["delta"])
            case "content_block_stop":
                return self._end(index)
            case "message_delta":
                self.reason = event["delta"]["stop_reason"]
        return []

    def close(self) -> list[Part]:
        """Ends of what is open; a call that is not complete cannot be ended."""
        return [part for index in list(self.open) for part in self._end(index)] + self.late

    def _start(self, index: int, block: Part) -> list[Part]:
        self.content.append(block)
        part_id = self._id(index)
        if block["type"] == "tool_use":
            self.calls.append(block)
            self.open[index] = "tool"
            return [
                {"type": "tool-input-start", "toolCallId": block["id"], "toolName": block["name"]}
            ]
        if block["type"] == "text":
            self.open[index] = "text"
            return [{"type": "text-start", "id": part_id}]
        if self.is_stored and not block.get("thinking"):
            return []  # begun with its first words
        self.open[index] = "reasoning"
        is_sent = "data" in block and not self.is_stored
        data = {"redactedData": block["data"]} if is_sent else {}
        more = {METADATA: {"anthropic": data}} if data else {}
        return [{"type": "reasoning-start", "id": part_id, **more}]

    def _add(self, index: int, delta: Part) -> list[Part]:
        block, part_id = self.content[-1], self._id(index)
        if delta["type"] == "text_delta":
            # A diagnostic of the application's own is written into the answer.
            leaks = "leak" in self.faults and delta["text"].strip() and not block["text"].strip()
            log = "[1 call] " if leaks else ""
            block["text"] += delta["text"]
            return [{"type": "text-delta", "id": part_id, "delta": log + delta["text"]}]
        if delta["type"] == "input_json_delta":
            piece = delta["partial_json"]
            self.inputs[index] = self.inputs.get(index, "") + piece
            sent = {"type": "tool-input-delta", "toolCallId": block["id"], "inputTextDelta": piece}
            return [sent] if piece else []
        if delta["type"] == "thinking_delta":
            block["thinking"] += delta["thinking"]
            return self._think(part_id, delta["thinking"])
        block["signature"] = delta["signature"]
        if "lost-signature" in self.faults or self.is_stored:
            return []
        own = {METADATA: {"anthropic": {"signature": delta["signature"]}}}
        return [{"type": "reasoning-delta", "id": part_id, "delta": "", **own}]

    def _think(self, part_id: str, text: str) -> list[Part]:
        part = {"type": "reasoning-delta", "id": part_id, "delta": text}
        if not text:
            return []
        if self.is_stored and part_id not in map(self._id, self.open):
            self.open[int(part_id.rpartition(".")[2])] = "reasoning"
            return [{"type": "reasoning-start", "id": part_id}, part]
        if "start-per-delta" in self.faults:
            around = ({"type": f"reasoning-{what}", "id": part_id} for what in ("end", "start"))
            return [*around, part]
        return [part]

    def _end(self, index: int) -> list[Part]:
        kind, part_id = self.open.pop(index, ""), self._id(index)
        if kind == "tool":
            call = self.calls[-1]
            call["input"] = json.loads(self.inputs.get(index) or "{}")
            name, call_id = call["name"], call["id"]
            known = {"toolCallId": call_id, "toolName": name, "input": call["input"]}
            return [{"type": "tool-input-available", **known}]
        if not kind:
            return []
        ended = {"type": f"{kind}-end", "id": part_id}
        if kind == "reasoning" and "late-end" in self.faults:
            self.late.append(ended)
            return []
        return [ended]

    def _id(self, index: int) -> str:
        return f"{self.number}.{index}"


def _turns(message: Part) -> list[Part]:
    """A message of the user interface as the API takes it: a model's has blocks, and results.

    What stands behind a result is another answer of the model.
    """
    turns: list[Part] = []
    content: list[Part] = []
    results: list[Part] = []
    for part in message["parts"]:
        is_call = part["type"].startswith("tool-")
        if results and not is_call:
            turns += _of_step(message["role"], content, results)
            content, results = [], []
        content += _blocks(part)
        if is_call:
            results.append(_result(part["toolCallId"], part["output"]))
    return [*turns, *_of_step(message["role"], content, results)]


def _of_step(role: str, content: list[Part], results: list[Part]) -> list[Part]:
    answer = [{"role": role, "content": content}] if content else []
    return [*answer, *([{"role": "user", "content": results}] if results else [])]


def _blocks(part: Part) -> list[Part]:
    """The block that a part goes back as, if it does."""
    own = part.get(METADATA, {}).get("anthropic", {})
    if part["type"] == "text" and part["text"]:
        return [{"type": "text", "text": part["text"]}]
    if part["type"] == "reasoning" and "redactedData" in own:
        return [{"type": "redacted_thinking", "data": own["redactedData"]}]
    if part["type"] == "reasoning" and "signature" in own:
        return [{"type": "thinking", "thinking": part["text"], "signature": own["signature"]}]
    if part["type"].startswith("tool-"):
        called = {"id": part["toolCallId"], "name": part["type"][5:], "input": part["input"]}
        return [{"type": "tool_use", **called}]
    return []


def _continued(content: list[Part]) -> list[Part]:
    results = [_result(each["id"], "5") for each in content if each["type"] == "tool_use"]
    return _of_step("assistant", content, results)


def _result(call_id: str, output: str) -> Part:
    return {"type": "tool_result", "tool_use_id": call_id, "content": output}


HOSTED: Final = Application()
"""One that can be named on a command line, as `tests.fakes.application:HOSTED`."""
