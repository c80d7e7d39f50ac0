"""openai-python: Chat Completions as chunks and by its helper, Responses by both as well."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from openai import DefaultHttpxClient, OpenAI

from tests.adapters import openai_helper, openai_raw, openai_responses
from tests.adapters.harness import Calls, Event
from tests.oracles.fake_server import FakeServer

_ASK: Final[list[Any]] = [{"role": "user", "content": "Hi."}]


_SERVER: Final = FakeServer()


@cache
def _made() -> OpenAI:
    http = _SERVER.connection(DefaultHttpxClient)
    return OpenAI(base_url="http://fake/v1", api_key="none", max_retries=0, http_client=http)


def _client(body: bytes) -> OpenAI:
    _SERVER.body = body
    return _made()


def read_chunks(body: bytes) -> Iterator[Event]:
    calls = Calls()
    for chunk in _client(body).chat.completions.create(model="m", messages=_ASK, stream=True):
        for choice in chunk.choices or ():
            yield from openai_raw.events_of(choice, calls)


def read_chunks_by_helper(body: bytes) -> Iterator[Event]:
    with _client(body).chat.completions.stream(model="m", messages=_ASK) as got:
        for event in got:
            yield from openai_helper.events_of(event)
        for choice in got.get_final_completion().choices:
            yield {"type": "finish", "reason": choice.finish_reason, "choice": choice.index}


def read_response(body: bytes) -> Iterator[Event]:
    events = _client(body).responses.create(model="m", input="Hi.", stream=True)
    yield from openai_responses.reported_events(events)


def read_response_by_helper(body: bytes) -> Iterator[Event]:
    with _client(body).responses.stream(model="m", input="Hi.") as events:
        yield from openai_responses.reported_events(events)
        yield {"type": "stated text", "text": events.get_final_response().output_text}
