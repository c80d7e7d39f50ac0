"""A recording that is replayed to an official client: what it asked, and what the toolkit reads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.cassette import open_recording
from conformance.core.events import Event, Request
from conformance.core.shipped import cassettes
from conformance.recordings.api import check_chunks


@dataclass(frozen=True, slots=True)
class Replayed:
    """`asked` is the request without `stream`, `events` are the semantic ones of the answer."""

    path: Path
    request: Request
    chunks: tuple[bytes, ...]
    asked: Any
    events: tuple[Event, ...]

    def text(self, kind: str) -> str:
        """All texts of one kind of delta."""
        return "".join(event.data["text"] for event in self.events if event.type == kind)

    def calls(self) -> list[dict[str, Any]]:
        """The calls that the client has to answer."""
        ends = (event.data for event in self.events if event.type == "tool.end")
        return [dict(each) for each in ends if not each.get("hosted")]


def replayed(dialect: str, name: str, profile: str = "strict") -> Replayed:
    """The shipped recording of that name, a folder and a file, read under a profile."""
    path = cassettes() / f"{dialect}/{name}.cassette.jsonl"
    (exchange,) = open_recording(path).exchanges
    assert exchange.request is not None
    asked = exchange.request.json
    if isinstance(asked, dict):
        asked = {key: value for key, value in asked.items() if key != "stream"}
    chunks = tuple(chunk.data for chunk in exchange.chunks)
    report = check_chunks(chunks, dialect=dialect, profile=profile, keep=True)
    semantic = (event for event in report.events or () if event.layer == "semantic")
    return Replayed(path, exchange.request, chunks, asked, tuple(semantic))
