"""An answer's bytes: a stream of events, a JSON body, or something that is neither.

What decides is the content type, and where there is none, or it lies, the first character: a
gateway that fails sends its JSON, or its HTML, under whatever type the route has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from .apis import APIS
from .binary import MessageReader
from .event import Event
from .frame import BrokenStream, ElementReader, FrameReader, Framing, LineReader, SseReader
from .payload import decode
from .wire import Api, Reading

__all__ = ["Reader", "Reading"]

FRAMES: Final[Mapping[Framing, Callable[[], FrameReader]]] = {
    "events": SseReader,
    "lines": LineReader,
    "binary": MessageReader,
}
MOST_BODY_BYTES: Final = 16 * 1024 * 1024
_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r\n"
_MOST_BLANK: Final = 4096
# Redirects are not followed: a key would go along.
_REFUSED: Final = 300
# Of an answer that is no answer, so much is reported.
_MOST_SHOWN: Final = 200


class Reader:
    """Turns the bytes of one answer into events. `status` is the HTTP status of its head."""

    def __init__(self, api: Api, reading: Reading | None = None, *, status: int = 200) -> None:
        self._form = APIS[api]
        self._wire = self._form.reader(reading or Reading())
        self._status = status
        self._stream = FRAMES[self._form.framing]()
        self._body = bytearray()
        self._is_stream: bool | None = None if status < _REFUSED else False
        self._is_ended = False

    @property
    def echo(self) -> dict[str, Any]:
        """The fields to send back as they came, next to the pieces of the turn."""
        return dict(self._wire.echo())

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that these bytes complete; none after the end."""
        if self._is_ended:
            return []
        if not self._is_stream:
            self._body += chunk
            chunk = self._look_at_body()
        if not self._is_stream:
            is_long = len(self._body) > MOST_BODY_BYTES
            return self._failed(f"longer than {MOST_BODY_BYTES} bytes") if is_long else []
        events: list[Event] = []
        try:
            for frame in self._stream.feed(chunk):
                events += self._wire.read(frame)
        except BrokenStream as fault:
            events += self._failed(str(fault))
        return events

    def close(self, how: str) -> list[Event]:
        """The events of the end of the bytes: `eof`, or how else they stopped."""
        if self._is_ended:
            return []
        self._is_ended = True
        if self._is_stream or not self._body.strip(_BLANK) or how != "eof":
            unanswered = self._status >= _REFUSED and how == "eof"
            events = [self._body_error("")] if unanswered else []
            for frame in self._stream.close():
                events += self._wire.read(frame)
            return events + self._wire.end(how)
        return self._whole() + self._wire.end(how)

    def _look_at_body(self) -> bytes:
        """Report a body from a stream by its first character; the bytes so far if it is one."""
        if self._is_stream is not None:
            return b""
        start = bytes(self._body).removeprefix(_BOM).lstrip(_BLANK)
        if start or len(self._body) > _MOST_BLANK:
            self._is_stream = start[:1] not in self._bodies()
        if start[:1] == b"[" and self._is_stream:
            self._stream = ElementReader()
        return bytes(self._body) if self._is_stream else b""

    def _bodies(self) -> Collection[bytes]:
        """Return the beginnings of bodies that are no stream of this API."""
        if self._form.framing == "lines":
            return (b"<",)
        return (b"{", b"<") if self._form.grows_array else (b"{", b"[", b"<")

    def _whole(self) -> list[Event]:
        text = self._body.decode("utf-8-sig", "replace")
        payload = decode(text)
        is_refused = self._status >= _REFUSED
        if not isinstance(payload, dict) or (is_refused and not self._names_error(payload)):
            return [self._body_error(text)]
        return [self._with_status(event) for event in self._wire.body(payload)]

    def _names_error(self, payload: dict[str, Any]) -> bool:
        return any(payload.get(key) for key in ("error", self._form.error_key))

    def _with_status(self, event: Event) -> Event:
        """The event; an error of a refused request has the status of the answer's head."""
        if event.type != "error" or self._status < _REFUSED:
            return event
        return Event("error", {"status": self._status, **event.data})

    def _body_error(self, text: str) -> Event:
        """Return the error for a text in place of an answer, with the text's beginning."""
        shown = " ".join(text.split())[:_MOST_SHOWN]
        is_refused = self._status >= _REFUSED
        what = f"HTTP {self._status}" if is_refused else "neither a stream nor JSON"
        data = {"code": "", "message": f"{what}: {shown}" if shown else what}
        return Event("error", {**data, "status": self._status} if is_refused else data)

    def _failed(self, message: str) -> list[Event]:
        self._is_ended = True
        error = Event("error", {"code": "", "message": message})
        return [error, *self._wire.end("protocol-error")]
