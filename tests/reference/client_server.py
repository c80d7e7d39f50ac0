"""A server that plays one scripted answer per connection, on 127.0.0.1, and keeps the requests."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any, Literal

Ending = Literal["fin", "reset", "hold", "short"]


@dataclass(frozen=True, slots=True)
class Script:
    """One answer; its chunks may never end. `hold` keeps it open, `short` ends early."""

    chunks: Iterable[bytes] = ()
    status: int = 200
    kind: str = "text/event-stream"
    ending: Ending = "fin"
    headers: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    json: Any


@dataclass(slots=True)
class Played:
    """A running server: its base URL, and what it was asked so far."""

    base_url: str
    asked: list[SentRequest] = field(default_factory=list)


@contextmanager
def playing(*scripts: Script) -> Iterator[Played]:
    """Serve the scripts in order, one per connection; the last one again and again."""
    done = Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        played = Played(f"http://127.0.0.1:{server.getsockname()[1]}/v1")
        thread = Thread(target=_serve, args=(server, scripts, played, done))
        thread.start()
        try:
            yield played
        finally:
            done.set()
            # An own connection wakes the server from waiting for one.
            socket.create_connection(server.getsockname()).close()
            thread.join()


def _serve(server: socket.socket, scripts: Sequence[Script], played: Played, done: Event) -> None:
    held: list[socket.socket] = []
    while True:
        connection, _ = server.accept()
        if done.is_set():
            held.append(connection)
            break
        with connection.makefile("rb") as lines:
            played.asked.append(_request(lines))
        script = scripts[min(len(played.asked), len(scripts)) - 1]
        # The client may have gone, which may be what it was to do.
        with suppress(OSError):
            _answer(connection, script)
        if script.ending == "hold":
            held.append(connection)
        else:
            connection.close()
    for connection in held:
        connection.close()


def _request(lines: Any) -> SentRequest:
    path = lines.readline().decode().split()[1]
    headers: dict[str, str] = {}
    while line := lines.readline().strip():
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    return SentRequest(path, headers, json.loads(lines.read(int(headers["content-length"]))))


def _answer(connection: socket.socket, script: Script) -> None:
    head = [f"HTTP/1.1 {script.status} Said", f"content-type: {script.kind}", *script.headers]
    if script.ending == "short":
        head.append(f"content-length: {sum(map(len, script.chunks)) + 100}")
    connection.sendall("\r\n".join([*head, "connection: close", "", ""]).encode())
    for chunk in script.chunks:
        connection.sendall(chunk)
    if script.ending == "reset":
        # No lingering: the kernel sends RST instead of FIN.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
