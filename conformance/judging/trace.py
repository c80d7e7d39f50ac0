"""From bytes to the trace of one exchange: transport, wire and semantic events, frame by frame."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from conformance.core.clock import clocked
from conformance.core.events import Chunk, Ending, Event, Exchange, Frame, Request, Response
from conformance.core.json_values import NOT_JSON
from conformance.core.sse import Parser
from conformance.dialects.base import Reader

BOM: Final = b"\xef\xbb\xbf"
HEAD: Final = 4096  # bytes of white space after which a response counts as a stream
MOST_DEPTH: Final = 256
MOST_BODY_BYTES: Final = 64 * 1024 * 1024

_JSON_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_BRACKETS: Final = re.compile(r"[\[\]{}]")


def decode(text: str) -> Any:
    """The JSON value of a frame's data, or NOT_JSON.

    NaN and broken text are not JSON, and neither is what nests deeper than comparing it could go.
    """
    if text.count("[") + text.count("{") > MOST_DEPTH and _depth(text) > MOST_DEPTH:
        return NOT_JSON
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return NOT_JSON


def _depth(text: str) -> int:
    deepest = depth = 0
    for bracket in _BRACKETS.findall(_JSON_STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def is_body(response: Response | None, head: bytes) -> bool:
    """Whether a response is one JSON value rather than an event stream.

    The content type decides where it is known, the first byte that is no white space otherwise.
    """
    kind = (response.header("content-type") or "") if response else ""
    if "event-stream" in kind:
        return False
    if "json" in kind and "ndjson" not in kind:
        return True
    return head.removeprefix(BOM).lstrip()[:1] in (b"{", b"[")


def is_undecided(head: bytes) -> bool:
    """Whether the first bytes tell no body from a stream yet: white space, or part of a BOM."""
    return len(head) < HEAD and (BOM.startswith(head) or not head.removeprefix(BOM).strip())


class Framer:
    """Bytes to frames, for event streams and for whole JSON bodies."""

    def __init__(self, *, body: bool) -> None:
        self.parser = None if body else Parser()
        self._body = bytearray()

    def feed(self, data: bytes) -> Sequence[Frame]:
        if self.parser is not None:
            return self.parser.feed(data)
        if len(self._body) < MOST_BODY_BYTES:
            self._body += data
        return ()

    def close(self) -> Sequence[Frame]:
        if self.parser is not None:
            return self.parser.close()
        text = bytes(self._body).decode("utf-8", "replace")
        return (Frame("body", "message", text, "", 0),) if text else ()


def frames(exchange: Exchange) -> Iterator[tuple[Frame, float | None]]:
    """Every frame of a recorded exchange, and when it came: as `WireView` takes it apart."""
    framer = Framer(body=is_body(exchange.response, _beginning(exchange.chunks)))
    ms: float | None = 0.0
    for data, ms in clocked(exchange.chunks):
        for frame in framer.feed(data):
            yield frame, ms
    for frame in framer.close():
        yield frame, ms


def _beginning(chunks: Sequence[Chunk]) -> bytes:
    """As many bytes as the judge looks at, to tell a body from a stream."""
    held = b""
    for chunk in chunks:
        held += chunk.data
        if not is_undecided(held):
            break
    return held


class Trace:
    """Numbers frames from 1 and gives the events each of them gave rise to."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.number = 0

    def head(self, request: Request | None, response: Response | None) -> list[Event]:
        """Events of number 0: what was asked, and the head of the answer."""
        events: list[Event] = []
        if request is not None:
            asked = {
                "method": request.method,
                "path": request.path,
                "headers": _headers(request.headers),
            }
            events.append(Event("http.request", asked, 0, "transport"))
            events.extend(self.reader.request(request) if request.json is not None else ())
        if response is not None and response.status is not None:
            answered = {
                "status": response.status,
                "http": response.http,
                "headers": _headers(response.headers),
            }
            events.append(Event("http.response", answered, 0, "transport"))
        return events

    def frame(self, frame: Frame) -> list[Event]:
        """Events of the next frame, transport first."""
        self.number += 1
        number = self.number
        if frame.kind == "comment":
            return [Event("sse.comment", {"text": frame.data}, number, "transport")]
        if frame.kind == "ignored":
            fields = {"reason": frame.event, "text": frame.data}
            return [Event("sse.ignored", fields, number, "transport")]
        payload = decode(frame.data)
        events = self.reader.read(frame, payload, number)
        if frame.kind == "event":
            events.insert(0, _framed(frame, payload, number))
        return events

    def end(self, how: Ending) -> list[Event]:
        """What the end itself gives rise to; it counts as one more frame."""
        self.number += 1
        transport = Event("http.end", {"how": how}, self.number, "transport")
        return [transport, *self.reader.end(how, self.number)]


def _framed(frame: Frame, payload: Any, number: int) -> Event:
    fields = {"event": frame.event, "named": frame.named, "id": frame.id, "data": frame.data}
    if payload is not NOT_JSON:
        fields["json"] = payload
    return Event("sse.frame", fields, number, "transport")


def _headers(headers: Sequence[tuple[str, str]]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}
