"""The items of a response: each one opens, goes on and closes, and knows what it will have been.

An item yields the events of its life as (type, fields); the stream numbers them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

from reference_impl.server.engine import ToolCall
from reference_impl.server.paragraphs import Paragraphs
from reference_impl.server.settings import SummaryCarrier

Said = tuple[str, dict[str, Any]]
Status = Literal["completed", "incomplete"]

ADDED = "response.output_item.added"
CLOSED = "response.output_item.done"
PART_ADDED = "response.content_part.added"
PART_CLOSED = "response.content_part.done"


class ReasoningItem:
    """Raw thinking in one content part, then its summary, one part per paragraph."""

    def __init__(
        self, item_id: str, carrier: SummaryCarrier, seal: Callable[[str], str] | None
    ) -> None:
        self.id = item_id
        self._carrier = carrier
        self._seal = seal
        self._pieces: list[str] = []
        self._is_thinking = True
        self._paragraphs = Paragraphs()
        self._summary: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def opened(self) -> Iterator[Said]:
        item = {"id": self.id, "type": "reasoning", "status": "in_progress"}
        yield ADDED, {"item": {**item, "summary": [], "content": []}}
        yield PART_ADDED, self._content(part={"type": "reasoning_text", "text": ""})

    def think(self, text: str) -> Iterator[Said]:
        self._pieces.append(text)
        yield "response.reasoning_text.delta", self._content(delta=text)

    def summarise(self, text: str) -> Iterator[Said]:
        yield from self._stop_thinking()
        for number, piece in self._paragraphs.feed(text):
            if number == len(self._summary):
                yield from self._close_part()
                self._summary.append("")
                yield from self._told("part.added", part=_summary_part(""))
            self._summary[-1] += piece
            yield from self._told("text.delta", delta=piece)

    def closed(self, status: Status) -> Iterator[Said]:
        yield from self._stop_thinking()
        yield from self._close_part()
        yield CLOSED, {"item": self.final(status)}

    def final(self, status: Status) -> dict[str, Any]:
        item = {
            "id": self.id,
            "type": "reasoning",
            "status": status,
            "summary": [_summary_part(text) for text in self._summary],
            "content": [{"type": "reasoning_text", "text": self.text}],
        }
        return item if self._seal is None else {**item, "encrypted_content": self._seal(self.text)}

    def _stop_thinking(self) -> Iterator[Said]:
        if self._is_thinking:
            self._is_thinking = False
            yield "response.reasoning_text.done", self._content(text=self.text)
            part = {"type": "reasoning_text", "text": self.text}
            yield PART_CLOSED, self._content(part=part)

    def _close_part(self) -> Iterator[Said]:
        if self._summary:
            text = self._summary[-1]
            yield from self._told("text.done", text=text)
            yield from self._told("part.done", part=_summary_part(text))

    def _told(self, event: str, **fields: Any) -> Iterator[Said]:
        """An event of the summary, where summaries have events."""
        if self._carrier == "events":
            index = len(self._summary) - 1
            kind = f"response.reasoning_summary_{event}"
            yield kind, {"item_id": self.id, "summary_index": index, **fields}

    def _content(self, **fields: Any) -> dict[str, Any]:
        return {"item_id": self.id, "content_index": 0, **fields}


class MessageItem:
    """Visible text in one content part."""

    def __init__(self, item_id: str) -> None:
        self.id = item_id
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def opened(self) -> Iterator[Said]:
        yield ADDED, {"item": {**self._head("in_progress"), "content": []}}
        yield PART_ADDED, self._content(part=_text_part(""))

    def write(self, text: str) -> Iterator[Said]:
        self._pieces.append(text)
        yield "response.output_text.delta", self._content(delta=text, logprobs=[])

    def closed(self, status: Status) -> Iterator[Said]:
        text = self.text
        yield "response.output_text.done", self._content(text=text, logprobs=[])
        yield PART_CLOSED, self._content(part=_text_part(text))
        yield CLOSED, {"item": self.final(status)}

    def final(self, status: Status) -> dict[str, Any]:
        return {**self._head(status), "content": [_text_part(self.text)]}

    def _head(self, status: str) -> dict[str, Any]:
        return {"id": self.id, "type": "message", "status": status, "role": "assistant"}

    def _content(self, **fields: Any) -> dict[str, Any]:
        return {"item_id": self.id, "content_index": 0, **fields}


class CallItem:
    """A function call; its arguments come whole."""

    def __init__(self, item_id: str, call_id: str, call: ToolCall) -> None:
        self.id = item_id
        self.call_id = call_id
        self.call = call

    def opened(self) -> Iterator[Said]:
        yield ADDED, {"item": {**self._head("in_progress"), "arguments": ""}}
        arguments = self.call.arguments
        if arguments:
            delta = {"item_id": self.id, "delta": arguments}
            yield "response.function_call_arguments.delta", delta
        done = {"item_id": self.id, "arguments": arguments}
        yield "response.function_call_arguments.done", done

    def closed(self, status: Status) -> Iterator[Said]:
        yield CLOSED, {"item": self.final(status)}

    def final(self, status: Status) -> dict[str, Any]:
        return {**self._head(status), "arguments": self.call.arguments}

    def _head(self, status: str) -> dict[str, Any]:
        return {
            "id": self.id,
            "type": "function_call",
            "status": status,
            "call_id": self.call_id,
            "name": self.call.name,
        }


Item = ReasoningItem | MessageItem | CallItem


def _summary_part(text: str) -> dict[str, str]:
    return {"type": "summary_text", "text": text}


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
