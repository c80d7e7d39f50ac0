"""ollama-python: the lines of `chat` and of `generate`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

import ollama

from tests.adapters.harness import Event, spoken, thinking
from tests.oracles.fake_server import FakeServer

_SERVER: Final = FakeServer("application/x-ndjson")


@cache
def _made() -> ollama.Client:
    return ollama.Client("http://fake", transport=_SERVER.transport())


def _client(body: bytes) -> ollama.Client:
    _SERVER.body = body
    return _made()


def read_chat(body: bytes) -> Iterator[Event]:
    for line in _client(body).chat("m", [{"role": "user", "content": "Hi."}], stream=True):
        yield from thinking(line.message.thinking)
        yield from spoken(line.message.content)
        for call in line.message.tool_calls or ():
            called = call.function
            yield {"type": "tool.end", "name": called.name, "arguments": called.arguments}
        yield from _finish(line)


def read_generate(body: bytes) -> Iterator[Event]:
    for line in _client(body).generate("m", "Hi.", stream=True):
        yield from thinking(line.thinking)
        yield from spoken(line.response)
        yield from _finish(line)


def _finish(line: ollama.ChatResponse | ollama.GenerateResponse) -> Iterator[Event]:
    if line.done:
        yield {"type": "finish", "reason": line.done_reason}
