"""What the bytes of an answer say: the events that a client should report, and their end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from conformance.core.events import Exchange
from conformance.dialects.base import Dialect, Reading
from conformance.evidence.answer import WHOLE_ENDS, Answer, ended

Ends = Literal["completed", "broken", "either"]


@dataclass(frozen=True, slots=True)
class Sent:
    """Events in the order of the bytes, and which end a client may tell.

    `either` where the finish came and the stream broke off before its terminal: all of the answer
    is there.
    """

    events: tuple[Mapping[str, Any], ...]
    ends: Ends
    finished: bool

    @property
    def types(self) -> frozenset[str]:
        return frozenset(event["type"] for event in self.events)


def read_sent(exchange: Exchange, dialect: Dialect, reading: Reading) -> Sent:
    """Reads the bytes once."""
    answer = Answer()
    events: list[Mapping[str, Any]] = []
    for each in dialect.trace(exchange, reading):
        for event in each.events:
            if event.layer == "semantic":
                answer.take(event)
                events.append({"type": event.type, **event.data})
    return Sent(tuple(events), _ends(exchange, answer), bool(answer.finishes))


def _ends(exchange: Exchange, answer: Answer) -> Ends:
    if ended(exchange, answer) in WHOLE_ENDS:
        return "completed"
    return "either" if answer.finishes and not answer.errors else "broken"
