"""Recordings to replay, and a client that sees every byte and every transfer chunk."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from conformance.cassette import Cassette, CassetteClock, Header, Redaction
from conformance.core.events import Chunk, Ending, Exchange, Request, Response

SSE: Final = (("content-type", "text/event-stream"),)
PATH: Final = "/v1/chat/completions"
ASKED: Final = {"model": "m", "messages": [{"role": "user", "content": "Why?"}], "stream": True}
EVENTS: Final = (b"data: one\n\n", "data: zwei für café\n\n".encode(), b"data: [DONE]\n\n")
PATIENCE_S: Final = 60.0


def exchange(
    chunks: Iterable[bytes] = EVENTS,
    *,
    number: int = 1,
    json: Any = ASKED,
    method: str = "POST",
    path: str = PATH,
    sent: tuple[tuple[str, str], ...] = (),
    headers: tuple[tuple[str, str], ...] = SSE,
    status: int | None = 200,
    http: str = "1.1",
    end: Ending = "eof",
    ms: float | None = None,
    hop: str = "",
) -> Exchange:
    return Exchange(
        number=number,
        request=Request(method, path, sent, json),
        response=Response(status, http, headers),
        chunks=tuple(Chunk(data, ms) for data in chunks),
        end=end,
        hop=hop,
    )


def cassette(*exchanges: Exchange, redacted: bool = False, head_ms: float = 0.0) -> Cassette:
    header = Header(redactions=(Redaction("field.api_key", 1),) if redacted else ())
    return Cassette(
        header, exchanges, {each.number: CassetteClock(head_ms, 0.0) for each in exchanges}
    )


def request(
    body: Any = ASKED,
    *,
    method: str = "POST",
    path: str = PATH,
    headers: Sequence[str] = (),
    version: str = "1.1",
) -> bytes:
    """A request as bytes; a body that is not bytes becomes JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/{version}", "host: localhost", f"content-length: {len(data)}"]
    return "\r\n".join((*lines, *headers, "", "")).encode() + data


@dataclass(frozen=True, slots=True)
class Answer:
    """What came: `chunks` are transfer chunks. `whole`: the body had its end."""

    status: int
    headers: dict[str, str]
    chunks: tuple[bytes, ...]
    whole: bool

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)


class Client:
    """One connection."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        self._stream = self.socket.makefile("rb")

    def close(self) -> None:
        self._stream.close()
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def ask(self, data: bytes) -> Answer:
        self.send(data)
        return self.answer(head_only=data.startswith(b"HEAD"))

    def answer(self, *, head_only: bool = False) -> Answer:
        """The next answer. Raises ConnectionResetError if a reset came."""
        status = int(self._stream.readline().split()[1])
        headers = {}
        while (line := self._stream.readline().decode("latin-1").strip()) != "":
            name, _, value = line.partition(": ")
            headers[name] = value
        if head_only:
            return Answer(status, headers, (), whole=True)
        framing = {name.lower(): value for name, value in headers.items()}
        if framing.get("transfer-encoding") == "chunked":
            chunks = tuple(self._chunks())
            return Answer(status, headers, tuple(filter(None, chunks)), whole=chunks[-1:] == (b"",))
        size = framing.get("content-length")
        body = self._stream.read() if size is None else self._stream.read(int(size))
        return Answer(status, headers, (body,), whole=size in (None, str(len(body))))

    def at_end(self) -> bool:
        """Whether the server has closed its side."""
        return self._stream.read(1) == b""

    def _chunks(self) -> Iterator[bytes]:
        while size := self._stream.readline():
            data = self._stream.read(int(size, 16))
            assert self._stream.read(2) == b"\r\n"
            yield data
            if not data:
                return


@contextmanager
def client(port: int) -> Iterator[Client]:
    connected = Client(port)
    try:
        yield connected
    finally:
        connected.close()


def answer(port: int, data: bytes) -> Answer:
    """One request on a connection of its own."""
    with client(port) as connected:
        return connected.ask(data)
