"""Streams as data: frames in, wire and semantic events out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.core.events import Event
from conformance.dialects import Reading
from tests.each import each_row

FOLDER = Path(__file__).parent.parent / "vectors" / "dialects"
VECTORS = [
    (dialect, vector)
    for dialect in ("openai.chat", "openai.responses", "anthropic.messages")
    for name in [dialect.partition(".")[2]]
    for vector in json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
]


def reading_of(vector: dict[str, Any]) -> Reading:
    stated = vector.get("reading", {})
    return Reading(
        markers=tuple((start, end) for start, end in stated.get("markers", ())),
        opened_by_prompt=stated.get("opened_by_prompt", False),
        last_close=stated.get("last_close", False),
        fields={name: tuple(paths) for name, paths in stated.get("fields", {}).items()},
    )


@each_row(VECTORS)
def test_stream_gives_these_events(
    dialect: str, vector: dict[str, Any], read_stream: Callable[..., list[Event]]
) -> None:
    events = read_stream(dialect, vector["frames"], reading_of(vector), vector.get("end", "eof"))

    wire = [f"{event.number} {event.type}" for event in events if event.layer == "wire"]
    semantic = [
        [event.number, event.type, {"choice": 0, **event.data}]
        for event in events
        if event.layer == "semantic"
    ]
    assert wire == vector["wire"]
    assert semantic == [[n, kind, {"choice": 0, **data}] for n, kind, data in vector["semantic"]]


@each_row(VECTORS)
def test_every_semantic_event_carries_its_choice(
    dialect: str, vector: dict[str, Any], read_stream: Callable[..., list[Event]]
) -> None:
    events = read_stream(dialect, vector["frames"], reading_of(vector))

    assert all("choice" in event.data for event in events if event.layer == "semantic")
