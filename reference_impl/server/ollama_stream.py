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

from .engine import Finish, Start, ToolCall, Usage
from .projection import AnswerBody, AnswerProjection, call_arguments
from .refusal import Refusal, ollama_error
from .stamp import Stamp
from .wire import Wire

_NANOSECONDS = 1_000_000_000


class OllamaStream(AnswerProjection):
    def __init__(self, model: str, stamp: Stamp) -> None:
        super().__init__()
        self._model = model
        self._stamp = stamp
        self._calls = 0
        self._asked_at = stamp.clock()
        self._first_at: float | None = None

    def _start(self, start: Start) -> Iterator[Wire]:
        self._first_at = self._stamp.clock()
        return super()._start(start)

    def _think(self, text: str) -> Iterator[Wire]:
        yield self._line({"content": "", "thinking": text})

    def _say(self, text: str) -> Iterator[Wire]:
        yield self._line({"content": text})

    def _fail(self, refusal: Refusal) -> Iterator[Wire]:
        """The error is the last line; no line says that the answer is done."""
        yield Wire(ollama_error(refusal))

    def _call(self, call: ToolCall) -> Iterator[Wire]:
        arguments = call_arguments(call.arguments)
        function = {"index": self._calls, "name": call.name, "arguments": arguments}
        self._calls += 1
        called = {"id": self._stamp.new("call_"), "function": function}
        yield self._line({"content": "", "tool_calls": [called]})

    def _finish(self, finish: Finish) -> Iterator[Wire]:
        reason = "length" if finish.reason == "length" else "stop"
        last = {"done": True, "done_reason": reason, **self._counts(finish.usage)}
        yield self._line({"content": ""}, last)

    def _counts(self, usage: Usage) -> dict[str, int]:
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
                **self._message_fields(message),
                **(last or {"done": False}),
            }
        )

    def _message_fields(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"message": {"role": "assistant", **message}}


class GenerateStream(OllamaStream):
    """The lines of a completion: what is said stands on the line itself."""

    def _message_fields(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        texts = {"response": message["content"]}
        return {**texts, "thinking": message["thinking"]} if "thinking" in message else texts


class OllamaBody(AnswerBody):
    """The last line, with the whole message."""

    def __init__(self) -> None:
        super().__init__(ollama_error)
        self._texts: dict[str, str] = {self._text: "", "thinking": ""}
        self._calls: list[Any] = []
        self._last: Mapping[str, Any] = {}

    _text = "content"

    def _add(self, _: str, line: Mapping[str, Any]) -> None:
        self._last = line
        self._error = line if "error" in line else None
        message = self._message(line)
        for name in self._texts:
            self._texts[name] += message.get(name, "")
        self._calls += message.get("tool_calls", ())

    def _whole(self) -> dict[str, Any]:
        kept = {self._text: self._texts[self._text]}
        if self._texts["thinking"]:
            kept["thinking"] = self._texts["thinking"]
        return self._with_texts(kept)

    def _message(self, line: Mapping[str, Any]) -> Mapping[str, Any]:
        message: Mapping[str, Any] = line.get("message", {})
        return message

    def _with_texts(self, texts: Mapping[str, str]) -> dict[str, Any]:
        calls = {"tool_calls": self._calls} if self._calls else {}
        return {**self._last, "message": {"role": "assistant", **texts, **calls}}


class GenerateBody(OllamaBody):
    """The same of a completion: its texts stand on the line itself."""

    _text = "response"

    def _message(self, line: Mapping[str, Any]) -> Mapping[str, Any]:
        return line

    def _with_texts(self, texts: Mapping[str, str]) -> dict[str, Any]:
        return {**self._last, **texts}
