"""anthropic-python: `messages.stream()`, its events and the message that it puts together."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from anthropic import Anthropic, DefaultHttpxClient

from tests.adapters import anthropic_sdk
from tests.adapters.harness import Event
from tests.oracles.fake_server import FakeServer

_SERVER: Final = FakeServer()
# Of a finished block, what is shown.
_HELD: Final = {"text", "thinking", "signature", "data", "name", "input"}


@cache
def _client() -> Anthropic:
    http = _SERVER.connection(DefaultHttpxClient)
    return Anthropic(base_url="http://fake", api_key="none", max_retries=0, http_client=http)


def read_message(body: bytes) -> Iterator[Event]:
    _SERVER.body = body
    asked = _client().messages.stream(
        model="m", messages=[{"role": "user", "content": "Hi."}], max_tokens=1024
    )
    with asked as events:
        for event in events:
            yield from anthropic_sdk.events_of(event)
        for block in events.get_final_message().content:
            yield {"type": f"stated {block.type}", "holds": block.model_dump(include=_HELD)}
