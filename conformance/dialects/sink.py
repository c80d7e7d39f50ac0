"""Where a reader puts the events of one frame, wire events before semantic ones."""

from __future__ import annotations

from typing import Any

from conformance.core.events import Event


class Sink:
    """Events of the frame being read; `number` is the frame's."""

    __slots__ = ("events", "number")

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.number = 0

    def begin(self, number: int) -> None:
        """Start the next frame; the list that was handed out before is not touched again."""
        self.events = []
        self.number = number

    def wire(self, kind: str, data: dict[str, Any]) -> None:
        self.events.append(Event(kind, data, self.number, "wire"))

    def wire_before(self, position: int, kind: str, data: dict[str, Any]) -> None:
        """A wire event that is known late, put before the semantic events at `position`."""
        self.events.insert(position, Event(kind, data, self.number, "wire"))

    def say(self, kind: str, data: dict[str, Any]) -> None:
        self.events.append(Event(kind, data, self.number, "semantic"))
