"""The messages of one answer while they come: what markers and text mean to a client.

Rule 1: the prompt ended with `<|start|>assistant`, so the answer begins inside a header, whose
        role is the assistant's. An answer that repeats the start says the role itself.
Rule 2: a header ends at `<|message|>`; another marker inside is part of it. A marker inside the
        content of a message that ends none is text, as a client shows it.
Rule 3: between two messages only `<|start|>` stands. `<|channel|>` and `<|message|>` open the next
        message all the same; anything else there is ignored. After `<|return|>` or `<|call|>`
        nothing means anything.
Rule 4: analysis is thinking, commentary and everything else is text. A message of the assistant
        to a recipient is a call; messages of other roles are not the model's to say.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from conformance.dialects.blocks import Block, Blocks
from conformance.dialects.harmony.header import ASSISTANT, Header, read_header
from conformance.dialects.harmony.markers import (
    ENDS,
    MESSAGE,
    START,
    STOPS,
    MarkerSplitter,
    Piece,
)
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall

Place = Literal["header", "content", "between", "after"]
FUNCTIONS: Final = "functions."
_OPENING: Final = ("channel", MESSAGE)


class Messages:
    """State of the messages of one choice."""

    def __init__(self, choice: int, sink: Sink) -> None:
        self._choice = choice
        self._sink = sink
        self._blocks = Blocks(choice, sink)
        self._splitter = MarkerSplitter()
        self._place: Place = "header"
        self._number = 0
        self._head: list[str] = []  # the header while it comes
        self._has_role = False  # `<|start|>` is before it
        self._header = Header(ASSISTANT)
        self._block: Block | None = None
        self._call: ToolCall | None = None
        self._calls = 0
        self._has_started = False
        self.stopped_by = ""

    def read(self, text: str) -> None:
        """Reports what a piece of token text says."""
        self._take(self._splitter.feed(text))

    def close(self) -> None:
        """Ends still owed: no more text comes."""
        self._take(self._splitter.flush())
        self._close_content(explicit=False)

    def _take(self, pieces: list[Piece]) -> None:
        for name, text in pieces:
            if name:
                self._take_marker(name, text)
            else:
                self._take_text(text)

    def _take_marker(self, name: str, text: str) -> None:
        if self._place == "between" and (name == START or name in _OPENING):
            # Without a start the place is reported as it is: that is what is wrong.
            self._wire("harmony.marker", name=name, place="header" if name == START else "between")
            self._begin_header(has_role=name == START)
            if name == START:
                return
        else:
            self._wire("harmony.marker", name=name, place=self._place)
        if self._place == "header":
            self._take_in_header(name, text)
        elif self._place == "content" and name in ENDS:
            self._end_message(name)
        elif self._place == "content":
            self._add_text(text)

    def _take_text(self, text: str) -> None:
        if self._place == "content":
            self._wire("harmony.text", text=text, place=self._place, **self._header.fields())
            self._add_text(text)
            return
        self._wire("harmony.text", text=text, place=self._place)
        if self._place == "header":
            self._head.append(text)

    def _begin_header(self, *, has_role: bool) -> None:
        self._place = "header"
        self._head.clear()
        self._has_role = has_role

    def _take_in_header(self, name: str, text: str) -> None:
        if name == START and not self._has_role and not any(map(str.strip, self._head)):
            self._begin_header(has_role=True)
        elif name == MESSAGE:
            self._open_message()
        elif name in ENDS:
            self._leave(name)
        else:
            self._head.append(text)

    def _open_message(self) -> None:
        self._place = "content"
        text = "".join(self._head)
        header = self._header = read_header(text, has_role=self._has_role)
        self._wire("harmony.message", header=text, **header.fields())
        if header.role != ASSISTANT:
            return
        if not self._has_started:
            self._has_started = True
            self._sink.start_message(ASSISTANT, choice=self._choice)
        if header.recipient:
            name = header.recipient.removeprefix(FUNCTIONS)
            self._call = ToolCall(self._choice, self._calls, "", name)
            self._calls += 1
            self._call.start(self._sink)
        elif header.channel == "analysis":
            self._block = self._blocks.think("raw", explicit=True)

    def _add_text(self, text: str) -> None:
        if self._call is not None:
            self._call.add(self._sink, text)
        elif self._header.role != ASSISTANT:
            return
        elif self._block is not None and self._block.channel is not None:
            self._blocks.thought(self._block, "raw", text)
        else:
            if self._block is None:
                is_preamble = self._header.channel == "commentary"
                self._block = self._blocks.write("commentary" if is_preamble else "")
            self._blocks.text(self._block, text)

    def _end_message(self, by: str) -> None:
        self._wire("harmony.end", by=by, **self._header.fields())
        self._close_content(explicit=True)
        self._leave(by)

    def _leave(self, by: str) -> None:
        self._place = "between"
        self._number += 1
        if by in STOPS:
            self._place = "after"
            self.stopped_by = by

    def _close_content(self, *, explicit: bool) -> None:
        if self._call is not None:
            self._call.end(self._sink)
        block, self._call, self._block = self._block, None, None
        if block is not None:
            self._blocks.close(block, explicit=explicit and block.channel is not None)

    def _wire(self, kind: str, **data: Any) -> None:
        self._sink.wire(kind, {"choice": self._choice, "message": self._number, **data})
