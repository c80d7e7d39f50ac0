"""The catalogue of hostile clients: what each does on connections to a server of the toolkit."""

from __future__ import annotations

import resource
import socket
import ssl
import struct
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

PATIENCE_S: Final = 30.0
_LINE: Final = b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n"
GOOD: Final = _LINE + b"content-type: application/json\r\ncontent-length: 2\r\n\r\n{}"

Act = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class HostileClient:
    name: str
    act: Act
    sampled: bool = False


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)


def send(data: bytes, port: int, *, times: int = 1) -> None:
    """Sends this, says that nothing follows, and reads what comes, as far as the server lets it."""
    with connected(port) as one, suppress(OSError):
        for _ in range(times):
            one.sendall(data)
        one.shutdown(socket.SHUT_WR)
        while one.recv(65536):
            pass


def send_and_leave(data: bytes, port: int) -> None:
    """Sends this and resets the connection."""
    with connected(port) as one:
        one.sendall(data)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def open_many(data: bytes, port: int, *, most: int = 10_000) -> None:
    """As many connections as the machine lets one process have, up to `most`, all at once."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack, suppress(OSError):
        for _ in range(min(most, soft - 200)):
            one = stack.enter_context(connected(port))
            one.sendall(data)


def drip(data: bytes, port: int) -> None:
    """Sends byte by byte, each in a segment of its own."""
    with connected(port) as one, suppress(OSError):
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(len(data)):
            one.sendall(data[at : at + 1])
        one.recv(65536)


def read_nothing(port: int) -> None:
    """Asks again and again, and never reads an answer."""
    with socket.socket() as one, suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        one.settimeout(1.0)
        one.connect(("127.0.0.1", port))
        for _ in range(2000):
            one.sendall(GOOD)


def speak_tls(port: int) -> None:
    context = ssl.create_default_context()
    with connected(port) as one, suppress(OSError):
        context.wrap_socket(one, server_hostname="localhost")


def asking(*lines: bytes, body: bytes = b"", line: bytes = _LINE) -> Act:
    return partial(send, line + b"".join(each + b"\r\n" for each in lines) + b"\r\n" + body)


def bodied(body: bytes) -> Act:
    return asking(b"content-length: %d" % len(body), body=body)


def built(make: Callable[[], Act]) -> Act:
    """An act that is made when it is done: one of many megabytes."""

    def act(port: int) -> None:
        make()(port)

    return act


def lined(line: bytes) -> Act:
    return partial(send, line + b"\r\nhost: 127.0.0.1\r\ncontent-length: 0\r\n\r\n")


CLIENTS: Final = (
    HostileClient("nothing", partial(send, b"")),
    HostileClient("a reset", partial(send_and_leave, b"")),
    HostileClient("a reset inside the head", partial(send_and_leave, GOOD[:30])),
    HostileClient("a reset inside the body", partial(send_and_leave, GOOD[:-1])),
    HostileClient("a reset after the request", partial(send_and_leave, GOOD)),
    HostileClient("connections that say nothing", partial(open_many, b"")),
    HostileClient("500 that say nothing", partial(open_many, b"", most=500), sampled=True),
    HostileClient("connections with half a head", partial(open_many, GOOD[:30])),
    HostileClient("connections that ask at once", partial(open_many, GOOD)),
    HostileClient("a slow writer", partial(drip, GOOD)),
    HostileClient("a reader that never reads", read_nothing),
    HostileClient("100 requests at once", partial(send, GOOD * 100), sampled=True),
    HostileClient("100 requests and half of one", partial(send, GOOD * 100 + GOOD[:40])),
    HostileClient("a request and rubbish", partial(send, GOOD + b"\0\xff" * 999)),
    HostileClient("TLS", speak_tls),
    HostileClient("zeros", partial(send, b"\0" * 65_536, times=300)),
    HostileClient("blank lines", partial(send, b"\r\n" * 32_768, times=300)),
    HostileClient("an endless line", partial(send, b"a" * 65_536, times=300)),
    HostileClient("a head of 20 MB", built(lambda: asking(*[b"x: " + b"y" * 1000] * 20_000))),
    HostileClient("a header of 5 MB", built(lambda: asking(b"x: " + b"y" * 5_000_000))),
    HostileClient("50,000 headers", asking(*[b"x: y"] * 50_000)),
    HostileClient("HTTP/0.9", partial(send, b"GET /\r\n")),
    HostileClient("HTTP/1.0", lined(b"POST /v1/chat/completions HTTP/1.0")),
    HostileClient("HTTP/2", partial(send, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0" * 99)),
    HostileClient("HTTP/9.9", lined(b"POST / HTTP/9.9")),
    HostileClient("a method of 9,000 letters", lined(b"A" * 9000 + b" / HTTP/1.1")),
    HostileClient("a method with an escape", lined(b"\x1b[2J / HTTP/1.1")),
    HostileClient("a method with a bracket", lined(b"G<T / HTTP/1.1")),
    HostileClient("TRACE", lined(b"TRACE / HTTP/1.1")),
    HostileClient("CONNECT", lined(b"CONNECT example.com:443 HTTP/1.1")),
    HostileClient("another host", lined(b"GET http://169.254.169.254/latest HTTP/1.1")),
    HostileClient("a path upwards", lined(b"GET /../../../../etc/passwd HTTP/1.1")),
    HostileClient("a path with NUL", lined(b"GET /%00%0d%0a%1b[2J HTTP/1.1")),
    HostileClient("a path with an escape", lined(b"GET /\x1b]0;owned\x07 HTTP/1.1")),
    HostileClient("a path of 60 kB", lined(b"GET /" + b"a" * 60_000 + b" HTTP/1.1")),
    HostileClient("no host", partial(send, b"GET / HTTP/1.1\r\n\r\n")),
    HostileClient("two hosts", asking(b"host: a", b"content-length: 0")),
    HostileClient("a negative length", asking(b"content-length: -1")),
    HostileClient("a length of 6,000 digits", asking(b"content-length: " + b"9" * 6000)),
    HostileClient("two lengths", asking(b"content-length: 2", b"content-length: 5", body=b"{}")),
    HostileClient(
        "a length and chunks",
        asking(b"content-length: 2", b"transfer-encoding: chunked", body=b"0\r\n\r\n"),
    ),
    HostileClient("a body that never comes", asking(b"content-length: 999999")),
    HostileClient("a body announced", asking(b"content-length: 9", b"expect: 100-continue")),
    HostileClient("another expectation", asking(b"content-length: 2", b"expect: x", body=b"{}")),
    HostileClient("chunks without a size", asking(b"transfer-encoding: chunked", body=b"zz\r\n")),
    HostileClient(
        "a chunk's size of 99 digits", asking(b"transfer-encoding: chunked", body=b"f" * 99)
    ),
    HostileClient(
        "chunks of one byte", asking(b"transfer-encoding: chunked", body=b"1\r\na\r\n" * 200_000)
    ),
    HostileClient("a transfer coding of its own", asking(b"transfer-encoding: gzip", body=b"x")),
    HostileClient("a body of 70 MB", built(lambda: bodied(b" " * 70_000_000))),
    HostileClient("deep JSON", bodied(b"[" * 900_000)),
    HostileClient("a number of 90,000 digits", bodied(b'{"a":' + b"9" * 90_000 + b"}")),
    HostileClient("NaN", bodied(b'{"a":NaN}')),
    HostileClient("half a surrogate pair", bodied(b'{"a":"\\ud800"}')),
    HostileClient("no UTF-8", bodied(b'{"a":"\xff"}')),
    HostileClient(
        "100,000 keys",
        built(lambda: bodied(b"{" + b",".join(b'"k%d":1' % n for n in range(100_000)) + b"}")),
    ),
    HostileClient("a model with an escape", bodied(b'{"model":"\\u001b[2J"}')),
    HostileClient(
        "an upgrade", asking(b"connection: upgrade", b"upgrade: websocket", b"content-length: 0")
    ),
)
