"""Where a reader puts the events of one frame: wire events come before semantic ones.

Where the next answer begins with a frame, what ends the answer before comes first of all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.events import Event

MOST_FLUSHED: Final = 200  # characters of a text that comes with the finish


class Sink:
    """Events of the frame being read, by layer; `number` is the frame's, `answer` the answer's."""

    __slots__ = ("_ended", "_shown", "answer", "has_failed", "number", "semantic", "wired")

    def __init__(self) -> None:
        self.number = 0
        self.answer = 1
        self.has_failed = False  # an error came, which may end the answer
        self._ended: list[Event] = []  # what ends the answer before
        self._shown: set[int] = set()  # choices that showed what is no word
        self.wired: list[Event] = []
        self.semantic: list[Event] = []

    def begin(self, number: int) -> None:
        """Start the next frame."""
        self.number = number
        self.wired = []
        self.semantic = []

    def next_answer(self) -> None:
        """The frame begins the next answer: what it has said so far ends the one before."""
        self._ended += _of_answer(self.semantic, self.answer)
        self.semantic = []
        self.answer += 1
        self.has_failed = False
        self._shown.clear()

    def wire(self, kind: str, data: dict[str, Any], place: dict[str, int] | None = None) -> None:
        self.wired.append(Event(kind, data, self.number, "wire", 1, place))

    def emit(self, kind: str, data: dict[str, Any]) -> None:
        self.semantic.append(Event(kind, data, self.number, "semantic"))

    def say_error(self, data: dict[str, Any]) -> None:
        """An error that may end the answer."""
        self.has_failed = True
        self.emit("error", data)

    def start_message(self, role: str = "", message_id: str = "", *, choice: int = 0) -> None:
        """A message of the model begins; who says no role is the assistant."""
        data = {"choice": choice, "role": role or "assistant"}
        self.emit("message.start", {**data, "id": message_id} if message_id else data)

    def finish(self, reason: str, choice: int = 0, *, marked: bool = False) -> None:
        """A choice of a wire of chunks is over; `flushed` is text that only this frame brings.

        Where thinking is marked in the text, the reader itself may have held it back.
        """
        flushed = "" if marked else self._flushed(choice)
        self.end_choice(reason, choice, flushed=flushed)

    def show(self, choice: int = 0) -> None:
        """The answer holds what is no word and no call: an image, a sound."""
        self._shown.add(choice)

    def end_choice(self, reason: str, choice: int = 0, *, flushed: str = "") -> None:
        """A choice is over; `shown` says that it holds more than words and calls."""
        data: dict[str, Any] = {"choice": choice, "reason": reason}
        if flushed:
            data["flushed"] = flushed
        if choice in self._shown:
            data["shown"] = True
        self.emit("finish", data)

    def _flushed(self, choice: int) -> str:
        """The text of a block that begins in this frame, after thinking of an earlier one."""
        texts: list[str] = []
        begins = False
        for event in self.semantic:
            if event.data.get("choice") != choice:
                continue
            if event.type in ("thinking.start", "thinking.delta"):
                return ""
            begins = begins or (event.type == "text.start" and event.data["block"] > 0)
            if event.type == "text.delta":
                texts.append(event.data["text"])
        return "".join(texts)[:MOST_FLUSHED] if begins else ""

    def say_usage(self, counts: Mapping[str, int | None]) -> None:
        """Token counts in the words of all dialects; one that is not stated is left out."""
        if known := {name: count for name, count in counts.items() if count is not None}:
            self.emit("usage", {"choice": 0, **known})

    def end_message(self, reason: str, counts: Mapping[str, int | None]) -> None:
        """An answer is over, and says so: why, if that is known, and what it cost."""
        if reason:
            self.emit("finish", {"choice": 0, "reason": reason})
        self.say_usage(counts)
        self.emit("done", {"choice": 0, "explicit": True})

    def events(self) -> list[Event]:
        """All of the frame's."""
        if self.answer == 1:
            return self.wired + self.semantic
        ended, self._ended = self._ended, []
        return ended + _of_answer(self.wired + self.semantic, self.answer)


def _of_answer(events: list[Event], answer: int) -> list[Event]:
    return [
        Event(each.type, each.data, each.number, each.layer, answer, each.place) for each in events
    ]
