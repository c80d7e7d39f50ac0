"""Requests out of a connection's bytes, bounded; nothing is sent here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import h11

from conformance.targets.replay.quick import Fields, PlainHead, plain_head


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client may ask of a replay server. Sizes in bytes, times in seconds.

    `requests` bounds the bodies of all connections together, `request_s` the time from a request's
    first byte to its last, `idle_s` the time between two requests, `hold_s` a stall and a client
    that does not read, `close_s` what is left to deliver when the server stops. `seen` requests and
    `kept` bytes of their bodies are kept to look at.
    """

    head: int = 64 * 1024
    body: int = 32 * 1024 * 1024
    requests: int = 256 * 1024 * 1024
    kept: int = 64 * 1024 * 1024
    seen: int = 10_000
    sessions: int = 4_096
    connections: int = 1_024
    request_s: float = 30.0
    idle_s: float = 300.0
    hold_s: float = 600.0
    close_s: float = 2.0


@dataclass(frozen=True, slots=True)
class Asked:
    """One whole request. `target` is what the request line says; header names are in lower case."""

    method: str
    target: str
    headers: Fields
    body: bytes
    http11: bool
    keeps_alive: bool


class Rejected(Exception):  # noqa: N818  # a verdict on the request, not a failure of ours
    """The bytes are no request that can be answered: a status and one line why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


class RequestReader:
    """Bytes in, one request out; a new one for each request of a connection.

    `size` is how many bytes of body are held.
    """

    __slots__ = ("_data", "_limits", "_plain", "_thorough", "begun", "size", "timed")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._data = bytearray()
        self._plain: PlainHead | None = None
        self._thorough: _Thorough | None = None
        self.size = 0
        self.begun = False
        self.timed = False

    def feed(self, data: bytes) -> Asked | None:
        """The request, once it is whole; None: more is needed. Raises Rejected."""
        if not self.begun:
            # https://www.rfc-editor.org/rfc/rfc9112#section-2.2-6: blank lines before it are none.
            data = data.lstrip(b"\r\n")
            if not data:
                return None
            self.begun = True
            self._plain = plain_head(data)
            if self._plain is None:
                self._thorough = _Thorough(self._limits)
        if self._thorough is not None:
            asked = self._thorough.feed(data)
            self.size = self._thorough.size
            return asked
        assert self._plain is not None
        self._data += data
        return self._whole(self._plain)

    @property
    def waits(self) -> bool:
        """Whether the client waits for `100 Continue` before it sends its body."""
        return self._thorough is not None and self._thorough.waits

    @property
    def rest(self) -> bytes:
        """What came after the request."""
        if self._thorough is not None:
            return self._thorough.rest
        plain = self._plain
        return bytes(self._data[plain.size + plain.length :]) if plain else b""

    def _whole(self, head: PlainHead) -> Asked | None:
        if head.size > self._limits.head:
            raise Rejected(431, f"the head has more than {self._limits.head:,} bytes")
        if head.length > self._limits.body:
            raise _too_long(self._limits)
        end = head.size + head.length
        self.size = min(len(self._data), end) - head.size
        if len(self._data) < end:
            return None
        return Asked(
            method=head.method,
            target=head.target,
            headers=head.headers,
            body=bytes(self._data[head.size : end]),
            http11=True,
            keeps_alive=not head.closes,
        )


class _Thorough:
    """As h11 reads it."""

    __slots__ = ("_body", "_connection", "_head", "_limits")

    def __init__(self, limits: Limits) -> None:
        self._connection = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.head)
        self._limits = limits
        self._head: h11.Request | None = None
        self._body = bytearray()

    @property
    def size(self) -> int:
        return len(self._body)

    @property
    def waits(self) -> bool:
        return self._connection.they_are_waiting_for_100_continue

    @property
    def rest(self) -> bytes:
        return self._connection.trailing_data[0]

    def feed(self, data: bytes) -> Asked | None:
        try:
            self._connection.receive_data(data)
            return self._read()
        except h11.RemoteProtocolError as err:
            raise Rejected(err.error_status_hint, f"this is no HTTP/1.1: {err}") from err

    def _read(self) -> Asked | None:
        while True:
            event = self._connection.next_event()
            if isinstance(event, h11.Request):
                if event.http_version not in (b"1.0", b"1.1"):
                    raise Rejected(505, f"this is no HTTP/1.1: {event.http_version!r}")
                self._head = event
            elif isinstance(event, h11.Data):
                self._body += event.data
                if len(self._body) > self._limits.body:
                    raise _too_long(self._limits)
            elif isinstance(event, h11.EndOfMessage):
                return self._asked()
            else:
                return None

    def _asked(self) -> Asked:
        head = self._head
        assert head is not None
        said = [value.lower() for name, value in head.headers if name == b"connection"]
        closes = any(b"close" in value for value in said)
        return Asked(
            method=head.method.decode("ascii"),
            target=head.target.decode("ascii"),
            headers=tuple((k.decode("ascii"), v.decode("latin-1")) for k, v in head.headers),
            body=bytes(self._body),
            http11=head.http_version == b"1.1",
            keeps_alive=head.http_version == b"1.1" and not closes,
        )


def _too_long(limits: Limits) -> Rejected:
    return Rejected(413, f"the body has more than {limits.body:,} bytes")


CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
