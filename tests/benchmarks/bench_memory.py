"""Memory of a long check: `python tests/benchmarks/bench_memory.py [megabytes]`.

Streams are made on the fly and checked as they come; reported is how far the process grows from
the first ten megabytes on. Each stream has a process of its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import conformance
from tests.benchmarks import corpora
from tests.benchmarks.rounds import show

MEGABYTE: Final = 1 << 20
WARM: Final = 10 * MEGABYTE
BATCH: Final = 8192


def resident() -> float:
    """The largest resident set so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def chat() -> Iterator[bytes]:
    """An answer that does not end."""
    yield corpora.chat_chunk({"role": "assistant", "content": ""})
    batch = corpora.cut(b"".join(corpora.chat_deltas(BATCH, "content", Random(5))), 2048, 2048)
    while True:
        yield from batch


def responses() -> Iterator[bytes]:
    """A summary part that does not end; its text is kept, up to a cap, to compare it later."""
    opening = corpora.responses(200, parts=1)[:5]
    delta, number = opening[-1], 4
    yield b"".join(opening)
    before, after = delta.split(b'"sequence_number":4,')
    while True:
        numbers = range(number + 1, number + 65)
        number += 64
        yield b"".join(b'%s"sequence_number":%d,%s' % (before, n, after) for n in numbers)


STREAMS: Final[dict[str, tuple[Callable[[], Iterator[bytes]], str]]] = {
    "chat": (chat, "openai.chat"),
    "responses": (responses, "openai.responses"),
}


def measured(stream: Iterator[bytes], size: int, marks: dict[int, float]) -> Iterator[bytes]:
    """The first `size` bytes; notes the resident set where they pass a mark."""
    sent = 0
    for piece in stream:
        yield piece
        sent += len(piece)
        for mark, seen in marks.items():
            if not seen and sent >= mark:
                marks[mark] = resident()
        if sent >= size:
            return


def grow(name: str, megabytes: int) -> None:
    make, dialect = STREAMS[name]
    size = megabytes * MEGABYTE
    marks = dict.fromkeys((WARM, size // 2), 0.0)
    found = conformance.check_chunks(
        measured(make(), size, marks), dialect=dialect, profile="openai"
    )
    end = resident()
    errors = sorted(rule for rule, verdict in found.verdicts.items() if verdict.name == "ERROR")
    show(f"{name}, {megabytes} MB: from 10 MB on", f"+{end - marks[WARM]:.1f} MB  goal <= 8")
    show(f"{name}: of this in the second half", f"+{end - marks[size // 2]:.1f} MB")
    show(f"{name}: rules that met a cap", ", ".join(errors) or "none")


def main() -> None:
    megabytes = sys.argv[1] if len(sys.argv) > 1 else "500"
    if len(sys.argv) > 2:
        grow(sys.argv[2], int(megabytes))
        return
    for name in STREAMS:
        subprocess.run([sys.executable, __file__, megabytes, name], check=True)


if __name__ == "__main__":
    main()
