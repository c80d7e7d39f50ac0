"""Where a reader puts the events of one frame: wire events come before semantic ones."""

from __future__ import annotations

from typing import Any

from conformance.core.events import Event


class Sink:
    """Events of the frame being read, by layer; `number` is the frame's."""

    __slots__ = ("number", "semantic", "wired")

    def __init__(self) -> None:
        self.number = 0
        self.wired: list[Event] = []
        self.semantic: list[Event] = []

    def begin(self, number: int) -> None:
        """Start the next frame."""
        self.number = number
        self.wired = []
        self.semantic = []

    def wire(self, kind: str, data: dict[str, Any]) -> None:
        self.wired.append(Event(kind, data, self.number, "wire"))

    def say(self, kind: str, data: dict[str, Any]) -> None:
        self.semantic.append(Event(kind, data, self.number, "semantic"))

    def start_message(self, role: str = "", message_id: str = "", *, choice: int = 0) -> None:
        """A message of the model begins; who says no role is the assistant."""
        data = {"choice": choice, "role": role or "assistant"}
        self.say("message.start", {**data, "id": message_id} if message_id else data)

    def events(self) -> list[Event]:
        """All of the frame's."""
        return self.wired + self.semantic
