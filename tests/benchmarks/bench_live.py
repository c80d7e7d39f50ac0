"""Many streams at once: `python tests/benchmarks/bench_live.py [rounds]`, from the repository.

A thousand streams of 50 events a second each, an event at a time as a network brings them, judged
by every shipped rule in one process. The ideal time is that of the streams themselves; what is
measured is how much of it one processor needs, and what a stream that is under way keeps.
"""

from __future__ import annotations

import gc
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from conformance.core.events import Exchange
from conformance.dialects import get
from conformance.judging.fast.running import RunningView
from conformance.judging.rulebook import Rulebook
from conformance.judging.view import JudgeSetting
from conformance.recordings.choices import CheckChoices, choose_profile
from tests.benchmarks.corpora import CORPORA
from tests.benchmarks.rounds import rounds, show, spread

STREAMS: Final = 1000
RATE: Final = 50  # events a second of one stream
EVENTS: Final = 500  # of one stream: ten seconds


def begun(dialect: str, profile: str, book: Rulebook) -> list[RunningView]:
    spoken = get(dialect)
    chosen, named = choose_profile(spoken, CheckChoices(profile=profile), None)
    setting = JudgeSetting(spoken, chosen, book.bound(chosen), named=named)
    return [RunningView(setting, Exchange()) for _ in range(STREAMS)]


def fed(views: list[RunningView], frames: list[bytes]) -> float:
    """Processor seconds to feed every view every frame, in turn, and to end all."""
    began = time.process_time()
    for number, frame in enumerate(frames):
        for view in views:
            view.feed(frame, number * 1000 / RATE)
    for view in views:
        view.finish("eof")
    return time.process_time() - began


def kept(views: list[RunningView], frames: list[bytes]) -> float:
    """Kilobytes that one of the views holds once most of its frames are read."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for frame in frames:
        for view in views:
            view.feed(bytes(memoryview(frame)), 0.0)  # bytes of its own, as from a network
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / len(views) / 1024


def main() -> None:
    count = rounds()
    book = Rulebook.load()
    for dialect, (make, profile) in CORPORA.items():
        parted = {"parts": 4} if dialect == "openai.responses" else {}
        frames = make(EVENTS, **parted)
        ideal = len(frames) / RATE
        times = [fed(begun(dialect, profile, book), frames) / ideal for _ in range(count)]
        show(f"{dialect}, {STREAMS} streams: processor time / ideal time", spread(times))
        views = begun(dialect, profile, book)
        size = kept(views, frames[: len(frames) * 3 // 4])
        show(f"{dialect}: kept by a stream under way", f"{size:.0f} KB  goal <= 60")


if __name__ == "__main__":
    main()
