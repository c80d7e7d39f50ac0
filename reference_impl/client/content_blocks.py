"""Content blocks of a message: what they say, and when they begin and end.

Rule 1: a block is found by its index, of each kind by its own; an event without one belongs to the
block of its kind that began last.
Rule 2: what comes before the start of its block, or after its end, begins a block that nobody
announced.
Rule 3: a text that is in the start already is reported once, also where the first delta repeats
it; arguments that stand there are reported where no others came.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from .event import Report
from .payload import arguments_text, text_of
from .speech import Call, Speech
from .wire import AnswerReader, Reading


class ContentBlock:
    """Reports thinking, text or a call, until the block stops. `calls` are the numbers of calls."""

    def __init__(self, report: Report, speech: Speech, calls: Iterator[int], channel: str) -> None:
        self._report = report
        self._speech = speech
        self._calls = calls
        self._channel = channel
        self._thinking: int | None = None
        self._is_thinking = False
        self._text: int | None = None
        self._is_speaking = False
        self._call: Call | None = None
        self._arguments: Any = None
        self._start_text = ""  # in the start, until the first delta has come
        self.is_open = True

    def open(self, *, explicit: bool = True) -> None:
        self._is_thinking = True
        self._thinking = self._speech.number()
        start = {"block": self._thinking, "channel": self._channel, "explicit": explicit}
        self._report.add("thinking.start", **start)

    def think(self, text: str) -> None:
        if text := self._without_start(text):
            if not self._is_thinking:
                self.open(explicit=False)
            place = {"block": self._thinking, "channel": self._channel}
            self._report.add("thinking.delta", **place, text=text)

    def say(self, text: str) -> None:
        if text := self._without_start(text):
            if not self._is_speaking:
                self._is_speaking = True
                self._text = self._speech.number()
                self._report.add("text.start", block=self._text)
            self._report.add("text.delta", block=self._text, text=text)

    def note_start_text(self, text: str) -> None:
        """Note that this text stood in the start."""
        self._start_text = text

    def seal(self, kind: str, data: str) -> None:
        """Report opaque data; what is redacted belongs to no block that is shown."""
        self._speech.seal(kind, data, None if kind == "redacted" else self._thinking)

    def call(self, call_id: str, name: str, arguments: Any = None, *, hosted: bool = False) -> None:
        """Start a call; its arguments in the start stand for those that never come."""
        self._call = Call(self._report, next(self._calls), hosted=hosted)
        self._call.start(call_id, name)
        self._arguments = arguments

    def argue(self, arguments: str) -> None:
        if arguments:
            if self._call is None:
                self.call("", "")
            assert self._call is not None
            self._call.add(arguments)

    def stop(self) -> None:
        """End the block, as the wire says; a second stop says nothing."""
        if not self.is_open:
            return
        self.is_open = self._is_thinking = self._is_speaking = False
        if self._thinking is not None:
            self._report.add("thinking.end", block=self._thinking, explicit=True)
        if self._text is not None:
            self._report.add("text.end", block=self._text)
        if self._call is not None:
            if self._call.is_silent:
                self._call.add(arguments_text(self._arguments))
            self._call.end()

    def close(self) -> None:
        self.is_open = False
        if self._is_thinking:
            self._is_thinking = False
            self._report.add("thinking.end", block=self._thinking, explicit=False)
        if self._is_speaking:
            self._is_speaking = False
            self._report.add("text.end", block=self._text)
        if self._call is not None:
            self._call.end()

    def _without_start(self, text: str) -> str:
        """The text, or nothing where it repeats the start."""
        if not text:
            return ""
        start_text, self._start_text = self._start_text, ""
        return "" if text == start_text else text


class ContentBlocks:
    """The blocks of one message after the other. `channel` is that of their thinking."""

    def __init__(self, report: Report, speech: Speech, channel: str = "raw") -> None:
        self._report = report
        self._speech = speech
        self._channel = channel
        self._calls = count()
        # In the order in which they began.
        self._at: dict[tuple[str, int | None], ContentBlock] = {}
        self._last: dict[str, ContentBlock] = {}

    def whole(self) -> ContentBlock:
        """A block that comes in one piece."""
        return ContentBlock(self._report, self._speech, self._calls, self._channel)

    def begin(self, index: int | None, kind: str = "") -> ContentBlock:
        """A block that is announced; one that is open at its index ends."""
        if old := self._at.pop((kind, index), None):
            old.close()
        block = self._at[kind, index] = self._last[kind] = self.whole()
        return block

    def block(self, index: int | None, kind: str = "") -> ContentBlock:
        """The block that a delta says something of."""
        known = self._known_block(index, kind)
        return known if known is not None and known.is_open else self.begin(index, kind)

    def stop(self, index: int | None, kind: str = "") -> None:
        if known := self._known_block(index, kind):
            known.stop()

    def renew(self) -> None:
        """End what is open: another message begins."""
        self.close()
        self._at.clear()
        self._last.clear()

    def close(self) -> None:
        for block in self._at.values():
            block.close()

    def _known_block(self, index: int | None, kind: str) -> ContentBlock | None:
        return self._last.get(kind) if index is None else self._at.get((kind, index))


class BlockReader(AnswerReader):
    """A reader of an answer in blocks. `channel` is that of its thinking."""

    channel = "raw"

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._blocks = ContentBlocks(self._report, self._speech, self.channel)

    def _start_message(self, message: Mapping[str, Any], message_id: Any = "") -> None:
        self._blocks.renew()
        self._speech.again()
        self._is_done = False
        self._speech.meet(text_of(message_id))
        self._speech.begin(text_of(message.get("role")))

    def _close_open(self) -> None:
        self._blocks.close()
