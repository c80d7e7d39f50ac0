"""Cassettes: `python tests/benchmarks/bench_cassettes.py [rounds]`, from the repository.

Loading one against YAML with one entry per event.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import yaml

from conformance.cassette import open_recording
from tests.benchmarks import corpora
from tests.benchmarks.rounds import report, rounds, taken

EVENTS: Final = 60


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


def main() -> None:
    count, frames = rounds(), corpora.chat(EVENTS)
    with tempfile.TemporaryDirectory() as name:
        first, events = Path(name) / "one.cassette.jsonl", Path(name) / "events.yaml"
        first.write_text(cassette(frames), encoding="utf-8")
        events.write_text(per_event(frames), encoding="utf-8")
        if (load(first), load_yaml(events)) != (EVENTS, EVENTS):
            raise RuntimeError("the two do not hold the same events")
        times = taken(
            {
                "cassette": lambda: [load(first) for _ in range(200)],
                "CSafeLoader": lambda: [load_yaml(events) for _ in range(20)],
            },
            count,
            time.process_time,
        )
        per_load = {"cassette": times["cassette"], "YAML": [10 * t for t in times["CSafeLoader"]]}
        report("load 60 events", per_load, "YAML", "cassette", ">= 10")


if __name__ == "__main__":
    main()
