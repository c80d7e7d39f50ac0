"""The items of a response: each one opens, goes on and closes, and knows what it will have been.

An item yields the events of its life as (type, fields); the stream numbers them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from .engine import ToolCall

Said = tuple[str, dict[str, Any]]
Status = Literal["completed", "incomplete"]

ADDED = "response.output_item.added"
CLOSED = "response.output_item.done"
PART_ADDED = "response.content_part.added"
PART_CLOSED = "response.content_part.done"


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


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
