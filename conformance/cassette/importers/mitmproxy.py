"""Flows that mitmproxy saved (`mitmdump -w FILE`): typed netstrings, one after the other.

A flow is a mapping with `type` (`http`), `request`, `response` and `error`; messages have headers
as pairs, `content` as it came but without transfer chunks (null where the body was streamed past),
and times in seconds since 1970. A WebSocket is a flow with `websocket`. https://docs.mitmproxy.org/stable/api/mitmproxy/flow.html
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.cassette.header import CassetteClock, Header
from conformance.cassette.importers import ForeignFile, ImportedRecording, Importer
from conformance.cassette.importers.http_messages import Headers, decode_body, request_of
from conformance.cassette.importers.socket_messages import BINARY, GatheredMessages, closed_by
from conformance.cassette.importers.tnetstrings import BrokenNetstringError, read_netstrings
from conformance.cassette.importers.traffic import CapturedExchange, judged_traffic
from conformance.cassette.positions import Layout
from conformance.core.errors import CassetteError, Place
from conformance.core.events import Chunk, Ending, Exchange, Request, Response, Side

_BEGINNING: Final = re.compile(rb"\d{2,10}:\d{1,6}:(?:[a-z_]{1,32})[;,]")
_HINT: Final = "mitmproxy keeps none of a body that it streams, see stream_large_bodies"
_MOST_MS: Final = 3.2e13
_LEAST_FACTS: Final = 4  # of a message: type, from_client, content, timestamp


def _begins_flow(file: ForeignFile) -> bool:
    return _BEGINNING.match(file.head) is not None


def _read_flows(file: ForeignFile) -> ImportedRecording | None:
    """Flows of APIs that are judged, numbered from 1. Raises CassetteError with the byte."""
    if not _begins_flow(file):
        return None
    header = Header(
        origin="imported",
        fidelity="bytes",
        dialect=file.dialect,
        recorder={"name": "mitmproxy"},
    )
    return judged_traffic(file, _saved_flows(file), header, hint=_HINT)


def _saved_flows(file: ForeignFile) -> Iterator[CapturedExchange]:
    line, before = 1, 0
    try:
        for at, flow in read_netstrings(file.data):
            line += file.data.count(b"\n", before, at)
            before = at
            if _kind_of(file, flow, at) == "http" and isinstance(flow.get("response"), dict):
                yield _flow_exchange(file, flow, Layout(line))
    except BrokenNetstringError as err:
        place = Place(str(file.path), byte=err.at)
        raise CassetteError(f"no file of mitmproxy: {err}", place=place) from err


def _kind_of(file: ForeignFile, flow: Any, at: int) -> str:
    if isinstance(flow, dict) and "type" in flow:
        return _as_text(flow["type"])
    raise CassetteError("expected a flow of mitmproxy", place=Place(str(file.path), byte=at))


def _flow_exchange(file: ForeignFile, flow: Mapping[str, Any], layout: Layout) -> CapturedExchange:
    question, answer = _as_mapping(flow.get("request")), _as_mapping(flow.get("response"))
    if isinstance(socket := flow.get("websocket"), dict):
        return _flow_socket(file, flow, socket, layout)
    content = answer.get("content")
    body = content if isinstance(content, bytes) else b""
    decoded = decode_body(file, _response_of(answer), (Chunk(body),) if body else ())
    exchange = Exchange(
        request=_request_of(file, question, layout),
        response=decoded.response,
        chunks=decoded.chunks,
        end=_flow_ending(flow, decoded.is_whole),
    )
    sent_at, answered_at = question.get("timestamp_end"), answer.get("timestamp_start")
    clock, sent = _flow_clock(sent_at, answered_at), _finite_seconds(sent_at)
    return CapturedExchange(exchange, layout, clock, isinstance(content, bytes), sent)


def _flow_socket(
    file: ForeignFile, flow: Mapping[str, Any], socket: Mapping[str, Any], layout: Layout
) -> CapturedExchange:
    """A whole WebSocket: messages are type, from_client, content, timestamp, dropped, injected.

    What a client sent counts where it was passed on, what a server sent where the server sent it.
    """
    question, answer = _as_mapping(flow.get("request")), _as_mapping(flow.get("response"))
    gathered = GatheredMessages()
    values = socket.get("messages")
    for kind, from_client, content, at, dropped, injected in _message_states(values):
        if not (dropped if from_client else injected) and isinstance(content, bytes):
            side: Side = "client" if from_client else "server"
            gathered.add(side, content, at, layout.head, binary=kind == BINARY)
    exchange = Exchange(
        request=_request_of(file, question, layout),
        response=_response_of(answer),
        chunks=tuple(gathered.messages),
        end=_socket_ending(flow, socket),
    )
    sent_at = question.get("timestamp_end")
    clock, sent = _flow_clock(sent_at, answer.get("timestamp_start")), _finite_seconds(sent_at)
    made = gathered.layout(layout.head)
    return CapturedExchange(exchange, made, clock, bool(gathered.messages), sent)


def _message_states(values: Any) -> Iterator[list[Any]]:
    """The messages that can be read; older versions keep fewer facts of each."""
    for value in values if isinstance(values, list) else ():
        if isinstance(value, list) and len(value) >= _LEAST_FACTS:
            yield [*value, False, False][:6]


def _socket_ending(flow: Mapping[str, Any], socket: Mapping[str, Any]) -> Ending:
    by_client = socket.get("closed_by_client")
    if isinstance(by_client, bool):
        return closed_by("client" if by_client else "server", socket.get("close_code"))
    return "reset" if flow.get("error") else "open"  # mitmproxy was stopped before


def _request_of(file: ForeignFile, request: Mapping[str, Any], layout: Layout) -> Request:
    content = request.get("content")
    body = content if isinstance(content, bytes) else None
    try:
        return request_of(
            _as_text(request.get("method")),
            _as_text(request.get("path")),
            _header_pairs(request),
            body,
        )
    except ValueError as err:
        raise file.error(f"a request asks for no URL: {err}", layout.head) from err


def _response_of(answer: Mapping[str, Any]) -> Response:
    status = answer.get("status_code")
    version = _as_text(answer.get("http_version")).rpartition("/")[2]
    http = version if re.fullmatch(r"\d(?:\.\d)?", version) else ""
    is_status = isinstance(status, int) and not isinstance(status, bool)
    # The body is stored without its transfer chunks.
    kept = tuple(pair for pair in _header_pairs(answer) if pair[0].lower() != "transfer-encoding")
    return Response(status if is_status else None, http, kept)


def _flow_ending(flow: Mapping[str, Any], is_whole: bool | None) -> Ending:
    error_text = _as_text(_as_mapping(flow.get("error")).get("msg")).lower()
    if not error_text:
        return "protocol-error" if is_whole is False else "eof"
    return "client-closed" if "client" in error_text else "protocol-error"


def _flow_clock(sent_at: Any, answered_at: Any) -> CassetteClock:
    sent, answered = _finite_seconds(sent_at), _finite_seconds(answered_at)
    if sent is None or answered is None:
        return CassetteClock()
    ms = round((answered - sent) * 1e3, 3)
    return CassetteClock(ms) if 0 <= ms <= _MOST_MS else CassetteClock()


def _finite_seconds(value: Any) -> float | None:
    return value if isinstance(value, float) and math.isfinite(value) else None


def _header_pairs(message: Mapping[str, Any]) -> Headers:
    pairs = message.get("headers")
    found = (
        [each for each in pairs if isinstance(each, list) and len(each) == 2]
        if isinstance(pairs, list)
        else []
    )
    return tuple((_as_text(name), _as_text(value)) for name, value in found)


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _as_text(value: Any) -> str:
    return (
        value.decode("latin-1")
        if isinstance(value, bytes)
        else str(value)
        if isinstance(value, str)
        else ""
    )


IMPORTER: Final = Importer(
    "mitmproxy",
    (".mitm", ".flow", ".flows", ""),
    _begins_flow,
    _read_flows,
    says="flows that mitmproxy saved, WebSockets too; exchanges of other APIs are skipped",
    trusted="`bytes`",
    keeps="request, head, time of the head",
)
