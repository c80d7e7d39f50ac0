"""The pytest plugin: `python tests/benchmarks/bench_pytest.py [rounds]`, from the repository.

A thousand cassettes of 60 events, judged by all rules, against a thousand parametrised tests that
do nothing: in one file of items per exchange, by `assert_conforms` in a thousand tests, and by
`conformance check`, which tells what of it is judging. Then what a pytest start costs more with the
plugin that nobody uses. Every candidate is a process of its own on one processor, so that nothing
is shared out among several; what is measured is processor time. The package lies as a wheel lays
it.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from conformance.cassette import Cassette, CassetteClock, Header, write
from conformance.core.events import Chunk, Exchange, Request, Response
from tests.benchmarks import rounds as timing
from tests.benchmarks.corpora import chat
from tests.benchmarks.installed import install
from tests.benchmarks.rounds import Candidate, children, process, report, rounds, spread, taken

CASSETTES: Final = 1_000
EVENTS: Final = 60
GOALS: Final = {
    "check": "<= 0.8",
    "check, no profile named": "none set",
    "conformance.yaml": "<= 1.5",
    "assert_conforms": "<= 1.8",
}
EMPTY: Final = """import pytest


@pytest.mark.parametrize("number", range({number}))
def test_nothing(number):
    pass
"""
ASSERTED: Final = """from pathlib import Path

import pytest
from conformance import assert_conforms


@pytest.mark.parametrize("path", sorted(Path({folder!r}).iterdir()), ids=lambda path: path.stem)
def test_conforms(path):
    assert_conforms(path)
"""
BODY: Final = {"model": "m", "messages": [{"role": "user", "content": "Why?"}], "stream": True}


def cassettes(folder: Path, profile: str | None) -> None:
    folder.mkdir()
    sse = (("content-type", "text/event-stream"),)
    for number in range(CASSETTES):
        body = tuple(Chunk(data, 1.0) for data in chat(EVENTS))
        exchange = Exchange(
            request=Request("POST", "/v1/chat/completions", (), BODY),
            response=Response(200, "1.1", sse),
            chunks=body,
        )
        header = Header(dialect="openai.chat", profile=profile)
        clock = CassetteClock(1.0, 1.0)
        write(folder / f"{number:04}.cassette.jsonl", Cassette(header, (exchange,), {1: clock}))


def pytest_of(file: Path, site: str, *, plugin: bool) -> Candidate:
    """A run over one file, with no plugin but ours or none at all."""
    chosen = ("-p", "conformance.pytest_plugin") if plugin else ()
    options = ("-q", "-p", "no:cacheprovider", "--rootdir", str(file.parent))
    return process(sys.executable, "-m", "pytest", *chosen, *options, str(file), cwd=site)


def check_of(folder: Path, site: str) -> Candidate:
    return process(sys.executable, "-m", "conformance", "check", str(folder), cwd=site)


def main() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with tempfile.TemporaryDirectory() as name:
        home, site = Path(name), install(Path(name) / "site")
        cassettes(home / "recorded", "openai")
        cassettes(home / "unnamed", None)
        spec = home / "all.conformance.yaml"
        spec.write_text("items: exchange\ncassettes: [recorded]\n", encoding="utf-8")
        empty, one = home / "test_empty.py", home / "test_one.py"
        empty.write_text(EMPTY.format(number=CASSETTES), encoding="utf-8")
        one.write_text(EMPTY.format(number=1), encoding="utf-8")
        asserted = home / "test_asserted.py"
        asserted.write_text(ASSERTED.format(folder=str(home / "recorded")), encoding="utf-8")
        times = taken(
            {
                "1,000 empty tests": pytest_of(empty, site, plugin=False),
                "conformance.yaml": pytest_of(spec, site, plugin=True),
                "assert_conforms": pytest_of(asserted, site, plugin=True),
                "check": check_of(home / "recorded", site),
                "check, no profile named": check_of(home / "unnamed", site),
            },
            rounds(),
            children,
        )
        starts = taken(
            {"bare": pytest_of(one, site, plugin=False), "idle": pytest_of(one, site, plugin=True)},
            3 * rounds(),
            children,
        )
    title = "1,000 cassettes of 60 events"
    for each, goal in GOALS.items():
        report(title, times, each, "1,000 empty tests", goal)
    added = [1e3 * (i - b) for i, b in zip(starts["idle"], starts["bare"], strict=True)]
    timing.show("idle plugin, ms added to a pytest start", f"{spread(added, 1)}  goal <= 15")
    timing.show("  median of bare start, ms", f"{1e3 * statistics.median(starts['bare']):.0f}")


if __name__ == "__main__":
    main()
