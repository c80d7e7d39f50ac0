"""What else reads such streams: httpx-sse with json.loads, and the vendors' SDKs, offline.

The SDKs go their whole way, from a transport that answers with the recorded bytes to typed
events, but nothing is sent anywhere.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.benchmarks.corpora import Chunks

Read = Callable[[Chunks], int]


def httpx_sse(chunks: Chunks) -> int:
    """Decodes every event and does no more with it; how many there were."""
    httpx = importlib.import_module("httpx")
    source = importlib.import_module("httpx_sse").EventSource(_response(httpx, chunks))
    count = 0
    for event in source.iter_sse():
        if event.data != "[DONE]":
            json.loads(event.data)
        count += 1
    return count


def httpx_lines(chunks: Chunks) -> int:
    """The same of lines, one JSON value each, as the client of Ollama reads them."""
    response = _response(importlib.import_module("httpx"), chunks)
    return sum(1 for line in response.iter_lines() if line and json.loads(line))


def bare(chunks: Chunks) -> int:
    """The least that every reader does: frames and their JSON, whichever framing it is."""
    return (httpx_lines if chunks[:1] and chunks[0][:1] == b"{" else httpx_sse)(chunks)


def _response(http: Any, chunks: Chunks) -> Any:
    body = type("Chunked", (http.SyncByteStream,), {"__iter__": lambda _: iter(chunks)})()
    return http.Response(200, headers={"content-type": "text/event-stream"}, stream=body)


def _client(sdk: str, chunks: Chunks) -> Any:
    """The SDK's client over a transport of its own HTTP library."""
    module = importlib.import_module(sdk)
    http = importlib.import_module("httpx2")
    transport = http.MockTransport(lambda _request: _response(http, chunks))
    name = {"openai": "OpenAI", "anthropic": "Anthropic"}[sdk]
    client = http.Client(transport=transport)
    return getattr(module, name)(api_key="none", http_client=client, max_retries=0)


def _count(events: Iterator[Any]) -> int:
    return sum(1 for _ in events)


def openai_responses(chunks: Chunks) -> int:
    return _count(_client("openai", chunks).responses.create(model="m", input="x", stream=True))


def openai_chat(chunks: Chunks) -> int:
    messages = [{"role": "user", "content": "x"}]
    create = _client("openai", chunks).chat.completions.create
    return _count(create(model="m", messages=messages, stream=True))


def anthropic_messages(chunks: Chunks) -> int:
    messages = [{"role": "user", "content": "x"}]
    create = _client("anthropic", chunks).messages.create
    return _count(create(model="m", messages=messages, max_tokens=9, stream=True))


SDKS: dict[str, tuple[str, Read]] = {
    "openai.responses": ("openai SDK", openai_responses),
    "openai.chat": ("openai SDK", openai_chat),
    "anthropic.messages": ("anthropic SDK", anthropic_messages),
}
