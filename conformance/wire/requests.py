"""Requests out of a connection's bytes, bounded; nothing is sent here.

A plain head is read by a regular expression, every other one by h11. Plain is what nearly every
client sends: HTTP/1.1, a path, one host, no header twice, no transfer coding, no expectation. Such
a head means the same to h11, at a tenth of the cost.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

import h11
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from conformance.core.events import Request
from conformance.wire.heads import (
    HEADER_LINES,
    Headers,
    decode_headers,
    has_token,
    header_fields,
)

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"

_HEAD: Final = re.compile(
    rb"([A-Z]{1,20}+) (/[!-~]*+) HTTP/1\.1\r\n%b\r\n" % HEADER_LINES.encode("latin-1")
)
_LENGTH: Final = re.compile(r"[0-9]{1,15}")
_NOT_PLAIN: Final = frozenset({"expect", "transfer-encoding", "upgrade"})


class HttpRequest(Struct, frozen=True):
    """One whole request. `target` is what the request line says; headers are as spelled."""

    method: str
    target: str
    headers: Headers
    body: bytes
    http11: bool = True
    keeps_alive: bool = True


class RequestRejected(Exception):  # noqa: N818  # a verdict on the request, not a failure of ours
    """The bytes are not a request that can be answered: a status and one line why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


class PlainHead(NamedTuple):
    """A head of `size` bytes, and the length of the body after it."""

    method: str
    target: str
    headers: Headers
    size: int
    length: int
    closes: bool


def plain_head(data: bytes | bytearray) -> PlainHead | None:
    """The head that `data` begins with; None if it is not plain, or not whole."""
    found = _HEAD.match(data)
    if found is None or found[1] == b"CONNECT":
        return None
    headers = header_fields(found[3])
    values = {name.lower(): value for name, value in headers}
    if len(values) != len(headers) or "host" not in values or not _NOT_PLAIN.isdisjoint(values):
        return None
    length = values.get("content-length", "0")
    if not _LENGTH.fullmatch(length):
        return None
    closes = "connection" in values and has_token(headers, "connection", "close")
    method, target = found[1].decode("ascii"), found[2].decode("ascii")
    return PlainHead(method, target, headers, found.end(), int(length), closes)


class RequestReader:
    """Bytes in, one request out; a new one for each request of a connection.

    `most_head` and `most_body` bound its parts in bytes. `begun` says whether any of it came,
    `size` how many bytes of body are held.
    """

    __slots__ = ("_data", "_h11", "_most_body", "_most_head", "_plain", "begun", "size")

    def __init__(self, most_head: int, most_body: int) -> None:
        self._most_head = most_head
        self._most_body = most_body
        self._data = bytearray()
        self._plain: PlainHead | None = None
        self._h11: H11RequestReader | None = None
        self.size = 0
        self.begun = False

    def feed(self, data: bytes) -> HttpRequest | None:
        """The request, once it is whole; None: more is needed. Raises RequestRejected."""
        if not self.begun:
            # https://www.rfc-editor.org/rfc/rfc9112#section-2.2-6: blank lines before it are none.
            data = data.lstrip(b"\r\n")
            if not data:
                return None
            self.begun = True
            self._plain = plain_head(data)
            if self._plain is None:
                self._h11 = H11RequestReader(self._most_head, self._most_body)
        if self._h11 is not None:
            request = self._h11.feed(data)
            self.size = self._h11.size
            return request
        assert self._plain is not None
        self._data += data
        return self._whole_request(self._plain)

    @property
    def awaits_continue(self) -> bool:
        """Whether the client waits for `100 Continue` before it sends its body."""
        return self._h11 is not None and self._h11.awaits_continue

    @property
    def rest(self) -> bytes:
        if self._h11 is not None:
            return self._h11.rest
        plain = self._plain
        return bytes(self._data[plain.size + plain.length :]) if plain else b""

    def _whole_request(self, head: PlainHead) -> HttpRequest | None:
        if head.size > self._most_head:
            raise _head_too_long(self._most_head)
        if head.length > self._most_body:
            raise _too_long(self._most_body)
        end = head.size + head.length
        self.size = min(len(self._data), end) - head.size
        if len(self._data) < end:
            return None
        body = bytes(self._data[head.size : end])
        return HttpRequest(
            head.method, head.target, head.headers, body, keeps_alive=not head.closes
        )


class H11RequestReader:
    """As h11 reads it: any head, and bodies in chunked coding."""

    __slots__ = ("_body", "_came", "_connection", "_head", "_most_body", "_most_head")

    def __init__(self, most_head: int, most_body: int) -> None:
        self._connection = h11.Connection(h11.SERVER, max_incomplete_event_size=most_head)
        self._most_head = most_head
        self._most_body = most_body
        self._came = 0
        self._head: h11.Request | None = None
        self._body = bytearray()

    @property
    def size(self) -> int:
        return len(self._body)

    @property
    def awaits_continue(self) -> bool:
        return self._connection.they_are_waiting_for_100_continue

    @property
    def rest(self) -> bytes:
        return self._connection.trailing_data[0]

    def feed(self, data: bytes) -> HttpRequest | None:
        self._came += len(data)
        try:
            self._connection.receive_data(data)
            return self._next_request()
        except h11.RemoteProtocolError as err:
            raise RequestRejected(err.error_status_hint, f"this is no HTTP/1.1: {err}") from err

    def _next_request(self) -> HttpRequest | None:
        while True:
            event = self._connection.next_event()
            if isinstance(event, h11.Request):
                if event.http_version not in (b"1.0", b"1.1"):
                    raise RequestRejected(505, f"this is no HTTP/1.1: {event.http_version!r}")
                # h11 bounds only what waits for more: a head may come whole.
                if self._came - len(self._connection.trailing_data[0]) > self._most_head:
                    raise _head_too_long(self._most_head)
                self._head = event
            elif isinstance(event, h11.Data):
                self._body += event.data
                if len(self._body) > self._most_body:
                    raise _too_long(self._most_body)
            elif isinstance(event, h11.EndOfMessage):
                assert self._head is not None
                return self._whole_request(self._head)
            else:
                return None

    def _whole_request(self, head: h11.Request) -> HttpRequest:
        headers = decode_headers(head.headers.raw_items())
        http11 = head.http_version == b"1.1"
        return HttpRequest(
            method=head.method.decode("ascii"),
            target=head.target.decode("ascii"),
            headers=headers,
            body=bytes(self._body),
            http11=http11,
            keeps_alive=http11 and not has_token(headers, "connection", "close"),
        )


def json_or_none(body: bytes) -> Any:
    """The body as a JSON value; None where it is none, or no reader could take it."""
    try:
        return msgspec.json.decode(body) if body else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def as_recorded(request: HttpRequest, target: str) -> Request:
    return with_body(Request(request.method, target, request.headers), request.body)


def with_body(request: Request, body: bytes) -> Request:
    """The request with its body as a recording holds it: as JSON, else as it came."""
    value = json_or_none(body)
    return request.with_raw(body) if value is None else replace(request, json=value)


def sent_body(request: Request) -> bytes:
    """The body of a recorded request as it is sent again: its JSON, or what else came."""
    if request.json is None:
        return request.raw or b""
    return json.dumps(request.json, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _head_too_long(most: int) -> RequestRejected:
    return RequestRejected(431, f"the head has more than {most:,} bytes")


def _too_long(most: int) -> RequestRejected:
    return RequestRejected(413, f"the body has more than {most:,} bytes")
