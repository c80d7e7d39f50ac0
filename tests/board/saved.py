"""Saved runs for tests: shipped recordings, as a run of a server would have kept them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from conformance.cassette import read, write
from conformance.core import shipped

GOOD = "openai.responses/demo/summary.cassette.jsonl"
BROKEN = "mutants/demo/summary.cassette.jsonl"
KEPT = "openai.responses/think.cassette.jsonl"


def saved_run(folder: Path, source: str = GOOD, file: str = KEPT, **header: Any) -> Path:
    """A folder as `conformance run --save` leaves it, with one recording."""
    cassette = read(shipped.cassettes() / source)
    fields: dict[str, Any] = {
        "target": {"name": "acme", "version": "1.2"},
        "recorded_at": "2026-11-20T10:00:00Z",
        "expect": {},
        "extra": {"run": {"target": "server"}},
        "profile": None,
    }
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, replace(cassette, header=replace(cassette.header, **(fields | header))))
    return folder
