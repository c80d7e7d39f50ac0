"""Corpora: `python tests/benchmarks/bench_corpus.py [rounds [section]]`.

Streams are drawn from shipped recordings, 16 KB on average, and a fault is planted in each
hundredth: its last frame is missing. Processor time of whole processes, candidates interleaved.
`STREAMS large [one|two|ray]` makes that many streams and says time and memory of each engine;
`1 skew` does so of one row group with 20 bodies of 29 MB.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import conformance
from conformance.corpus.checking import check_corpus
from conformance.corpus.conversations import RowConversations
from conformance.corpus.grouping import corpus_report
from conformance.corpus.judge import CorpusJudge, JudgeChoices, JudgedStream
from conformance.corpus.output import read_table
from conformance.corpus.rows import CorpusStream, row_stream
from conformance.evidence.links.keys import LinkKeys
from conformance.profiles.lookup import find
from tests.benchmarks import real_streams
from tests.benchmarks.rounds import children, ratios, rounds, show, spread, taken
from tests.corpus.checked import OwnProcess

DIALECTS: Final = ("openai.chat", "openai.responses", "anthropic.messages")
LENGTHS: Final = {"<20": 0.25, "20-100": 0.62, "100-500": 0.13}
FAULTS: Final = 100
DISTINCT: Final = 1500
GROUP: Final = 2000
FILE: Final = 4000
STREAMS: Final = 2000
LINKED: Final = 200
PROVIDERS: Final = ("north", "south", "east", "west")
ENGINES: Final = {"one": ("-j", "1"), "two": ("-j", "2"), "ray": ("--engine", "ray", "-j", "2")}
Row = dict[str, Any]


@cache
def distinct_streams() -> list[real_streams.RealStream]:
    """Streams by profiles of servers, the same ones every time."""
    source = Random(18)
    found: list[real_streams.RealStream] = []
    while len(found) < DISTINCT:
        length = source.choices(list(LENGTHS), list(LENGTHS.values()))[0]
        stream = real_streams.drawn_stream(source.choice(DIALECTS), length, source)
        if find(stream.profile or "strict", stream.dialect).side != "client":
            found.append(stream)
    return found


def row_of(number: int, stream: real_streams.RealStream) -> Row:
    frames = b"".join(stream.chunks)
    is_faulty = number % FAULTS == FAULTS - 1
    asked, head = stream.request, stream.response
    return {
        "id": f"s{number:07}",
        "body": frames[: frames.rstrip().rfind(b"\n\n") + 2] if is_faulty else frames,
        "request": json.dumps(asked.json) if asked else None,
        "status": head.status if head else None,
        "headers": json.dumps(dict(head.headers)) if head else None,
        "dialect": stream.dialect,
        "profile": stream.profile or "strict",
        "provider": PROVIDERS[number % len(PROVIDERS)],
        "model": f"m-{number % 3}",
        "time": 1_762_000_000 + number * 20,
    }


def rows(first: int, last: int) -> Iterator[Row]:
    streams = distinct_streams()
    return (row_of(number, streams[number % len(streams)]) for number in range(first, last))


def write_corpus(folder: Path, streams: int, *, skewed: bool = False) -> int:
    """Files of a few row groups each; gives the bytes of all bodies."""
    folder.mkdir(parents=True)
    size = 0
    for first in range(0, streams, FILE):
        some = list(rows(first, min(first + FILE, streams)))
        size += sum(len(each["body"]) for each in some)
        table = pa.Table.from_pylist(some)
        pq.write_table(
            table, folder / f"{first:07}.parquet", compression="zstd", row_group_size=GROUP
        )
    if skewed:
        size += write_skewed(folder / "skewed.parquet")
    return size


def write_skewed(file: Path) -> int:
    """One row group with 20 bodies of 29 MB among 480 usual ones."""
    known = list(rows(0, DISTINCT))
    chat = next(each for each in known if each["dialect"] == DIALECTS[0])
    frames = chat["body"].split(b"\n\n")
    # A delta of text: what begins an answer would break a rule each time it came again.
    at = next(n for n, each in enumerate(frames) if b'"delta":{"content":"' in each)
    middle = frames[at]
    times = 29_000_000 // (len(middle) + 2)
    long = b"\n\n".join([*frames[:at], *[middle] * times, *frames[at:]])
    some = [
        {**chat, "body": long, "id": f"k{n}"} if n % 25 == 0 else {**known[n], "id": f"k{n}"}
        for n in range(500)
    ]
    table = pa.Table.from_pylist(some)
    pq.write_table(table, file, compression="zstd", row_group_size=GROUP)
    return sum(len(each["body"]) for each in some)


def bare(folder: Path) -> Callable[[], int]:
    """The judge in a loop over bodies that are in memory, their requests read already."""
    checkers: dict[tuple[str, str], conformance.Checker] = {}
    given = []
    for file in sorted(folder.glob("*.parquet")):
        for row in pq.read_table(file).to_pylist():
            key = row["dialect"], row["profile"]
            checker = checkers.setdefault(key, conformance.Checker(*key))
            asked = json.loads(row["request"]) if row["request"] else None
            headers = json.loads(row["headers"]) if row["headers"] else {}
            head = {"status": row["status"], "headers": headers}
            given.append((checker, row["body"], asked, head))

    def run() -> int:
        return sum(
            bool(checker.check([body], request=asked, response=head).findings)
            for checker, body, asked, head in given
        )

    return run


def command(source: Path, out: Path, *more: str) -> list[str]:
    verb = ["corpus", "check", str(source), "--out", str(out), *more]
    return [sys.executable, "-m", "conformance", *verb]


def checked(source: Path, out: Path, *more: str) -> Callable[[], None]:
    """A whole process that judges the corpus from its beginning."""

    def run() -> None:
        shutil.rmtree(out, ignore_errors=True)
        done = subprocess.run(command(source, out, *more), capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr[-500:])

    return run


def loop(count: int, work: Path) -> None:
    """One process against the bare judge in a loop, in this process."""
    size = write_corpus(work / "in", STREAMS)
    judge = bare(work / "in")
    out, engine = work / "out", OwnProcess()  # one that has read its profiles

    def corpus() -> None:
        shutil.rmtree(out, ignore_errors=True)
        check_corpus(str(work / "in"), out, JudgeChoices(), engine)

    judge()
    corpus()
    times = taken({"bare": judge, "corpus": corpus}, count, time.process_time)
    each = spread([value / STREAMS * 1e6 for value in times["bare"]], 0)
    show(f"{STREAMS} streams, {size / STREAMS / 1000:.1f} KB mean; bare, us a stream", each)
    show("one process / bare judge", f"{spread(ratios(times, 'corpus', 'bare'))}  goal <= 1.15")


def processes(count: int, work: Path) -> None:
    """Two processes against one, by the clock on the wall: only an idle machine can say."""
    write_corpus(work / "in", STREAMS * 4)
    one = checked(work / "in", work / "one", "-j", "1")
    two = checked(work / "in", work / "two", "-j", "2")
    times = taken({"one": one, "two": two}, count)
    load = os.getloadavg()[0]
    show(
        f"one / two processes, wall, load {load:.1f}",
        f"{spread(ratios(times, 'one', 'two'))}  goal >= 1.8",
    )
    used = taken({"one": one, "two": two}, 1, children)
    show("processor time, two / one", spread(ratios(used, "two", "one")))


def report(count: int, work: Path) -> None:
    """The report of 200,000 verdict rows: the tables of one fragment, many times."""
    write_corpus(work / "in", FILE)
    check_corpus(str(work / "in"), work / "out", JudgeChoices(), OwnProcess())
    for table in ("verdicts", "findings", "shapes"):
        files = sorted((work / "out" / table).glob("*.parquet"))
        for copy in range(200_000 // FILE - 1):
            for file in files:
                shutil.copy(file, file.with_name(f"{copy}-{file.name}"))
    streams = read_table(work / "out", "verdicts", ("row",)).num_rows
    times = taken({"report": lambda: corpus_report(work / "out")}, count, time.process_time)
    show(f"report of {streams} rows, processor seconds", f"{spread(times['report'])}  goal < 10")


def large(streams: int, work: Path, *engines: str) -> None:
    """One run of each engine: processor time and the largest process."""
    size = write_corpus(work / "in", streams, skewed=True)
    show(f"{streams} streams and a skewed row group", f"{size / 1e6:.0f} MB of bodies")
    for engine in engines or tuple(ENGINES):
        print_run(work / "in", work / engine, streams, engine)


def print_run(source: Path, out: Path, streams: int, engine: str) -> None:
    """Prints what one whole run took."""
    shutil.rmtree(out, ignore_errors=True)
    began, used = time.monotonic(), children()
    done = subprocess.run(
        ["/usr/bin/time", "-f", "%M", *command(source, out, *ENGINES[engine])],
        capture_output=True,
        text=True,
        check=False,
    )
    *errors, peak = done.stderr.strip().splitlines()
    took, wall = children() - used, time.monotonic() - began
    each = f"{took:.0f} s of processor, {took / streams * 1e6:.0f} us a stream"
    largest = f"largest {int(peak) / 1024:.0f} MB, {wall:.0f} s"
    show(f"{engine}: exit {done.returncode}, {each}", largest)
    sys.stdout.write("".join(f"  {line}\n" for line in errors[-3:]))


def skew(count: int, work: Path) -> None:
    """The skewed row group by itself: what one process holds at most."""
    size = write_skewed(work / "in.parquet")
    show("one row group with 20 bodies of 29 MB", f"{size / 1e6:.0f} MB of bodies")
    for _ in range(count):
        print_run(work / "in.parquet", work / "out", 500, "one")


def links(count: int, work: Path) -> None:
    """Rows whose requests carry nothing on, as rows that may, and as rows that may not."""
    del work
    judge = CorpusJudge()
    asked = [each for each in distinct_streams() if each.request is not None]
    streams = _alone(judge, [row_of(n, each) for n, each in enumerate(asked[: LINKED * 2])])
    streams = streams[:LINKED]

    def held() -> None:
        talks = RowConversations(judge)
        for each in judge.judge_streams(streams, collects=True):
            if isinstance(each, JudgedStream):
                list(talks.take(each))
        list(talks.rest())

    candidates = {"held": held, "alone": lambda: judge.judge_streams(streams)}
    times = taken(candidates, count * 3, time.process_time)
    title = f"{len(streams)} rows with requests, linked / not linked"
    show(title, f"{spread(ratios(times, 'held', 'alone'))}  goal <= 1.05")


def _alone(judge: CorpusJudge, rows: list[Row]) -> list[CorpusStream]:
    """Those rows that have no key of another one."""
    made = [row_stream(row, judge.choices.columns, n, Path("x"), "x") for n, row in enumerate(rows)]
    keyed = [
        (each.stream, keys)
        for each in judge.judge_streams(made, collects=True)
        if isinstance(each, JudgedStream) and isinstance(keys := each.results[0].keys, LinkKeys)
    ]
    repeated = {key for _, keys in keyed for key in keys.repeated}
    keys_seen = {key for _, keys in keyed for key in keys.said}
    return [
        stream
        for stream, keys in keyed
        if keys_seen.isdisjoint(keys.repeated) and repeated.isdisjoint(keys.said)
    ]


SECTIONS: Final[dict[str, Callable[[int, Path], None]]] = {
    "loop": loop,
    "processes": processes,
    "report": report,
    "skew": skew,
    "links": links,
}


def main() -> None:
    count = rounds() if len(sys.argv) < 2 or sys.argv[1].isdigit() else 1
    named = [each for each in sys.argv[2:] if each in SECTIONS]
    if "large" in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            large(count, Path(folder), *(each for each in ENGINES if each in sys.argv))
        return
    show("rounds", str(count))
    for name in named or ("loop", "processes", "report"):
        with tempfile.TemporaryDirectory() as folder:
            SECTIONS[name](count, Path(folder))
    show("largest process", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
