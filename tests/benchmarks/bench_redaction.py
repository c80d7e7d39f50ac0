"""What redaction costs who records: `python tests/benchmarks/bench_redaction.py [rounds]`.

One Chat stream without a secret in its answer is written as a recorder writes it, redacted and not,
with one event in a chunk and with 50. Processor time of one process, the relay left out; both take
turns, reported is the ratio with the smallest and the largest. No more than half slower is the aim.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from conformance.cassette import BodyRedactor, Header, Redactor, Writer
from conformance.core.events import Chunk, Request, Response
from tests.benchmarks.rounds import ratios, rounds, spread, taken

EVENTS: Final = 2000
_AT_ONCE: Final = 16  # chunks that one read may give
_REQUEST: Final = Request(
    "POST",
    "/v1/chat/completions",
    (("authorization", "Bearer sk-abcdefghijklmnop1234"),),
    {"model": "m"},
)
_RESPONSE: Final = Response(200, "1.1", (("content-type", "text/event-stream"),))


def event(number: int) -> bytes:
    choice = {"index": 0, "delta": {"content": f" word{number % 97}"}, "finish_reason": None}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n".encode()


def record(folder: Path, chunks: list[Chunk], *, redacts: bool) -> None:
    """Writes one stream as a recorder does."""
    path = folder / f"{time.monotonic_ns()}.cassette.jsonl"
    with Writer(path, Header(), append=True) as writer:
        redactor = Redactor()
        writer.request(redactor.request(_REQUEST) if redacts else _REQUEST)
        writer.response(redactor.response(_RESPONSE) if redacts else _RESPONSE)
        body = BodyRedactor(redactor, _RESPONSE)
        for at in range(0, len(chunks), _AT_ONCE):
            came = chunks[at : at + _AT_ONCE]
            for chunk in body.feed_all(came) if redacts else came:
                writer.chunk(chunk.data, ms=chunk.ms, flush=False)
        for chunk in body.close() if redacts else ():
            writer.chunk(chunk.data, ms=chunk.ms, flush=False)
        writer.end("eof")


def main() -> None:
    events = list(map(event, range(EVENTS)))
    for size in (1, 50):
        chunks = [Chunk(b"".join(events[at : at + size]), 1.0) for at in range(0, EVENTS, size)]
        with tempfile.TemporaryDirectory() as folder:
            candidates = {
                name: partial(record, Path(folder), chunks, redacts=name == "redacted")
                for name in ("redacted", "plain")
            }
            times = taken(candidates, rounds(), time.process_time)
        ratio = spread(ratios(times, "redacted", "plain"))
        sys.stdout.write(f"{size} events a chunk: {ratio} times the processor time\n")


if __name__ == "__main__":
    main()
