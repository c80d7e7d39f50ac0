"""Exchanges as a relay tells of them, message by message."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import count

from conformance.core.chunked import chunk_bytes
from conformance.core.events import Exchange, Response
from conformance.targets.recording.messages import (
    BodyCame,
    ExchangeEnded,
    HeadCame,
    RequestCame,
)
from conformance.watching.feed import ExchangeMessage
from conformance.watching.judging import TrafficJudge
from conformance.watching.traffic import Traffic, TrafficListener
from conformance.wire.requests import HttpRequest, sent_body

FRAME = b'data: {"choices":[{"index":0,"delta":{"%s":"%s"}}]}\n\n'
SSE = Response(200, "1.1", (("content-type", "text/event-stream"),))
PATH = "/v1/chat/completions"


def new_traffic(judge: TrafficJudge, listener: TrafficListener) -> Traffic:
    """Traffic in which answers on WebSockets are numbered from 1001."""
    return Traffic(judge, listener, count(1001).__next__)


def answers_to(
    number: int, path: str = PATH, body: bytes = b'{"model":"m","stream":true}'
) -> RequestCame:
    return RequestCame(number, 1.0, path, HttpRequest("POST", path, (), body))


def came(number: int, field: bytes, text: bytes, at: float = 2.0) -> BodyCame:
    return BodyCame(number, at, FRAME % (field, text))


def relayed(
    exchange: Exchange, number: int = 1, *, packed: bool = False
) -> Iterator[ExchangeMessage]:
    """A recorded exchange in chunked coding, each chunk torn in two; `packed` by gzip."""
    request, response = exchange.request, exchange.response or SSE
    assert request is not None
    body = HttpRequest(request.method, request.path, request.headers, sent_body(request))
    yield RequestCame(number, 1.0, request.path, body)
    if packed:
        headers = (*response.headers, ("content-encoding", "gzip"))
        response = Response(response.status, response.http, headers)
    yield HeadCame(number, 2.0, response, chunked=True)
    data = gzip.compress(exchange.body) if packed else b""
    now = 2.0
    for chunk in [data] if packed else [each.data for each in exchange.chunks]:
        now += 0.01
        coded = chunk_bytes(chunk)
        yield BodyCame(number, now, coded[:7])
        yield BodyCame(number, now, coded[7:])
    yield ExchangeEnded(number, now, exchange.end, "")
