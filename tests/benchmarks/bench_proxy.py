"""The recording proxy: `python tests/benchmarks/bench_proxy.py [rounds]`, from the repository.

What it adds to the first byte, and which part of a direct connection's throughput it passes on.
Server, proxy and client are processes of their own; everything is redacted and recorded.
"""

from __future__ import annotations

import asyncio
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import httpx

from tests.benchmarks import corpora
from tests.benchmarks.rounds import report, rounds, show, taken

ROOT: Final = Path(__file__).resolve().parents[2]
EVENTS: Final = 20_000
ASKED: Final = 200
HEAD: Final = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
)
POST: Final = b"POST %s HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}"
END: Final = b"0\r\n\r\n"


class Flood(asyncio.Protocol):
    """Answers each request with the stream that its path names; one transfer chunk per event."""

    bodies: Final[dict[bytes, list[bytes]]] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._resumed = asyncio.Event()
        self._resumed.set()
        self._tasks: list[asyncio.Task[None]] = []
        self._request = b""

    def data_received(self, data: bytes) -> None:
        self._request += data
        if self._request.endswith(b"{}"):
            path = self._request.split(b" ", 2)[1]
            self._request = b""
            self._tasks = [asyncio.create_task(self._play(self.bodies[path]))]

    def pause_writing(self) -> None:
        self._resumed.clear()

    def resume_writing(self) -> None:
        self._resumed.set()

    async def _play(self, writes: list[bytes]) -> None:
        assert isinstance(self._transport, asyncio.WriteTransport)
        for data in writes:
            self._transport.write(data)
            await self._resumed.wait()


def framed(frames: list[bytes]) -> list[bytes]:
    return [b"%x\r\n%s\r\n" % (len(frame), frame) for frame in frames]


def serve() -> None:
    """The server's process: says its port and stays."""
    wire = framed(corpora.chat(EVENTS))
    merged = [b"".join(wire[at : at + 500]) for at in range(0, len(wire), 500)]
    Flood.bodies[b"/first"] = [HEAD + wire[0] + END]
    Flood.bodies[b"/each"] = [HEAD, *wire, END]
    Flood.bodies[b"/many"] = [HEAD, *merged, END]

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Flood, "127.0.0.1", 0)
        print(f"READY http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)  # noqa: T201
        await server.serve_forever()

    asyncio.run(run())


@contextmanager
def started(*command: str) -> Iterator[str]:
    """A process that says READY and its URL."""
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[1]
    finally:
        process.terminate()
        process.communicate()


def connected(url: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    sock = socket.create_connection((host, int(port)))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def first_bytes(sock: socket.socket) -> float:
    """Seconds until the first byte of a body."""
    got = b""
    began = time.perf_counter()
    sock.sendall(POST % b"/first")
    while b"data:" not in got:
        got += sock.recv(65536)
    ended = time.perf_counter()
    while not got.endswith(END):
        got += sock.recv(65536)
    return ended - began


def added(direct: str, proxied: str, count: int) -> list[float]:
    """Milliseconds that the proxy adds, by round: the difference of medians."""
    socks = [connected(direct), connected(proxied)]
    differences = []
    for _ in range(count):
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(ASKED):
            for sock, into in zip(socks, times, strict=True):
                into.append(first_bytes(sock))
        medians = [statistics.median(each) for each in times]
        differences.append((medians[1] - medians[0]) * 1000)
    for sock in socks:
        sock.close()
    return differences


def raw_client(url: str, path: bytes) -> Callable[[], object]:
    """A client that only counts bytes: nothing is quicker."""

    def run() -> None:
        sock = connected(url)
        sock.sendall(POST % path)
        tail = b""
        while not tail.endswith(END):
            tail = (tail + sock.recv(1 << 18))[-16:]
        sock.close()

    return run


def httpx_client(url: str, path: bytes) -> Callable[[], object]:
    """The client that the official SDKs use."""

    def run() -> None:
        with (
            httpx.Client() as client,
            client.stream("POST", url + path.decode(), content=b"{}") as r,
        ):
            size = sum(len(chunk) for chunk in r.iter_raw())
            if size < EVENTS * 50:
                raise RuntimeError(f"{size} bytes only")

    return run


def main() -> None:
    if sys.argv[1:] == ["serve"]:
        serve()
        return
    count = rounds()
    with (
        tempfile.TemporaryDirectory() as folder,
        started(sys.executable, str(Path(__file__)), "serve") as direct,
        started(
            *(sys.executable, "-m", "conformance", "record", "--proxy", "127.0.0.1:0"),
            *("--upstream", direct, "-o", folder),
        ) as proxied,
    ):
        values = added(direct, proxied, count)
        low, high = min(values), max(values)
        text = f"{statistics.median(values):.2f} ({low:.2f}-{high:.2f})"
        show("first byte: milliseconds added, of medians", f"{text}  goal <= 1")
        for kind, client in (("httpx", httpx_client), ("raw socket", raw_client)):
            for path, writes in ((b"/each", "one event a write"), (b"/many", "500 events a write")):
                candidates = {"direct": client(direct, path), "proxy": client(proxied, path)}
                times = taken(candidates, count)
                goal = ">= 0.5" if kind == "httpx" else "none"
                report(f"throughput, {kind}, {writes}", times, "direct", "proxy", goal)


if __name__ == "__main__":
    main()
