"""Speed of the SSE parser: `python tests/benchmarks/bench_sse.py [rounds]`, from the repository.

Candidates take turns in every round, and ratios are taken round by round: machines drift, rounds
less so. Reported are medians with the smallest and the largest. Peers that are not installed are
left out (`pip install httpx-sse httpx`).
"""

from __future__ import annotations

import importlib
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from conformance.core.sse import Parser

Chunks = list[bytes]
Candidate = Callable[[Chunks], int]

WORDS = ("so", " the", " answer", " is", ' "quoted"', "\n\n", " na\u00efve", " 12", " \u8c46\u8150")
EVENTS = 20_000


def words(seed: int) -> Iterator[str]:
    source = random.Random(seed)
    while True:
        yield source.choices(WORDS, weights=(9, 9, 9, 9, 1, 1, 1, 9, 1))[0]


def event(payload: dict[str, Any], name: str = "") -> str:
    line = f"data: {json.dumps(payload, ensure_ascii=False)}\n\n"
    return f"event: {name}\n{line}" if name else line


def chat() -> bytes:
    """Chat Completions: data lines only, about 300 bytes each."""
    token = words(1)
    head = {"id": "chatcmpl-" + "x" * 29, "object": "chat.completion.chunk", "created": 1}
    return "".join(
        event(
            {
                **head,
                "model": "m-2026-01-01",
                "system_fingerprint": "fp_0123456789",
                "choices": [
                    {
                        "index": 0,
                        "delta": {"content": next(token), "obfuscation": "y" * (i % 16)},
                        "logprobs": None,
                        "finish_reason": None,
                    }
                ],
            }
        )
        for i in range(EVENTS)
    ).encode()


def responses() -> bytes:
    """Responses: an event line and a data line, about 290 bytes."""
    token = words(2)
    name = "response.reasoning_summary_text.delta"
    return "".join(
        event(
            {
                "type": name,
                "sequence_number": i,
                "item_id": "rs_" + "0" * 50,
                "output_index": 0,
                "summary_index": 0,
                "delta": next(token),
                "obfuscation": "z" * (i % 16),
            },
            name,
        )
        for i in range(EVENTS)
    ).encode()


def messages() -> bytes:
    """Messages: short events with a name."""
    token = words(3)
    name = "content_block_delta"
    return "".join(
        event(
            {
                "type": name,
                "index": 0,
                "delta": {"type": "thinking_delta", "thinking": next(token)},
            },
            name,
        )
        for _ in range(EVENTS)
    ).encode()


def cut(stream: bytes, low: int, high: int) -> Chunks:
    source, chunks, start = random.Random(4), [], 0
    while start < len(stream):
        size = source.randint(low, high)
        chunks.append(stream[start : start + size])
        start += size
    return chunks


def ours(chunks: Chunks) -> int:
    parser = Parser()
    return sum(len(parser.feed(chunk)) for chunk in chunks) + len(parser.close())


def peers() -> dict[str, Candidate]:
    try:
        httpx = importlib.import_module("httpx")
        httpx_sse = importlib.import_module("httpx_sse")
    except ImportError:
        return {}

    def read(chunks: Chunks) -> int:
        body = {"__iter__": lambda _: iter(chunks)}
        stream = type("Chunked", (httpx.SyncByteStream,), body)()
        headers = {"content-type": "text/event-stream"}
        response = httpx.Response(200, headers=headers, stream=stream)
        return sum(1 for _ in httpx_sse.EventSource(response).iter_sse())

    return {"httpx-sse": read, **decoders()}


def decoders() -> dict[str, Candidate]:
    """What the official SDKs take streams apart with, alone."""
    found: dict[str, Candidate] = {}
    for sdk in ("openai", "anthropic"):
        try:
            decoder = importlib.import_module(f"{sdk}._streaming").SSEDecoder
        except ImportError:
            continue
        found[sdk] = lambda chunks, d=decoder: sum(1 for _ in d().iter_bytes(iter(chunks)))  # type: ignore[misc]
    return found


def seconds(candidate: Candidate, chunks: Chunks) -> float:
    began = time.process_time()
    candidate(chunks)
    return time.process_time() - began


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):6.2f} ({min(values):.2f}-{max(values):.2f})"


def compare(title: str, chunks: Chunks, rounds: int) -> None:
    candidates = {"ours": ours, **peers()}
    events = ours(chunks)
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, candidate in candidates.items():
            times[name].append(seconds(candidate, chunks))
    for name, taken in times.items():
        ratios = [other / own for other, own in zip(taken, times["ours"], strict=True)]
        each = statistics.median(taken) / events * 1e6
        sys.stdout.write(f"{title:<24}{name:<18}{each:8.3f} us/event   x{spread(ratios)}\n")


def growth(shape: str, make: Callable[[int], bytes], rounds: int) -> None:
    """One event of 8 MB against one of 4 MB, in 1 KB chunks: 2 is linear, 4 is quadratic."""
    small, large = (cut(make(megabytes << 20), 1024, 1024) for megabytes in (4, 8))
    ratios = []
    for _ in range(rounds):
        short = seconds(ours, small)
        ratios.append(seconds(ours, large) / short)
    sys.stdout.write(f"8 MB / 4 MB, {shape:<26}x{spread(ratios)}\n")


SHAPES: dict[str, Callable[[int], bytes]] = {
    "one data line": lambda size: b"data: " + b"x" * size + b"\n\n",
    "one data line, CR LF": lambda size: b"data: " + b"x" * size + b"\r\n\r\n",
    "not ASCII": lambda size: b"data: " + "\u8c46".encode() * (size // 3) + b"\n\n",
    "many data lines": lambda size: b"data: line\n" * (size // 11) + b"\n",
    "many data lines, CR": lambda size: b"data: line\r" * (size // 11) + b"\r",
    "never ends": lambda size: b"data: " + b"x" * size,
}


def main(rounds: int) -> None:
    for corpus in (chat, responses, messages):
        stream = corpus()
        compare(f"{corpus.__name__} 1-4 KB", cut(stream, 1024, 4096), rounds)
        compare(f"{corpus.__name__} 16 bytes", cut(stream[: 1 << 20], 16, 16), rounds)
        crlf = stream.replace(b"\n", b"\r\n")
        compare(f"{corpus.__name__} CRLF 1-4 KB", cut(crlf, 1024, 4096), rounds)
    for shape, make in SHAPES.items():
        growth(shape, make, rounds)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
