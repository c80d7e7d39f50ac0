"""A long live answer: `python tests/benchmarks/bench_run.py [rounds [megabytes]]`.

A server sends one answer of Chat Completions in events of 69 bytes, which break three rules.
`conformance run` asks for it and judges it, httpx-sse with `json.loads` reads it and judges
nothing; both are processes, and what is measured is their processor time.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks import corpora
from tests.benchmarks.rounds import children, process, report, rounds, show, spread, taken

ROOT: Final = str(Path(__file__).resolve().parents[2])
MEGABYTES: Final = 20
BODY: Final = {"model": "m", "messages": [{"role": "user", "content": "Go on."}], "stream": True}
READER: Final = """import json, sys
import httpx, httpx_sse

with httpx.stream("POST", sys.argv[1], json=json.loads(sys.argv[2]), timeout=600) as response:
    for event in httpx_sse.EventSource(response).iter_sse():
        if event.data != "[DONE]":
            json.loads(event.data)
"""


def chunk(delta: corpora.Fields, reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, **({"finish_reason": reason} if reason else {})}
    return corpora.encoded({"id": "c", "choices": [choice]})


def writes(size: int) -> Iterator[bytes]:
    """The answer, many events a write."""
    yield chunk({"role": "assistant", "content": ""})
    word = chunk({"content": " and"})
    several = word * (1 + 8192 // len(word))
    for _ in range(size // len(several)):
        yield several
    yield chunk({}, "stop") + b"data: [DONE]\n\n"


def handler(size: int) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:  # the library's name
            body = json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]}).encode()
            self._head("application/json", ("content-length", str(len(body))))
            self.wfile.write(body)

        def do_POST(self) -> None:  # the library's name
            self.rfile.read(int(self.headers["content-length"]))
            self._head("text/event-stream", ("transfer-encoding", "chunked"))
            for data in writes(size):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            self.wfile.write(b"0\r\n\r\n")

        def _head(self, kind: str, length: tuple[str, str]) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header(*length)
            self.end_headers()

    return Handler


@contextmanager
def serving(size: int) -> Iterator[str]:
    """The URL of a server of answers of that many bytes."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(size))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    megabytes = float(sys.argv[2]) if len(sys.argv) > 2 else MEGABYTES
    count = min(rounds(), 3)
    python = sys.executable
    with serving(int(megabytes * 1e6)) as url, tempfile.TemporaryDirectory() as name:
        body = Path(name) / "request.json"
        body.write_text(json.dumps(BODY), encoding="utf-8")
        asked = ("--url", url, "--api", "chat", "--model", "m", "--request", str(body))
        run = (python, "-m", "conformance", "run", *asked, "--profile", "strict")
        reader = (python, "-c", READER, f"{url}/v1/chat/completions", json.dumps(BODY))
        times = taken(
            {
                "conformance run": process(*run, cwd=ROOT, code=1),
                "httpx-sse": process(*reader, cwd=ROOT),
            },
            count,
            children,
        )
    title = f"{megabytes:g} MB in events of {len(chunk({'content': ' and'}))} bytes"
    report(title, times, "conformance run", "httpx-sse", "none set")
    show(title, f"{spread(times['conformance run'], 1)} s  goal 10")


if __name__ == "__main__":
    main()
