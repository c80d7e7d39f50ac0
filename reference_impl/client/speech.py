"""One choice of an answer: which block is open, and what opens and ends it.

Blocks are numbered from 0, one for each uninterrupted run of thinking or of text.
A call is started once, reported in fragments, and ended with the whole arguments.
"""

from __future__ import annotations

from collections.abc import Iterable

from .event import Report, whole
from .markers import Piece


class Speech:
    """Reports runs of thinking and text, with the starts and ends that a wire leaves out."""

    def __init__(self, report: Report, choice: int = 0) -> None:
        self._report = report
        self._choice = choice
        self._blocks = 0
        self._begun = False
        self._message_id = ""
        self._thinking: int | None = None
        self._text: int | None = None
        self._parts: set[int] = set()
        self._closed = False  # the wire said that the open block of thinking is complete

    @property
    def thinking(self) -> int | None:
        """The number of the block of thinking that is open."""
        return self._thinking

    def number(self) -> int:
        self._blocks += 1
        return self._blocks - 1

    def meet(self, message_id: str) -> None:
        """Note the id of the message, as the wire says it last before the message starts."""
        self._message_id = message_id or self._message_id

    def begin(self, role: str = "") -> None:
        """Start the message, once: at its role, or at the first thing that it says."""
        if not self._begun:
            self._begun = True
            role, message_id = role or "assistant", self._message_id or None
            self._report.add("message.start", self._choice, role=role, id=message_id)

    def again(self) -> None:
        """Let another message begin; its blocks go on counting."""
        self._begun, self._message_id = False, ""

    def open(self, channel: str, *, explicit: bool) -> None:
        """Start a block of thinking, after the end of what was said before."""
        self.end_text()
        self.end_thinking()
        self._thinking, self._closed = self.number(), False
        self._parts.clear()
        self._add_event("thinking.start", block=self._thinking, channel=channel, explicit=explicit)

    def think(self, text: str, channel: str = "raw", part: int | None = None) -> None:
        """Report a delta of thinking; its block and its part are started if the wire did not."""
        if not text:
            return
        if self._thinking is None:
            self.open(channel, explicit=False)
        if part is not None and part not in self._parts:
            self._parts.add(part)
            self._add_event("thinking.part", block=self._thinking, part=part)
        self._closed = False
        self._add_event(
            "thinking.delta", block=self._thinking, channel=channel, text=text, part=part
        )

    def complete(self) -> None:
        """Note that the wire calls the open block of thinking complete."""
        self._closed = self._thinking is not None

    def end_thinking(self, *, explicit: bool = False) -> None:
        """End the block of thinking that is open, if any."""
        if self._thinking is not None:
            self._add_event("thinking.end", block=self._thinking, explicit=explicit or self._closed)
        self._thinking, self._closed = None, False

    def seal(self, kind: str, data: str, block: int | None) -> None:
        if data:
            self._add_event("thinking.opaque", block=block, kind=kind, data=data)

    def say(self, text: str) -> None:
        if not text:
            return
        self.end_thinking()
        if self._text is None:
            self._text = self.number()
            self._add_event("text.start", block=self._text)
        self._add_event("text.delta", block=self._text, text=text)

    def end_text(self) -> None:
        """End the block of text that is open, if any."""
        if self._text is not None:
            self._add_event("text.end", block=self._text)
        self._text = None

    def speak(self, pieces: Iterable[Piece]) -> None:
        """Report text in which markers were looked for."""
        for kind, text in pieces:
            if kind == "open":
                self.open("raw", explicit=True)
            elif kind == "close":
                self.end_thinking(explicit=True)
            elif kind == "think":
                self.think(text)
            else:
                self.say(text)

    def refuse(self, text: str) -> None:
        """Report a delta of a refusal, which ends everything else that was said."""
        if text:
            self.pause()
            self._add_event("refusal.delta", text=text)

    def pause(self) -> None:
        """End what is open: something else comes."""
        self.end_thinking()
        self.end_text()

    def _add_event(self, kind: str, /, **fields: str | int | None) -> None:
        self.begin()
        self._report.add(kind, self._choice, **fields)


class Call:
    """One call of a tool. Names and ids that come late, or again, are the first that came.

    A hosted call is carried out by the server.
    """

    def __init__(
        self, report: Report, index: int, *, choice: int = 0, hosted: bool = False
    ) -> None:
        self._report = report
        self._choice = choice
        self._hosted = hosted or None
        self.index = index
        self.id = ""
        self.name = ""
        self._fragments: list[str] = []
        self._ended = False

    @property
    def is_silent(self) -> bool:
        """Whether no fragment of its arguments has come."""
        return not self._fragments

    def start(self, call_id: str, name: str) -> None:
        self.learn(call_id, name)
        self._report.add(
            "tool.start",
            self._choice,
            index=self.index,
            id=call_id or None,
            name=name or None,
            hosted=self._hosted,
        )

    def learn(self, call_id: str, name: str) -> None:
        """Keep what a later fragment says of the call."""
        self.id = self.id or call_id
        self.name = self.name or name

    def add(self, arguments: str) -> None:
        if arguments:
            self._fragments.append(arguments)
            self._report.add("tool.delta", self._choice, index=self.index, arguments=arguments)

    def end(self) -> None:
        """Report the whole call, once."""
        if self._ended:
            return
        self._ended = True
        self._report.add(
            "tool.end",
            self._choice,
            index=self.index,
            id=self.id or None,
            name=self.name or None,
            hosted=self._hosted,
            arguments=whole("".join(self._fragments)),
        )
