"""The items of a response: each one opens, goes on and closes, and knows what it will have been.

An item yields the events of its life as (type, fields); the stream numbers them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from .engine import ToolCall
from .settings import SummaryCarrier, SummaryParts

ItemEvent = tuple[str, dict[str, Any]]
Status = Literal["completed", "incomplete"]

ADDED = "response.output_item.added"
CLOSED = "response.output_item.done"
PART_ADDED = "response.content_part.added"
PART_CLOSED = "response.content_part.done"


class MessageItem:
    def __init__(self, item_id: str) -> None:
        self.id = item_id
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def opened(self) -> Iterator[ItemEvent]:
        yield ADDED, {"item": {**self._item_head("in_progress"), "content": []}}
        yield PART_ADDED, self._content_fields(part=_text_part(""))

    def write(self, text: str) -> Iterator[ItemEvent]:
        self._pieces.append(text)
        yield "response.output_text.delta", self._content_fields(delta=text, logprobs=[])

    def closed(self, status: Status) -> Iterator[ItemEvent]:
        text = self.text
        yield "response.output_text.done", self._content_fields(text=text, logprobs=[])
        yield PART_CLOSED, self._content_fields(part=_text_part(text))
        yield CLOSED, {"item": self.final(status)}

    def final(self, status: Status) -> dict[str, Any]:
        return {**self._item_head(status), "content": [_text_part(self.text)]}

    def _item_head(self, status: str) -> dict[str, Any]:
        return {"id": self.id, "type": "message", "status": status, "role": "assistant"}

    def _content_fields(self, **fields: Any) -> dict[str, Any]:
        return {"item_id": self.id, "content_index": 0, **fields}


class CallItem:
    """A function call; its arguments come whole."""

    def __init__(self, item_id: str, call_id: str, call: ToolCall) -> None:
        self.id = item_id
        self.call_id = call_id
        self.call = call

    def opened(self) -> Iterator[ItemEvent]:
        yield ADDED, {"item": {**self._item_head("in_progress"), "arguments": ""}}
        arguments = self.call.arguments
        if arguments:
            delta = {"item_id": self.id, "delta": arguments}
            yield "response.function_call_arguments.delta", delta
        done = {"item_id": self.id, "arguments": arguments}
        yield "response.function_call_arguments.done", done

    def closed(self, status: Status) -> Iterator[ItemEvent]:
        yield CLOSED, {"item": self.final(status)}

    def final(self, status: Status) -> dict[str, Any]:
        return {**self._item_head(status), "arguments": self.call.arguments}

    def _item_head(self, status: str) -> dict[str, Any]:
        return {
            "id": self.id,
            "type": "function_call",
            "status": status,
            "call_id": self.call_id,
            "name": self.call.name,
        }


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


_GAP: Final = re.compile(r"(\n[ \t\r\n]*)")


class Paragraphs:
    """Says of every piece of text which paragraph it belongs to.

    A line of nothing but white space is blank. Line ends, and the white space after them, are held
    back until it is known whether they are part of a paragraph or stand between two; those at the
    very beginning and end are dropped.
    """

    def __init__(self) -> None:
        self._number = -1
        self._held = ""

    def feed(self, text: str) -> Iterator[tuple[int, str]]:
        """Number of the paragraph, from 0, and text of it."""
        text, self._held = self._held + text, ""
        if self._number < 0:
            if not text.strip():
                self._held = text
                return
            text = _from_first_line(text)
            self._number = 0
        first, *rest = _GAP.split(text)
        if first:
            yield self._number, first
        for gap, run in zip(rest[::2], rest[1::2], strict=True):
            if not run:
                self._held = gap
            elif gap.count("\n") > 1:
                self._number += 1
                yield self._number, gap.rpartition("\n")[2] + run
            else:
                yield self._number, gap + run


def _from_first_line(text: str) -> str:
    """Without the blank lines before the first that is none."""
    lead = text[: len(text) - len(text.lstrip())]
    return text[lead.rfind("\n") + 1 :]


class OnePart:
    """The same for text that is to stay in one piece, white space at its end apart."""

    def __init__(self) -> None:
        self._held = ""
        self._begun = False

    def feed(self, text: str) -> Iterator[tuple[int, str]]:
        text = self._held + text
        spoken = text.rstrip()
        self._held = text[len(spoken) :]
        if spoken:
            yield 0, spoken if self._begun else spoken.lstrip()
            self._begun = True


@dataclass(frozen=True, slots=True)
class ThinkingShape:
    """How reasoning items look. `seal` makes the encrypted content of thinking; None for none.

    `as_summary`: thinking itself is reported as if it were a summary of one part, and nothing else
    is.
    """

    carrier: SummaryCarrier = "events"
    parts: SummaryParts = "paragraphs"
    states_text: bool = True
    as_summary: bool = False
    seal: Callable[[str], str] | None = None


class ReasoningItem:
    """Raw thinking in one content part, then the parts of its summary."""

    def __init__(self, item_id: str, shape: ThinkingShape) -> None:
        self.id = item_id
        self._shape = shape
        self._pieces: list[str] = []
        self._is_thinking = not shape.as_summary
        self._parts = Paragraphs() if shape.parts == "paragraphs" else OnePart()
        self._summary: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def opened(self) -> Iterator[ItemEvent]:
        item = {"id": self.id, "type": "reasoning", "status": "in_progress", "summary": []}
        if self._shape.as_summary:
            yield ADDED, {"item": item}
            return
        yield ADDED, {"item": {**item, "content": []}}
        yield PART_ADDED, self._content_fields(part={"type": "reasoning_text", "text": ""})

    def think(self, text: str) -> Iterator[ItemEvent]:
        self._pieces.append(text)
        if self._shape.as_summary:
            yield from self._add_to_summary(0, text)
        else:
            yield "response.reasoning_text.delta", self._content_fields(delta=text)

    def summarise(self, text: str) -> Iterator[ItemEvent]:
        yield from self._stop_thinking()
        for number, piece in self._parts.feed(text):
            yield from self._add_to_summary(number, piece)

    def closed(self, status: Status) -> Iterator[ItemEvent]:
        yield from self._stop_thinking()
        yield from self._close_part()
        yield CLOSED, {"item": self.final(status)}

    def final(self, status: Status) -> dict[str, Any]:
        item = {
            "id": self.id,
            "type": "reasoning",
            "status": status,
            "summary": [_summary_part(text) for text in self._summary],
        }
        if not self._shape.as_summary:
            item["content"] = [{"type": "reasoning_text", "text": self.text}]
        seal = self._shape.seal
        return item if seal is None else {**item, "encrypted_content": seal(self.text)}

    def _stop_thinking(self) -> Iterator[ItemEvent]:
        if self._is_thinking:
            self._is_thinking = False
            yield "response.reasoning_text.done", self._content_fields(text=self.text)
            part = {"type": "reasoning_text", "text": self.text}
            yield PART_CLOSED, self._content_fields(part=part)

    def _add_to_summary(self, number: int, piece: str) -> Iterator[ItemEvent]:
        """A piece of a part of the summary."""
        if number == len(self._summary):
            yield from self._close_part()
            self._summary.append("")
            yield from self._summary_event("part.added", part=_summary_part(""))
        self._summary[-1] += piece
        yield from self._summary_event("text.delta", delta=piece)

    def _close_part(self) -> Iterator[ItemEvent]:
        if self._summary:
            text = self._summary[-1]
            if self._shape.states_text:
                yield from self._summary_event("text.done", text=text)
            yield from self._summary_event("part.done", part=_summary_part(text))

    def _summary_event(self, event: str, **fields: Any) -> Iterator[ItemEvent]:
        """An event of the summary, where summaries have events."""
        if self._shape.as_summary or self._shape.carrier == "events":
            index = len(self._summary) - 1
            kind = f"response.reasoning_summary_{event}"
            yield kind, {"item_id": self.id, "summary_index": index, **fields}

    def _content_fields(self, **fields: Any) -> dict[str, Any]:
        return {"item_id": self.id, "content_index": 0, **fields}


def _summary_part(text: str) -> dict[str, str]:
    return {"type": "summary_text", "text": text}
