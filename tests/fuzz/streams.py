"""Fuzzing: `python -m tests.fuzz.streams [--minutes M] [--runs N] [--seed S]`, see `make fuzz`.

Recorded and generated streams are mutated, cut anew and judged both ways. An outcome that differs,
an exception, a stream that takes too long and memory that grows end the run; it prints the seed
and the least input that still shows it. Recordings are the shipped cassettes and, if it is set, the
folder named by $CONFORMANCE_CAPTURES.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

from conformance.cassette import open_recording
from conformance.core.errors import ConformanceError
from conformance.core.events import Chunk, Ending
from conformance.core.shipped import cassettes
from conformance.dialects.recognition import recognised_dialect
from conformance.judging.view import JudgeSetting
from tests.fuzz.both import difference, fast, slow, usual
from tests.fuzz.cutting import cut
from tests.fuzz.dialogues import PROFILES
from tests.fuzz.generated import generated
from tests.fuzz.reduction import reduced
from tests.fuzz.user_rules import IDS, shipped_setting, user_setting

SECONDS: Final = 20  # of processor time for one stream, both ways; more is a hang
GROWTH: Final = 400  # MB that the process may grow by
LARGEST: Final = 200_000  # bytes of a stream that is mutated
ENDS: Final[tuple[Ending, ...]] = ("eof", "eof", "eof", "reset", "open")
TOKENS: Final = (
    *(b"\n", b"\r", b"\r\n", b"\n\n", b'"', b"\\", b",", b"{", b"}", b" ", b"\t", b"\xff", b"\x00"),
    *(b"data: ", b"event: x\n", b": c\n", b"id: 1\n", b"\xef\xbb\xbf", b"\\ud800", b"null", b"1e3"),
    *(b"</think>", b"data: [DONE]\n\n", b'"delta":"x",', b'"sequence_number":1,'),
)

Source = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class Case:
    """One stream, how it is cut, and by which rules it is judged."""

    dialect: str
    rule: str
    chunks: tuple[Chunk, ...]
    end: Ending

    @property
    def setting(self) -> JudgeSetting:
        if self.rule == "shipped":
            return shipped_setting(self.dialect)
        return user_setting(self.dialect, self.rule)


def recorded() -> list[Source]:
    """Dialect and bytes of every recorded stream."""
    folders = [cassettes(), Path(os.environ.get("CONFORMANCE_CAPTURES", ""))]
    found: list[Source] = []
    for folder in folders if folders[1].name else folders[:1]:
        for path in sorted(p for p in folder.rglob("*") if p.suffix in (".jsonl", ".sse")):
            found.extend(_streams(path))
    return found


def _streams(path: Path) -> Iterator[Source]:
    try:
        exchanges = open_recording(path).exchanges
    except ConformanceError:
        return
    for exchange in exchanges:
        data = exchange.body
        dialect = recognised_dialect(exchange) or ""
        if dialect in PROFILES and 0 < len(data) <= LARGEST:
            yield dialect, data


def mutated(data: bytes, sources: list[Source], source: Random) -> bytes:
    """A few edits of bytes, or of frames."""
    found = bytearray(data)
    for _ in range(source.choice((0, 1, 1, 2, 4, 9))):
        at = source.randrange(len(found) + 1)
        source.choice(EDITS)(found, at, sources, source)
    return bytes(found)


Edit = Callable[[bytearray, int, list[Source], Random], None]


def _flip(data: bytearray, at: int, _: list[Source], source: Random) -> None:
    if at < len(data):
        data[at] ^= 1 << source.randrange(8)


def _insert(data: bytearray, at: int, _: list[Source], source: Random) -> None:
    data[at:at] = source.choice(TOKENS)


def _delete(data: bytearray, at: int, _: list[Source], source: Random) -> None:
    del data[at : at + source.choice((1, 2, 30, 500))]


def _truncate(data: bytearray, at: int, _: list[Source], source: Random) -> None:
    if source.random() < 0.3:
        del data[at:]


def _splice(data: bytearray, at: int, sources: list[Source], source: Random) -> None:
    """Frames of another stream in the middle of this one."""
    other = source.choice(sources)[1]
    begin = source.randrange(len(other))
    data[at:at] = other[begin : begin + source.choice((20, 400, 3000))]


def _repeat(data: bytearray, at: int, _: list[Source], source: Random) -> None:
    """One frame many times: a run where there was none."""
    begin = data.rfind(b"\n\n", 0, at) + 2
    end = data.find(b"\n\n", at) + 2
    if 2 <= begin < end and end - begin < 4096:
        data[end:end] = data[begin:end] * source.choice((1, 3, 20, 60))


EDITS: Final[tuple[Edit, ...]] = (_flip, _insert, _delete, _truncate, _splice, _repeat, _repeat)


def drawn(seed: int, sources: list[Source]) -> Case:
    """The case of a seed."""
    source = Random(seed)
    dialect, data = generated(source) if source.random() < 0.5 else source.choice(sources)
    data = mutated(data, sources, source)
    rule = source.choice((*IDS, *["shipped"] * 12))
    chunks = cut(data, source, clock=source.random() < 0.4)
    return Case(dialect, rule, tuple(chunks), source.choice(ENDS))


class OvertimeError(BaseException):
    """It took too long; nothing under test may catch this and go on."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raises OvertimeError in what takes more processor time."""

    def ring(*_: Any) -> None:
        raise OvertimeError(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def flaw(case: Case) -> str:
    """What is wrong with the outcome of a case; empty if nothing is."""
    try:
        with limited(SECONDS):
            wanted = slow(case.setting, case.chunks, case.end)
            for way in (fast, usual):
                where = difference(wanted, way(case.setting, case.chunks, case.end))
                if where:
                    return f"{way.__name__} differs: {where}"
    except (Exception, OvertimeError):  # noqa: BLE001  # whatever it is, it is what we look for
        return traceback.format_exc(limit=-3)
    return ""


def resident() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def show(seed: int, case: Case, found: str) -> None:
    """The seed, what is wrong, and the least input that shows it."""
    kind = found.split(":", maxsplit=1)[0]
    least = reduced(case.chunks, lambda chunks: _same(case, chunks, kind))
    sys.stdout.write(f"\nseed {seed}: {case.dialect}, rules {case.rule}, end {case.end}\n{found}\n")
    sys.stdout.write("least input, chunk by chunk:\n")
    for chunk in least:
        sys.stdout.write(f"  {chunk.ms} {chunk.data!r}\n")
    sys.stdout.flush()


def _same(case: Case, chunks: tuple[Chunk, ...], kind: str) -> bool:
    return flaw(Case(case.dialect, case.rule, chunks, case.end)).split(":")[0] == kind


def main(argv: list[str]) -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--minutes", type=float, default=10.0)
    asked.add_argument("--runs", type=int, default=10**9)
    asked.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    asked.add_argument("--flaws", type=int, default=1, help="go on until so many were found")
    given = asked.parse_args(argv)
    sources = recorded()
    sys.stdout.write(f"first seed {given.seed}, {len(sources)} recorded streams\n")
    until, counts, grown = time.monotonic() + 60 * given.minutes, Counter[str](), 0.0
    for seed in range(given.seed, given.seed + given.runs):
        case = drawn(seed, sources)
        flaw_found = flaw(case)
        counts["runs"] += 1
        counts["bytes"] += sum(len(chunk.data) for chunk in case.chunks)
        if counts["runs"] == 200:
            grown = resident()  # rules are compiled by now
        if flaw_found:
            counts["flaws"] += 1
            show(seed, case, flaw_found)
        if grown and resident() - grown > GROWTH:
            sys.stdout.write(f"seed {seed}: memory grew from {grown:.0f} to {resident():.0f} MB\n")
            return 1
        if counts["flaws"] >= given.flaws or time.monotonic() > until:
            break
    growth = resident() - grown if grown else 0.0
    sys.stdout.write(
        f"{counts['runs']} runs, {counts['bytes'] / 1e6:.0f} MB, {counts['flaws']} flaws, "
        f"memory +{growth:.0f} MB\n"
    )
    return 1 if counts["flaws"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
