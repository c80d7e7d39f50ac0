"""The reference server against `transformers serve`, over HTTP, same model, same client.

    python tests/benchmarks/bench_server.py ROUNDS PYTHON [MODEL]

PYTHON is an interpreter with `transformers[serving]`. Tokens are those that each server's usage
counts; the first event is the first that carries text, of thinking or of the answer. Processor
time a token is what a server's process used, and hardly depends on what else the machine does.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import httpx

from tests.benchmarks.rounds import rounds, show, spread

ROOT: Final = Path(__file__).resolve().parents[2]
GOALS: Final = {1: 1.2, 16: 8.0}
START_S: Final = 120.0
TEXT: Final = re.compile(rb'"(?:reasoning_content|content)": ?"[^"]')
USED: Final = re.compile(rb'"completion_tokens": ?(\d+)')
START: Final = "import sys; from transformers.cli.transformers import main; sys.exit(main())"


@dataclass(frozen=True, slots=True)
class Server:
    name: str
    url: str
    model: str
    pid: int


@dataclass(frozen=True, slots=True)
class Run:
    """Tokens per second of all streams together, processor seconds a token of the server.

    `first` are the seconds to the first text of each stream.
    """

    rate: float
    spent: float
    first: Sequence[float]


@contextmanager
def started(name: str, command: Sequence[str], url: str, model: str) -> Iterator[Server]:
    """A server process, ready; ended afterwards."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            _await_health(process, url)
            yield Server(name, url, model, process.pid)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _await_health(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url}/health").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise RuntimeError(f"{url} did not answer; exit code {process.poll()}")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


async def run(server: Server, streams: int) -> Run:
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=server.url, timeout=None, limits=limits) as client:
        used, began = processor_seconds(server.pid), time.perf_counter()
        done = await asyncio.gather(*(_stream(client, server, n) for n in range(streams)))
        seconds = time.perf_counter() - began
        used = processor_seconds(server.pid) - used
    tokens = sum(tokens for tokens, _ in done)
    return Run(tokens / seconds, used / tokens, [first for _, first in done])


def processor_seconds(pid: int) -> float:
    """What a process used until now, all its threads together; Linux only."""
    # The name of the program, in brackets, may hold anything.
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:13]) / os.sysconf("SC_CLK_TCK")


async def _stream(client: httpx.AsyncClient, server: Server, number: int) -> tuple[int, float]:
    """Tokens that the server counted, and when the first text came."""
    request = {
        "model": server.model,
        "messages": [{"role": "user", "content": f"Count to {15 + number % 6}"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 256,
        "temperature": 0,
    }
    began = time.perf_counter()
    first, body = 0.0, b""
    async with client.stream("POST", "/v1/chat/completions", json=request) as response:
        async for chunk in response.aiter_raw():
            body += chunk
            if not first and TEXT.search(body):
                first = time.perf_counter() - began
    used = USED.search(body)
    if not response.is_success or not first or used is None:
        raise RuntimeError(f"{server.name}: {response.status_code} {body[-500:]!r}")
    return int(used[1]), first


def compare(own: Server, peer: Server, streams: int, count: int) -> None:
    taken: dict[str, list[Run]] = {own.name: [], peer.name: []}
    for number in range(count + 1):
        for server in (own, peer):
            done = asyncio.run(run(server, streams))
            if number:  # the first round warms both up
                taken[server.name].append(done)
    for name, runs in taken.items():
        rates = [done.rate for done in runs]
        firsts = [1e3 * statistics.median(done.first) for done in runs]
        show(f"  {streams} streams: {name}", f"{spread(rates, 0)} tokens/s")
        show(f"  {streams} streams: {name}, first text", f"{spread(firsts, 1)} ms")
    pairs = list(zip(taken[own.name], taken[peer.name], strict=True))
    faster = [a.rate / b.rate for a, b in pairs]
    sooner = [statistics.median(a.first) / statistics.median(b.first) for a, b in pairs]
    # The clock of processor time is coarse: one run may be too short for it.
    cheaper = sum(b.spent for _, b in pairs) / max(sum(a.spent for a, _ in pairs), 1e-9)
    goal = GOALS[streams]
    show(f"{streams} streams, tokens/s: own / serve", f"{spread(faster)}  goal >= {goal}")
    show(
        f"{streams} streams, processor time a token: serve / own", f"{cheaper:.2f}  goal >= {goal}"
    )
    show(f"{streams} streams, first text: own / serve", f"{spread(sooner)}  goal <= 1")


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    count, python = rounds(), sys.argv[2]
    folder = Path(sys.argv[3] if len(sys.argv) > 3 else ROOT / "reference_impl/model/weights")
    model = str(folder.resolve())
    mine, theirs = str(free_port()), str(free_port())
    own = [sys.executable, "-m", "reference_impl.server", "--port", mine, "--model", model]
    own += ["--model-name", model, "--chat-reasoning", "reasoning_content"]
    serve = [python, "-c", START, "serve", model, "--device", "cpu", "--port", theirs]
    with (
        started("own", own, f"http://127.0.0.1:{mine}", model) as one,
        started("serve", serve, f"http://127.0.0.1:{theirs}", model) as other,
    ):
        for streams in GOALS:
            compare(one, other, streams, count)


if __name__ == "__main__":
    main()
