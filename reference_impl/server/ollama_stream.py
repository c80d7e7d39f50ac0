"""Ollama's two APIs: engine events become lines of JSON, and a body puts the lines together.

Rule 1: a line holds thinking, text or whole calls, never two of them; `thinking` is left out where
        there is none, `content` never is.
Rule 2: the last line has `done` true, the reason and the counts; a call ends with `stop` too.
Rule 3: thinking is part of `eval_count`, and is not counted apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from .call_arguments import ArgumentsError, call_arguments
from .engine import Finish, ReasoningDelta, Start, TextDelta, ToolCall, Usage
from .refusal import ollama_error
from .stamp import Stamp
from .summary import AnswerEvent
from .wire import Wire

_NANOSECONDS = 1_000_000_000


class OllamaStream:
    """The lines of one answer."""

    def __init__(self, model: str, stamp: Stamp) -> None:
        self._model = model
        self._stamp = stamp
        self._calls = 0
        self._asked_at = stamp.clock()
        self._first_at: float | None = None
        self.is_over = False

    def opening(self) -> Iterator[Wire]:
        """Nothing: the first line holds what the model says first."""
        yield from ()

    def feed(self, event: AnswerEvent) -> Iterator[Wire]:
        match event:
            case Start():
                self._first_at = self._stamp.clock()
            case ReasoningDelta():
                yield self._line({"content": "", "thinking": event.text})
            case TextDelta():
                yield self._line({"content": event.text})
            case ToolCall():
                yield from self._call(event)
            case Finish():
                yield from self._finish(event)

    def fail(self, message: str) -> Iterator[Wire]:
        """The error is the last line; no line says that the answer is done."""
        yield Wire(ollama_error(message))
        self.is_over = True

    def _call(self, call: ToolCall) -> Iterator[Wire]:
        try:
            arguments = call_arguments(call.arguments)
        except ArgumentsError as err:
            yield from self.fail(str(err))
            return
        function = {"index": self._calls, "name": call.name, "arguments": arguments}
        self._calls += 1
        called = {"id": self._stamp.new("call_"), "function": function}
        yield self._line({"content": "", "tool_calls": [called]})

    def _finish(self, finish: Finish) -> Iterator[Wire]:
        if finish.reason == "cancelled":
            yield from self.fail("the generation was cancelled")
            return
        reason = "length" if finish.reason == "length" else "stop"
        last = {"done": True, "done_reason": reason, **self._counts(finish.usage)}
        yield self._line({"content": ""}, last)
        self.is_over = True

    def _counts(self, usage: Usage) -> dict[str, int]:
        """Tokens, and times in nanoseconds."""
        now = self._stamp.clock()
        first = now if self._first_at is None else self._first_at
        return {
            "total_duration": int((now - self._asked_at) * _NANOSECONDS),
            "load_duration": 0,
            "prompt_eval_count": usage.prompt,
            "prompt_eval_duration": int((first - self._asked_at) * _NANOSECONDS),
            "eval_count": usage.completion,
            "eval_duration": int((now - first) * _NANOSECONDS),
        }

    def _line(self, message: Mapping[str, Any], last: Mapping[str, Any] | None = None) -> Wire:
        at = datetime.fromtimestamp(self._stamp.clock(), UTC)
        return Wire(
            {
                "model": self._model,
                "created_at": at.isoformat(timespec="microseconds").replace("+00:00", "Z"),
                **self._said(message),
                **(last or {"done": False}),
            }
        )

    def _said(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"message": {"role": "assistant", **message}}


class GenerateStream(OllamaStream):
    """The lines of a completion: what is said stands on the line itself."""

    def _said(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        texts = {"response": message["content"]}
        return {**texts, "thinking": message["thinking"]} if "thinking" in message else texts


class GenerateBody:
    """Adds up lines; `body` is the last one with both texts, or the error that came."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {"response": [], "thinking": []}
        self._last: Mapping[str, Any] = {}

    def add(self, wire: Wire) -> None:
        assert not isinstance(wire.data, str)
        self._last = wire.data
        for name, pieces in self._texts.items():
            pieces.append(wire.data.get(name, ""))

    def body(self) -> tuple[int, Mapping[str, Any]]:
        """Status and payload."""
        if "error" in self._last:
            return 500, self._last
        texts = {name: "".join(pieces) for name, pieces in self._texts.items()}
        if not texts["thinking"]:
            del texts["thinking"]
        return 200, {**self._last, **texts}


class OllamaBody:
    """Adds up lines; `body` is the last one with the whole message, or the error that came."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {"content": [], "thinking": []}
        self._calls: list[Any] = []
        self._last: Mapping[str, Any] = {}

    def add(self, wire: Wire) -> None:
        assert not isinstance(wire.data, str)
        self._last = wire.data
        message = wire.data.get("message", {})
        for name, pieces in self._texts.items():
            pieces.append(message.get(name, ""))
        self._calls += message.get("tool_calls", ())

    def body(self) -> tuple[int, Mapping[str, Any]]:
        """Status and payload."""
        if "error" in self._last:
            return 500, self._last
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._texts["content"])}
        if thinking := "".join(self._texts["thinking"]):
            message["thinking"] = thinking
        if self._calls:
            message["tool_calls"] = self._calls
        return 200, {**self._last, "message": message}
