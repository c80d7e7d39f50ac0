"""The recording proxy under load: `python tests/benchmarks/bench_relay_load.py [seconds]`.

200 streams of 20 events a second each through the recorder and 40 directly, begun in turns in the
same seconds, so that both meet the same machine. Time to first byte, and every byte, is compared.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from msgspec import Struct, field

from tests.benchmarks.bench_proxy import END, HEAD, POST, framed, started
from tests.benchmarks.corpora import chat
from tests.benchmarks.rounds import show

STREAMS: Final = 200
DIRECT: Final = 40  # beside them
RATE: Final = 20  # events a second
EVENTS: Final = 100  # of one stream: it takes five seconds
SECONDS: Final = 20.0
HOSTILE: Final = b"/hostile"


def wires() -> dict[bytes, list[bytes]]:
    """What the server writes, by path: the head with the first event, then event by event."""
    steady = framed(chat(EVENTS))
    choices = b",".join(
        b'{"index":%d,"delta":{"content":"sk-%s"}}' % (n, b"Ab1" * 8) for n in range(64)
    )
    hostile = framed([b'data: {"choices":[%s]}\n\n' % choices] * EVENTS)
    return {b"/steady": steady, HOSTILE: hostile}


class PacedServer(asyncio.Protocol):
    """Answers with the stream that the path names, at its pace; `pause` seconds between events."""

    bodies: Final = wires()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._request = b""

    def data_received(self, data: bytes) -> None:
        self._request += data
        if self._request.endswith(b"{}"):
            path = self._request.split(b" ", 2)[1]
            self._request = b""
            body = self.bodies[path]
            self._transport.write(HEAD + body[0])
            self._begun = time.monotonic()
            self._write_later(body, 1)

    def _write_later(self, body: list[bytes], number: int) -> None:
        loop = asyncio.get_running_loop()
        loop.call_at(self._begun + number / RATE, self._write_next, body, number)

    def _write_next(self, body: list[bytes], number: int) -> None:
        if number < len(body):
            self._transport.write(body[number])
            self._write_later(body, number + 1)
        else:
            self._transport.write(END)


def serve() -> None:
    """The server's process: says its port and stays."""

    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(PacedServer, "127.0.0.1", 0, backlog=1024)
        print(f"READY http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)  # noqa: T201
        await server.serve_forever()

    asyncio.run(run())


class Measured(Struct):
    """What the clients of one side saw: milliseconds to the first byte, and streams that differ."""

    first: list[float] = field(default_factory=list)
    streams: int = 0
    wrong: int = 0


class StreamClient(asyncio.Protocol):
    """One stream: asks, notes when the body begins, and compares the bytes behind the head."""

    def __init__(self, path: bytes, expected: bytes) -> None:
        self._path = path
        self._expected = expected
        self._got: list[bytes] = []
        self._tail = b""
        self.first = 0.0
        self.ended: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._begun = time.perf_counter()
        transport.write(POST % self._path)

    def data_received(self, data: bytes) -> None:
        self._got.append(data)
        if not self.first and (b"data:" in data or len(self._got) > 1):
            self.first = (time.perf_counter() - self._begun) * 1000
        self._tail = (self._tail + data)[-len(END) :]
        if self._tail == END:
            body = b"".join(self._got).partition(b"\r\n\r\n")[2]
            self._end(is_right=body == self._expected)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._end(is_right=False)

    def _end(self, *, is_right: bool) -> None:
        if not self.ended.done():
            self.ended.set_result(is_right)
            self._transport.abort()


async def keep_streaming(url: str, path: bytes, until: float, into: Measured) -> None:
    """One stream after the other until the time is over."""
    host, port = url.removeprefix("http://").split(":")
    expected = b"".join(PacedServer.bodies[path]) + END
    loop = asyncio.get_running_loop()
    while time.monotonic() < until:
        _, client = await loop.create_connection(
            lambda: StreamClient(path, expected), host, int(port)
        )
        right = await client.ended
        into.streams += 1
        into.wrong += not right
        into.first.append(client.first)


async def measure(urls: dict[str, str], seconds: float, *, hostile: bool) -> dict[str, Measured]:
    """All streams are recorded, some more go directly; they begin evenly spread."""
    sides = {name: Measured() for name in urls}
    until = time.monotonic() + seconds
    tasks = []
    if hostile:
        tasks.append(
            asyncio.create_task(keep_streaming(urls["recorded"], HOSTILE, until, Measured()))
        )
    for number in range(STREAMS + DIRECT):
        name = "direct" if number % (1 + STREAMS // DIRECT) == 0 else "recorded"
        job = keep_streaming(urls[name], b"/steady", until, sides[name])
        tasks.append(asyncio.create_task(job))
        await asyncio.sleep(EVENTS / RATE / (STREAMS + DIRECT))
    await asyncio.gather(*tasks)
    return sides


def centile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def print_sides(title: str, sides: dict[str, Measured]) -> None:
    direct, recorded = sides["direct"], sides["recorded"]
    for name, side in sides.items():
        facts = f"{side.streams} streams, {side.wrong} with wrong bytes"
        times = f"median {statistics.median(side.first):.2f}, p99 {centile(side.first, 0.99):.2f}"
        show(f"{title}, {name}", f"{facts}; first byte, ms: {times}")
    added = statistics.median(recorded.first) - statistics.median(direct.first)
    late = centile(recorded.first, 0.99) - centile(direct.first, 0.99)
    show(f"{title}, added", f"median {added:.2f} ms (goal <= 1), p99 {late:.2f} ms (goal <= 5)")


def main() -> None:
    if sys.argv[1:] == ["serve"]:
        serve()
        return
    seconds = float(sys.argv[1]) if sys.argv[1:] else SECONDS
    with (
        tempfile.TemporaryDirectory() as folder,
        started(sys.executable, str(Path(__file__)), "serve") as direct,
        started(
            *(sys.executable, "-m", "conformance", "record", "--proxy", "127.0.0.1:0"),
            *("--upstream", direct, "-o", folder),
        ) as recorded,
    ):
        urls = {"direct": direct, "recorded": recorded}
        for title, hostile in ((f"{STREAMS} streams", False), ("and a hostile one", True)):
            print_sides(title, asyncio.run(measure(urls, seconds, hostile=hostile)))


if __name__ == "__main__":
    main()
