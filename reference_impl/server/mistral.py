"""Chat Completions as Mistral's API has them: thinking is a part of the content.

Rule 1: thinking comes in parts, ends with an empty part, and goes on in no other field; text is a
        plain string. What was not thought has no part.
Rule 2: a call comes whole, with an id of nine letters and digits.
Rule 3: usage is in the chunk that finishes, asked for or not; it counts no thinking apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .chat_stream import ChatBody, ChatStream, chat_usage
from .engine import Finish, ToolCall
from .wire import DONE, Wire

_ID: Final = 9


class MistralStream(ChatStream):
    def _think(self, text: str) -> Iterator[Wire]:
        self._is_wrapping = True
        yield self._part([{"type": "text", "text": text}])

    def _unwrap(self) -> Iterator[Wire]:
        if self._is_wrapping:
            self._is_wrapping = False
            yield self._part([])

    def _part(self, thinking: list[Mapping[str, Any]]) -> Wire:
        return self._chunk({"content": [{"type": "thinking", "thinking": thinking}]})

    def _call(self, call: ToolCall) -> Iterator[Wire]:
        function = {"name": call.name, "arguments": call.arguments}
        named = {"id": self._stamp.new("")[-_ID:], "type": "function"}
        yield self._chunk({"tool_calls": [{"index": self._calls, **named, "function": function}]})
        self._calls += 1

    def _finish(self, finish: Finish) -> Iterator[Wire]:
        last = self._chunk({"content": ""}, finish.reason)
        assert not isinstance(last.data, str)
        yield Wire({**last.data, "usage": chat_usage(finish.usage, details=False)})
        yield Wire(DONE)


class MistralBody(ChatBody):
    """Adds up chunks: thinking and text are parts where there is thinking, else a text."""

    def __init__(self) -> None:
        super().__init__()
        self._thought: list[str] = []

    def _delta(self, delta: Mapping[str, Any]) -> None:
        content = delta.get("content")
        if not isinstance(content, list):
            super()._delta(delta)
            return
        for part in content:
            self._thought += [piece["text"] for piece in part["thinking"]]

    def _message(self) -> dict[str, Any]:
        message = super()._message()
        text = message["content"] or ""
        if not self._thought:
            return {**message, "content": text}
        parts = [{"type": "text", "text": "".join(self._thought)}]
        spoken = [{"type": "text", "text": text}] if text else []
        thinking = {"type": "thinking", "thinking": parts, "closed": True}
        return {**message, "content": [thinking, *spoken]}
