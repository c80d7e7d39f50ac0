"""Both native APIs of Ollama: lines of JSON, or one whole answer, which looks the same.

Rule 1: inside one line thinking comes first, then text, then calls, which come whole.
Rule 2: the line that says `done` finishes, counts and is the end; an error line is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .event import Event
from .frame import Frame
from .markers import Splitter
from .outcome import error, finish, tokens
from .payload import compact, decode, object_of, objects_of, text_of
from .speech import Call
from .wire import AnswerReader, Reading


class OllamaReader(AnswerReader):
    """Reads one answer of the chat, whose lines have a `message`."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._splitter = Splitter(reading.markers, opened=reading.opened_by_prompt)
        self._calls = 0
        self._context: Any = None
        self._is_whole = False

    def read(self, frame: Frame) -> list[Event]:
        """The events of one line."""
        self._line(object_of(decode(frame.data)))
        return self._report.take()

    def body(self, payload: dict[str, Any]) -> list[Event]:
        """The events of a whole answer, or of an error in its place."""
        self._is_whole = True
        self._line(payload)
        return self._report.take()

    def echo(self) -> Mapping[str, Any]:
        """What a completion gives as the talk so far."""
        return {"context": self._context} if isinstance(self._context, list) else {}

    def _said(self, line: Mapping[str, Any]) -> dict[str, Any]:
        return object_of(line.get("message"))

    def _line(self, line: Mapping[str, Any]) -> None:
        message = self._said(line)
        thought, text = text_of(message.get("thinking")), text_of(message.get("content"))
        calls = objects_of(message.get("tool_calls"))
        if thought or text or calls or text_of(message.get("role")):
            self._speech.begin(text_of(message.get("role")))
        if thought:
            self._speech.speak(self._splitter.flush())
            self._speech.think(thought)
        self._speech.speak(self._splitter.feed(text))
        for call in calls:
            self._call(call)
        if line.get("done") is True:
            self._close()
            self._context = line.get("context")
            finish(self._report, line.get("done_reason"))
            counted = {"input": line.get("prompt_eval_count"), "output": line.get("eval_count")}
            tokens(self._report, counted)
            self._done(explicit=True)
        if line.get("error"):
            self._close()
            error(self._report, line["error"])

    def _close(self) -> None:
        self._speech.speak(self._splitter.flush())
        self._speech.pause()

    def _has_ended(self) -> bool:
        return self._is_whole

    def _call(self, given: Mapping[str, Any]) -> None:
        self._close()
        function = object_of(given.get("function"))
        call = Call(self._report, self._calls)
        self._calls += 1
        call.start(text_of(given.get("id")), text_of(function.get("name")))
        arguments = function.get("arguments")
        call.add(compact(arguments) if isinstance(arguments, dict) else text_of(arguments))
        call.end()


class CompletionReader(OllamaReader):
    """Reads one completion, whose lines have a `response`."""

    def _said(self, line: Mapping[str, Any]) -> dict[str, Any]:
        return {**line, "content": line.get("response")}
