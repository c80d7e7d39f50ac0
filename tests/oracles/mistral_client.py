"""mistralai: the events of `chat.stream` and of `beta.conversations.start_stream`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from mistralai.client import Mistral
from mistralai.client.utils import serializers

from tests.adapters.harness import Calls, Event, spoken, thinking
from tests.oracles.fake_server import FakeServer
from tests.oracles.kept_models import kept_models

_SERVER: Final = FakeServer()


@cache
def _client() -> Mistral:
    return Mistral(api_key="none", server_url="http://fake", client=_SERVER.connection())


def read_chat(body: bytes) -> Iterator[Event]:
    _SERVER.body = body
    calls = Calls()
    asked: list[Any] = [{"role": "user", "content": "Hi."}]
    with kept_models(serializers):
        for event in _client().chat.stream(model="m", messages=asked):
            for choice in event.data.choices:
                yield from read_event(choice, calls)


def read_event(choice: Any, calls: Calls) -> Iterator[Event]:
    """What one choice of a chunk says."""
    content = choice.delta.content
    for part in content if isinstance(content, list) else ():
        for piece in part.thinking if part.type == "thinking" else ():
            yield from thinking(getattr(piece, "text", None), choice=choice.index)
        yield from spoken(part.text if part.type == "text" else None, choice.index)
    yield from spoken(content, choice.index)
    for call in choice.delta.tool_calls or ():
        calls.add(choice.index, call.index, call.function.name, str(call.function.arguments))
    if choice.finish_reason:
        yield from calls.ended(choice.index)
        yield {"type": "finish", "reason": choice.finish_reason, "choice": choice.index}


def read_conversation(body: bytes) -> Iterator[Event]:
    """What the events of a conversation say: nothing where the client does not recognise one."""
    _SERVER.body = body
    calls = Calls()
    with kept_models(serializers):
        for event in _client().beta.conversations.start_stream(model="m", inputs="Hi."):
            yield from _heard_entry(event.data, calls)


def _heard_entry(data: Any, calls: Calls) -> Iterator[Event]:
    content = data.content if data.type == "message.output.delta" else None
    for piece in getattr(content, "thinking", None) or ():
        yield from thinking(getattr(piece, "text", None))
    yield from spoken(content if isinstance(content, str) else getattr(content, "text", None))
    if data.type == "function.call.delta":
        calls.add(0, data.output_index, data.name, data.arguments)
    if data.type == "conversation.response.error":
        yield {"type": "error", "code": data.code, "message": data.message}
    if data.type.startswith(("tool.", "agent.")):
        yield {"type": data.type, "id": data.id}
    if data.type == "conversation.response.done":
        yield from calls.ended(0)
        yield {"type": "finish", "reason": "done", "choice": 0}
