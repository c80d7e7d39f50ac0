"""Speed on streams as people have them: `python -m tests.benchmarks.bench_real [options]`.

`-m tests.benchmarks.bench_real corpus --of Checker --rounds 3` takes some ten seconds.

Sections: `corpus` (drawn from shipped recordings, by dialect and length), `captured` (the same of
recordings below `$CONFORMANCE_CAPTURES`), `fixed` (what a stream costs that holds nothing), `long`
(100,000 alike events) and `escaped` (the same with a quarter of the tokens holding escapes and
other scripts, and spaces in the JSON). All against frames and JSON read by httpx-sse and
`json.loads`, which check nothing.
The first two write tables: ratios of processor time, medians with the smallest and the largest.
`--profile` shows where the time of the first candidate of ours goes, function by function.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import conformance
from tests.benchmarks import corpora, peers
from tests.benchmarks.real_streams import DIALECTS, LENGTHS, SHARES, RealStream, captured, drawn
from tests.benchmarks.rounds import Times, each, ratios, show, spread, taken

Judge = Callable[[RealStream], object]

BARE: Final = "httpx-sse"
HELD: Final = "Checker"
CALLED: Final = "check_chunks"
LONG_GOALS: Final = {
    "openai.responses": 0.35,
    "openai.chat": 0.3,
    "anthropic.messages": 0.21,
    "ollama.chat": "none set",
}
REPEATED: Final = 100  # streams that hold nothing, judged one after another


@cache
def checker(dialect: str, profile: str | None) -> conformance.Checker:
    return conformance.Checker(dialect, profile)


def held(stream: RealStream) -> object:
    """Rules and profile were made once; nothing is known but the bytes."""
    return checker(stream.dialect, stream.profile).check(stream.chunks)


def asked(stream: RealStream) -> object:
    """The same where request and response head were recorded."""
    held_checker = checker(stream.dialect, stream.profile)
    return held_checker.check(stream.chunks, request=stream.request, response=stream.response)


def called(stream: RealStream) -> object:
    """The public call, once for every stream."""
    return conformance.check_chunks(stream.chunks, dialect=stream.dialect, profile=stream.profile)


OURS: Final[dict[str, Judge]] = {HELD: held, "asked": asked, CALLED: called}


def all_of(read: Judge, streams: Sequence[RealStream]) -> Callable[[], None]:
    def run() -> None:
        for stream in streams:
            read(stream)

    return run


def bare(stream: RealStream) -> object:
    return peers.bare(list(stream.chunks))


def measured(options: argparse.Namespace, streams: Sequence[RealStream]) -> Times:
    """Seconds of each candidate for all the streams, round by round."""
    chosen = {name: OURS[name] for name in options.of}
    every = {BARE: bare, **chosen}
    for read in every.values():  # what is made at first is made now
        all_of(read, streams)()
    run = {name: all_of(read, streams) for name, read in every.items()}
    return taken(run, options.rounds, time.process_time)


@dataclass(frozen=True, slots=True)
class Group:
    """Streams alike in dialect and length; `weight` is what one of them counts for in a mean."""

    dialect: str
    length: str
    streams: Sequence[RealStream]
    weight: float
    times: Times


def shown(title: str, groups: Sequence[Group]) -> None:
    """A row of ratios of some groups together, and of milliseconds a stream for orientation."""
    streams = sum(len(group.streams) for group in groups)
    weighted = [(group.weight, stream) for group in groups for stream in group.streams]
    whole = sum(weight for weight, _ in weighted)
    frames = sum(weight * stream.frames for weight, stream in weighted) / whole
    size = sum(weight * sum(map(len, stream.chunks)) for weight, stream in weighted) / whole / 1e3
    times = {
        name: [
            sum(group.weight * seconds for group, seconds in zip(groups, one_round, strict=True))
            for one_round in zip(*(group.times[name] for group in groups), strict=True)
        ]
        for name in groups[0].times
    }
    took = statistics.median(times[BARE]) * 1e3 / whole
    spoken = (spread(ratios(times, name, BARE)) for name in times if name != BARE)
    row(title, streams, f"{frames:.0f}", f"{size:.1f} KB", f"{took:.2f} ms", *spoken)


def row(*cells: object) -> None:
    """A line of a table as Markdown writes it."""
    sys.stdout.write(f"| {' | '.join(map(str, cells))} |\n")
    sys.stdout.flush()


def captured_streams(options: argparse.Namespace) -> Iterator[tuple[RealStream, float]]:
    """Captured streams; each counts as much as any other."""
    folder = os.environ.get("CONFORMANCE_CAPTURES")
    for stream in captured(Path(folder)) if folder else ():
        if stream.dialect in options.dialect and stream.length in options.length:
            yield stream, 1.0


def drawn_streams(options: argparse.Namespace) -> Iterator[tuple[RealStream, float]]:
    """Drawn streams, and how much each of them counts."""
    for dialect in options.dialect:
        for length in options.length:
            several = drawn(dialect, length)
            yield from ((stream, SHARES[length] / len(several)) for stream in several)


def corpus(options: argparse.Namespace) -> None:
    _by_length(options, drawn_streams(options))


def of_captures(options: argparse.Namespace) -> None:
    _by_length(options, captured_streams(options))


def _by_length(options: argparse.Namespace, streams_of: Iterable[tuple[RealStream, float]]) -> None:
    """By dialect and length, by dialect, and all together."""
    parts: dict[tuple[int, int], list[RealStream]] = {}
    weights: dict[tuple[int, int], float] = {}
    for stream, weight in streams_of:
        key = DIALECTS.index(stream.dialect), list(LENGTHS).index(stream.length)
        parts.setdefault(key, []).append(stream)
        weights[key] = weight
    titles = ("", "streams", "frames", "size", BARE, *options.of)
    row(*titles)
    row(*("---" for _ in titles))
    groups = []
    for key, streams in sorted(parts.items()):
        dialect, length = streams[0].dialect, streams[0].length
        groups.append(Group(dialect, length, streams, weights[key], measured(options, streams)))
        shown(f"{dialect} {length}", groups[-1:])
    for dialect in dict.fromkeys(group.dialect for group in groups):
        shown(dialect, [group for group in groups if group.dialect == dialect])
    if groups:
        shown("all", groups)
    else:
        show("captured", "CONFORMANCE_CAPTURES names no folder of recordings")


def fixed(options: argparse.Namespace) -> None:
    """Milliseconds for a stream of no frame and of one."""
    for dialect in options.dialect:
        first = drawn(dialect, "<20")[0]
        one = first.chunks[0][: _first_end(first.chunks[0])]
        for title, chunks in (("no frame", ()), ("one frame", (one,))):
            stream = RealStream(dialect, first.profile, chunks, len(chunks))
            times = measured(options, [stream] * REPEATED)
            for name in options.of:
                took = [1e3 * seconds / REPEATED for seconds in times[name]]
                show(f"{dialect}, {title}: {name}", f"{spread(took, 3)} ms  goal 0.05")


def _first_end(chunk: bytes) -> int:
    ends = (chunk.find(b"\n\n") + 2, chunk.find(b"\n") + 1)
    return next((end for end in ends if end > 1), len(chunk))


def alike(options: argparse.Namespace) -> None:
    for dialect in options.dialect:
        make, _ = corpora.LONG[dialect]
        _long(options, dialect, make(), f"goal {LONG_GOALS[dialect]}")


def escaped(options: argparse.Namespace) -> None:
    for dialect in options.dialect:
        make, _ = corpora.LONG[dialect]
        _long(options, dialect, corpora.spaced(make(others=corpora.MANY_OTHERS)), "goal 0.4")


def _long(options: argparse.Namespace, dialect: str, frames: list[bytes], goal: str) -> None:
    chunks, (_, profile) = corpora.net(frames), corpora.LONG[dialect]
    stream = RealStream(dialect, profile, tuple(chunks), len(frames))
    if found := checker(dialect, profile).check(chunks).findings:
        raise RuntimeError(f"{dialect}: {found[0].rule}: {found[0].message}")
    every = {BARE: lambda: peers.bare(chunks), HELD: lambda: held(stream)}
    if dialect in peers.SDKS and not options.no_sdk:
        sdk, read = peers.SDKS[dialect]
        every[sdk] = lambda: read(chunks)
    times = taken(every, options.rounds, time.process_time)
    title = f"{dialect}, {len(frames):,} frames"
    each(title, times, len(frames))
    show(f"{title}: {HELD} / {BARE}", f"{spread(ratios(times, HELD, BARE))}  {goal}")
    for name in list(every)[2:]:
        show(f"{title}: {name} / {HELD}", spread(ratios(times, name, HELD), 1))


def profiled(options: argparse.Namespace) -> None:
    """Where the time of one candidate goes, over the chosen streams."""
    chosen = captured_streams if "captured" in options.sections else drawn_streams
    streams = [stream for stream, _ in chosen(options)]
    run = all_of(OURS[options.of[0]], streams)
    run()
    watch = cProfile.Profile()
    began = time.process_time()
    watch.runcall(lambda: [run() for _ in range(options.rounds)])
    number = len(streams) * options.rounds
    show(f"{number} streams, {options.of[0]}", f"{1e3 * (time.process_time() - began) / number} ms")
    pstats.Stats(watch, stream=sys.stdout).sort_stats(options.sort).print_stats(options.lines)


SECTIONS: Final = {
    "corpus": corpus,
    "captured": of_captures,
    "fixed": fixed,
    "long": alike,
    "escaped": escaped,
}


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "sections", nargs="*", choices=[*SECTIONS, []], help="all, if none is named"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dialect", nargs="+", choices=DIALECTS, default=DIALECTS)
    parser.add_argument("--length", nargs="+", choices=list(LENGTHS), default=list(LENGTHS))
    parser.add_argument("--of", nargs="+", choices=list(OURS), default=[HELD, CALLED])
    parser.add_argument("--no-sdk", action="store_true", help="leave out the slow SDKs")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--sort", default="tottime", choices=("tottime", "cumtime"))
    parser.add_argument("--lines", type=int, default=40)
    return parser.parse_args(arguments)


def main() -> None:
    options = options_of(None)
    show("rounds", str(options.rounds))
    if options.profile:
        profiled(options)
        return
    for name in options.sections or SECTIONS:
        SECTIONS[name](options)


if __name__ == "__main__":
    main()
