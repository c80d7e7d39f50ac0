"""The sample application as an agent behind AG-UI: its parts are sent as events of a run."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.fakes.application import METADATA, Application, Message, Part, Receive, Send

_HEADERS: Final = [(b"content-type", b"text/event-stream")]
_REDACTED: Final = "redacted:"


@dataclass
class AguiApplication:
    """An ASGI application around another one, which does the work."""

    inner: Application = field(default_factory=Application)
    begun: list[str] = field(default_factory=list)  # threads, as often as one was begun

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        body = (await receive())["body"]
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        async for event in self._events(json.loads(body)):
            data = f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _events(self, asked: Mapping[str, Any]) -> AsyncIterator[Part]:
        run = {"threadId": asked["threadId"], "runId": asked["runId"]}
        if len(asked["messages"]) == 1:
            self.begun.append(asked["threadId"])
        yield {"type": "RUN_STARTED", **run, "protocolVersion": "1.0"}
        spoken = False
        async for part in self.inner.answer({"messages": list(_ui_messages(asked["messages"]))}):
            if isinstance(part, str):
                yield {"type": "RUN_FINISHED", **run, "outcome": {"type": "success"}}
                return
            if part["type"] == "error":
                yield {"type": "RUN_ERROR", "message": part["errorText"]}
                return
            if part["type"] == "reasoning-start":
                spoken = False
            for event in _events_of(part, spoken=spoken):
                spoken = spoken or event["type"] == "REASONING_MESSAGE_START"
                yield event


# Type of a part -> type of the event, its fields, and where the part has them.
_PLAIN: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "reasoning-start": ("REASONING_START", {"messageId": "id"}),
    "text-start": ("TEXT_MESSAGE_START", {"messageId": "id", "role": "role"}),
    "text-delta": ("TEXT_MESSAGE_CONTENT", {"messageId": "id", "delta": "delta"}),
    "text-end": ("TEXT_MESSAGE_END", {"messageId": "id"}),
    "tool-input-start": (
        "TOOL_CALL_START",
        {"toolCallId": "toolCallId", "toolCallName": "toolName"},
    ),
    "tool-input-delta": ("TOOL_CALL_ARGS", {"toolCallId": "toolCallId", "delta": "inputTextDelta"}),
    "tool-input-available": ("TOOL_CALL_END", {"toolCallId": "toolCallId"}),
    "tool-output-available": (
        "TOOL_CALL_RESULT",
        {"toolCallId": "toolCallId", "messageId": "toolCallId", "content": "output"},
    ),
}


def _events_of(part: Part, *, spoken: bool) -> Iterator[Part]:
    kind = part["type"]
    if kind in _PLAIN:
        name, fields = _PLAIN[kind]
        message = {"role": "assistant", **part}
        yield {"type": name, **{field: message[key] for field, key in fields.items()}}
    elif kind.startswith("reasoning-"):
        yield from _thought_events(part, spoken=spoken)
    if own := part.get(METADATA, {}).get("anthropic"):
        value = own.get("signature") or f"{_REDACTED}{own['redactedData']}"
        owner = {"subtype": "message", "entityId": part["id"]}
        yield {"type": "REASONING_ENCRYPTED_VALUE", **owner, "encryptedValue": value}


def _thought_events(part: Part, *, spoken: bool) -> Iterator[Part]:
    """A message of reasoning begins with its first text, so one that says nothing has none."""
    named = {"messageId": part["id"]}
    if part["type"] == "reasoning-end":
        if spoken:
            yield {"type": "REASONING_MESSAGE_END", **named}
        yield {"type": "REASONING_END", **named}
    elif part["delta"]:
        if not spoken:
            yield {"type": "REASONING_MESSAGE_START", **named, "role": "reasoning"}
        yield {"type": "REASONING_MESSAGE_CONTENT", **named, "delta": part["delta"]}


def _ui_messages(messages: list[Part]) -> Iterator[Part]:
    """The history as the application inside has it: thoughts are parts of the answer behind."""
    parts: list[Part] = []
    for message in messages:
        text = {"type": "text", "text": message.get("content") or ""}
        if message["role"] == "user":
            yield {"role": "user", "parts": [text]}
        elif message["role"] == "reasoning":
            parts.append({"type": "reasoning", "text": text["text"], **_sealed(message)})
        elif message["role"] == "assistant":
            yield {"role": "assistant", "parts": [*parts, text]}
            parts = []


def _sealed(message: Part) -> Part:
    value = message.get("encryptedValue", "")
    if value.startswith(_REDACTED):
        return {METADATA: {"anthropic": {"redactedData": value.removeprefix(_REDACTED)}}}
    return {METADATA: {"anthropic": {"signature": value}}} if value else {}
