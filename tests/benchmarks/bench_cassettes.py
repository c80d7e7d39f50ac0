"""Cassettes: `python tests/benchmarks/bench_cassettes.py [rounds]`, from the repository.

Loading one against YAML with one entry per event, and a thousand of them checked by one command
against a thousand empty tests.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import yaml

from conformance.cassette import open_recording
from tests.benchmarks import corpora
from tests.benchmarks.rounds import process, report, rounds, taken

CASSETTES: Final = 1000
EVENTS: Final = 60
ROOT: Final = Path(__file__).resolve().parents[2]
EMPTY: Final = f"""import pytest


@pytest.mark.parametrize("case", range({CASSETTES}))
def test_nothing(case):
    pass
"""


def cassette(frames: list[bytes]) -> str:
    """A recording as the toolkit writes it: a line per event, with the time it came."""
    head = {
        "cassette": "1.0",
        "origin": "synthetic",
        "fidelity": "bytes",
        "dialect": "openai.chat",
        "profile": "openai",
    }
    response = {"status": 200, "http": "1.1", "headers": [["content-type", "text/event-stream"]]}
    lines = [
        head,
        {"request": {"method": "POST", "path": "/v1/chat/completions", "json": {"model": "m"}}},
        {"response": response, "ms": 400.0},
        *({"ms": 12.5, "text": frame.decode()} for frame in frames),
        {"end": "eof", "ms": 0.2},
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def per_event(frames: list[bytes]) -> str:
    """The same as recorders that keep YAML write it: an entry per event."""
    events = [{"ms": 12.5, "data": frame.decode().strip()} for frame in frames]
    head = {"status": 200, "headers": {"content-type": ["text/event-stream"]}}
    return yaml.safe_dump({"version": 1, "response": head, "events": events}, allow_unicode=True)


def load(path: Path) -> int:
    """How many events there were."""
    return len(open_recording(path).exchanges[0].chunks)


def load_yaml(path: Path) -> int:
    with path.open(encoding="utf-8") as stream:
        return len(yaml.load(stream, Loader=yaml.CSafeLoader)["events"])


def written(folder: Path) -> tuple[Path, Path, Path]:
    """A folder of cassettes, a file of YAML, and a folder with empty tests."""
    frames = corpora.chat(EVENTS)
    cassettes, tests, text = folder / "cassettes", folder / "tests", cassette(frames)
    for made in (cassettes, tests):
        made.mkdir()
    for number in range(CASSETTES):
        path = cassettes / f"c{number:04}.cassette.jsonl"
        path.write_text(text.replace("B9xKq", f"B{number:04}"), encoding="utf-8")
    (folder / "events.yaml").write_text(per_event(frames), encoding="utf-8")
    (tests / "test_nothing.py").write_text(EMPTY, encoding="utf-8")
    return cassettes, folder / "events.yaml", tests


def main() -> None:
    count = rounds()
    with tempfile.TemporaryDirectory() as name:
        cassettes, events, tests = written(Path(name))
        first = next(cassettes.iterdir())
        if (load(first), load_yaml(events)) != (EVENTS, EVENTS):
            raise RuntimeError("the two do not hold the same events")
        times = taken(
            {
                "cassette": lambda: [load(first) for _ in range(200)],
                "CSafeLoader": lambda: [load_yaml(events) for _ in range(20)],
            },
            count,
        )
        per_load = {"cassette": times["cassette"], "YAML": [10 * t for t in times["CSafeLoader"]]}
        report("load 60 events", per_load, "YAML", "cassette", ">= 10")
        check = [sys.executable, "-m", "conformance", "check", str(cassettes)]
        pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)]
        times = taken(
            {
                "conformance check": process(*check, cwd=str(ROOT)),
                "empty tests": process(*pytest, cwd=str(tests)),
            },
            count,
        )
        report("1,000 cassettes", times, "conformance check", "empty tests", "<= 0.6")


if __name__ == "__main__":
    main()
