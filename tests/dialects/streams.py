"""Streams from payloads, as a reader and as a witness see them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pytest

from conformance.core.events import Chunk, Ending, Event, Exchange, Frame, FrameKind
from conformance.core.json_values import NOT_JSON
from conformance.dialects import get
from conformance.dialects.base import Reading

# Inside one frame: message, thinking, opaque, text, refusal, tool, finish, usage, error, done.
SEMANTIC_ORDER: Final = {
    "message.start": 0,
    "thinking.start": 1,
    "thinking.part": 1,
    "thinking.delta": 1,
    "thinking.end": 1,
    "thinking.opaque": 2,
    "text.start": 3,
    "text.delta": 3,
    "text.end": 3,
    "refusal.delta": 4,
    "tool.start": 5,
    "tool.delta": 5,
    "tool.end": 5,
    "finish": 6,
    "usage": 7,
    "error": 8,
    "done": 9,
    "cut": 10,
}

Seen = Callable[..., list[Event]]
Payload = dict[str, Any]


@dataclass(frozen=True)
class PayloadReader:
    """The reader of a dialect, given payloads one by one.

    `ending` is the data of the frame that tells the end of a stream, where the dialect has one.
    """

    dialect: str
    kind: FrameKind = "line"
    ending: str = ""

    def read(self, *payloads: Payload, done: bool = True) -> list[Event]:
        """All events; without `done` the stream stops before its ending."""
        reader = get(self.dialect).reader(Reading())
        frame = Frame(self.kind, "message", "", "", 0)
        events = [e for n, each in enumerate(payloads, 1) for e in reader.read(frame, each, n)]
        if self.ending and done:
            last = Frame(self.kind, "message", self.ending, "", 0)
            events += reader.read(last, NOT_JSON, len(payloads) + 1)
        return [*events, *reader.end("eof", len(payloads) + 2)]

    def semantic(self, *payloads: Payload, done: bool = True) -> list[tuple[str, Payload]]:
        """Semantic events without the choice."""
        return [
            (event.type, {k: v for k, v in event.data.items() if k != "choice"})
            for event in self.read(*payloads, done=done)
            if event.layer == "semantic"
        ]

    def kinds(self, *payloads: Payload, done: bool = True) -> list[str]:
        return [kind for kind, _ in self.semantic(*payloads, done=done)]


def body(payloads: tuple[Any, ...], *, done: bool, named: bool) -> bytes:
    blocks = [
        f"event: {payload['type']}\ndata: {json.dumps(payload)}\n\n"
        if named
        else f"data: {json.dumps(payload)}\n\n"
        for payload in payloads
    ]
    return "".join([*blocks, "data: [DONE]\n\n" if done else ""]).encode()


@pytest.fixture(scope="session")
def seen() -> Seen:
    """Give every event of a stream of payloads."""

    def events(
        dialect: str,
        *payloads: Any,
        done: bool = False,
        named: bool = False,
        end: Ending = "eof",
        reading: Reading | None = None,
    ) -> list[Event]:
        chunk = Chunk(body(payloads, done=done, named=named))
        traced = get(dialect).trace(Exchange(chunks=(chunk,), end=end), reading or Reading())
        return [event for each in traced for event in each.events]

    return events


def assert_each_ends_once(events: Sequence[Event]) -> None:
    """In every answer blocks and calls have numbers that rise, and each that starts ends once."""
    for answer in {event.answer for event in events}:
        found = [(event.type, event.data) for event in events if event.answer == answer]
        for start, end, key in (
            ("thinking.start", "thinking.end", "block"),
            ("text.start", "text.end", "block"),
            ("tool.start", "tool.end", "index"),
        ):
            started = [data[key] for kind, data in found if kind == start]
            assert started == sorted(set(started))
            assert sorted(data[key] for kind, data in found if kind == end) == started
