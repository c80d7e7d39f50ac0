"""google-genai: chunks of `generate_content_stream`, and events of `interactions.create`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from google import genai
from google.genai import types
from google.genai._gaos.utils import serializers

from tests.adapters.harness import Calls, Event, spoken, thinking
from tests.oracles.fake_server import FakeServer
from tests.oracles.kept_models import kept_models

_SERVER: Final = FakeServer()


@cache
def _made() -> genai.Client:
    options = types.HttpOptions(httpx_client=_SERVER.connection())
    return genai.Client(api_key="none", http_options=options)


def _client(body: bytes) -> genai.Client:
    _SERVER.body = body
    return _made()


def read_generate(body: bytes) -> Iterator[Event]:
    for chunk in _client(body).models.generate_content_stream(model="m", contents="Hi."):
        for candidate in chunk.candidates or ():
            for part in (candidate.content.parts if candidate.content else None) or ():
                yield from _part(part)
            if candidate.finish_reason:
                yield {"type": "finish", "reason": candidate.finish_reason.value}


def _part(part: types.Part) -> Iterator[Event]:
    yield from thinking(part.text) if part.thought else spoken(part.text)
    if call := part.function_call:
        yield {"type": "tool.end", "name": call.name, "arguments": call.args}


def read_interaction(body: bytes) -> Iterator[Event]:
    calls = Calls()
    with kept_models(serializers):
        for event in _client(body).interactions.create(model="m", input="Hi.", stream=True):
            yield from read_event(event, calls)


def read_event(event: Any, calls: Calls) -> Iterator[Event]:
    """What one event of an interaction says."""
    match event.event_type:
        case "step.start" if event.step.type == "function_call":
            calls.add(0, event.index, event.step.name, None)
        case "step.delta":
            yield from _delta(event, calls)
        case "interaction.completed":
            yield from calls.ended(0)
            yield {"type": "finish", "reason": event.interaction.status}


def _delta(event: Any, calls: Calls) -> Iterator[Event]:
    delta = event.delta
    match delta.type:
        case "thought_summary":
            yield from thinking(delta.content.text, "summary")
        case "text":
            yield from spoken(delta.text)
        case "arguments_delta":
            calls.add(0, event.index, None, delta.arguments)
