"""Speed of the replay server: `python tests/benchmarks/bench_replay.py [rounds]`.

Against uvicorn with starlette, which streams the same 60 events: both are processes of their own,
and one client, on plain sockets, asks them in turns. Every answer must have all chunk cuts. Needs
the extra `reference`.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from conformance.cassette import Cassette, CassetteClock, Header, write
from conformance.core.events import Chunk, Exchange, Request, Response
from tests.benchmarks.rounds import Candidate, report, rounds, show, spread, taken

ROOT: Final = Path(__file__).resolve().parents[2]
MOCK: Final = str(Path(__file__).with_name("starlette_mock.py"))
EVENTS: Final = 60
REQUESTS: Final = 400
CLIENTS: Final = 8
BODY: Final = {"model": "m", "messages": [{"role": "user", "content": "Why?"}], "stream": True}
SENT: Final = b'{"model":"m","messages":[{"role":"user","content":"Why?"}],"stream":true}'
END: Final = b"\r\n0\r\n\r\n"


def chunks() -> tuple[bytes, ...]:
    """One event each, about 250 bytes."""
    head = '{"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1795176000'
    delta = '{"index":0,"delta":{"reasoning_content":" word %d"},"finish_reason":null}'
    events = (f'data: {head},"model":"m","choices":[{delta % i}]}}\n\n' for i in range(EVENTS - 1))
    return (*(event.encode() for event in events), b"data: [DONE]\n\n")


def write_cassette(path: Path) -> None:
    request = Request("POST", "/v1/chat/completions", (), BODY)
    response = Response(200, "1.1", (("content-type", "text/event-stream"),))
    body = tuple(Chunk(data, 1.0) for data in chunks())
    exchange = Exchange(request=request, response=response, chunks=body)
    write(path, Cassette(Header(), (exchange,), {1: CassetteClock(1.0, 1.0)}))


@contextmanager
def running(*command: str, port_file: Path) -> Iterator[tuple[int, int]]:
    """The port of a server process, once it has written it down, and its process id."""
    with subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, stdout=subprocess.DEVNULL
    ) as server:
        try:
            while not (port_file.exists() and port_file.read_text(encoding="utf-8").strip()):
                if server.poll() is not None:
                    raise RuntimeError(f"{command} ended with {server.returncode}")
                select.select([], [], [], 0.02)
            yield int(port_file.read_text(encoding="utf-8")), server.pid
        finally:
            server.terminate()


def connections(port: int) -> list[socket.socket]:
    return [socket.create_connection(("127.0.0.1", port)) for _ in range(CLIENTS)]


def asked() -> bytes:
    lines = ("POST /v1/chat/completions HTTP/1.1", "host: 127.0.0.1", "accept: */*")
    typed = ("content-type: application/json", f"content-length: {len(SENT)}", "", "")
    return "\r\n".join((*lines, *typed)).encode() + SENT


def answer_of(connection: socket.socket) -> bytes:
    received = bytearray()
    while not received.endswith(END):
        data = connection.recv(65536)
        if not data:
            raise RuntimeError(f"the server closed the connection: {bytes(received[-200:])!r}")
        received += data
    return bytes(received)


def cpu_s(pid: int) -> float:
    """Processor time of a process so far, in seconds, from Linux's /proc."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def asking(port: int, pid: int, used: list[float]) -> Candidate:
    """All clients ask, then all read, until every request is answered.

    What the server used of its processor is added to `used`: that holds on a busy machine, too.
    """
    clients, request, size = connections(port), asked(), checked(port)

    def ask() -> None:
        before = cpu_s(pid)
        for _ in range(REQUESTS // CLIENTS):
            for client in clients:
                client.sendall(request)
            for client in clients:
                # Waiting in the kernel: with a read for each chunk, the client would be measured.
                if not client.recv(size, socket.MSG_WAITALL).endswith(END):
                    raise RuntimeError("the answer did not end where the first one did")
        used.append(cpu_s(pid) - before)

    return ask


def checked(port: int) -> int:
    """The size of an answer, once every recorded chunk was found to be one transfer chunk."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(asked())
        answer = answer_of(client)
        _, _, body = answer.partition(b"\r\n\r\n")
    framed = b"".join(b"%x\r\n%b\r\n" % (len(data), data) for data in chunks())
    if body != framed + b"0\r\n\r\n":
        raise RuntimeError(f"the chunks differ: {body[:300]!r}")
    return len(answer)


def main() -> None:
    used: dict[str, list[float]] = {"conformance serve": [], "uvicorn": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cassette = folder / "sixty.cassette.jsonl"
        write_cassette(cassette)
        body = folder / "sixty.sse"
        body.write_bytes(b"".join(chunks()))
        ours, theirs = folder / "ours", folder / "theirs"
        serve = ("-m", "conformance", "serve", str(cassette), "--repeat", "-q", "--port-file")
        with (
            running(*serve, str(ours), port_file=ours) as server,
            running(MOCK, str(theirs), str(body), port_file=theirs) as other,
        ):
            candidates = {
                "conformance serve": asking(*server, used["conformance serve"]),
                "uvicorn": asking(*other, used["uvicorn"]),
            }
            for what, candidate in candidates.items():
                candidate()
                used[what].clear()
            times = taken(candidates, rounds())
    report(f"{EVENTS} events", times, "uvicorn", "conformance serve", ">= 2")
    report(f"{EVENTS} events, processor", used, "uvicorn", "conformance serve", "none set")
    for what, values in times.items():
        show(f"  {what}", f"{spread([REQUESTS / v for v in values], 0)} requests/s")


if __name__ == "__main__":
    main()
