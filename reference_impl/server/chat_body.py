"""Chat Completions in one piece: the chunks of a stream, put together.

There is one way to split thinking from text, and both forms of an answer go through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .wire import Wire

_TEXTS = ("content", "reasoning_content", "reasoning")


class ChatBody:
    """Adds up chunks; `body` is the completion, or the error that ended it."""

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self._calls: list[dict[str, Any]] = []
        self._finish: str | None = None
        self._usage: Any = None
        self._error: Mapping[str, Any] | None = None

    def add(self, wire: Wire) -> None:
        chunk = wire.data
        if isinstance(chunk, str):
            return
        if "error" in chunk:
            self._error = chunk
            return
        self._head = {name: chunk[name] for name in ("id", "created", "model")}
        self._usage = chunk.get("usage") or self._usage
        for choice in chunk["choices"]:
            self._finish = choice["finish_reason"] or self._finish
            self._delta(choice["delta"])

    def body(self) -> tuple[int, Mapping[str, Any]]:
        """Status and payload."""
        if self._error is not None:
            return 500, self._error
        choice = {
            "index": 0,
            "message": self._message(),
            "logprobs": None,
            "finish_reason": self._finish,
        }
        return 200, {
            **self._head,
            "object": "chat.completion",
            "choices": [choice],
            "usage": self._usage,
        }

    def _delta(self, delta: Mapping[str, Any]) -> None:
        for name in _TEXTS:
            if text := delta.get(name):
                self._texts.setdefault(name, []).append(text)
        self._call(delta.get("tool_calls", ()))

    def _call(self, pieces: Iterable[Mapping[str, Any]]) -> None:
        for piece in pieces:
            if "id" in piece:
                function = dict(piece["function"])
                begun = {"id": piece["id"], "type": "function", "function": function}
                self._calls.append(begun)
            elif self._calls:
                self._calls[-1]["function"]["arguments"] += piece["function"]["arguments"]

    def _message(self) -> dict[str, Any]:
        texts = {name: "".join(pieces) for name, pieces in self._texts.items()}
        content = texts.pop("content", None if self._calls else "")
        message = {"role": "assistant", "content": content, "refusal": None, **texts}
        return {**message, "tool_calls": self._calls} if self._calls else message
