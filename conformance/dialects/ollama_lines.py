"""What both native APIs of Ollama have in common: answers as lines of JSON, or whole.

Rule 1: a line of an answer is `ollama.chunk`, the one that says `done` is `ollama.last`, a body is
        `ollama.body`; each is followed by `ollama.tool` per call. An error is `ollama.error`; a
        list of models is `models`, then `models.entry` per model.
Rule 2: fields of one line are taken in the order of semantic events: thinking, content, calls,
        finish, usage, error, done. A call comes whole, and is one whatever its number says.
Rule 3: every line that says `done` finishes, counts and is done, however often it comes. Any end
        without one is a cut; a body is done when it is there.
Rule 4: behind a line that says `done`, or an error, one that was made later and does not say it
        begins the next answer, where the one request is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from conformance.core.events import Ending, Event, Frame, Request
from conformance.core.json_values import NOT_JSON
from conformance.core.reading import Reading
from conformance.dialects import outcome
from conformance.dialects.history import request_events
from conformance.dialects.json_edge import (
    elements,
    event_data,
    mapping,
    string,
    whole_counts,
)
from conformance.dialects.ollama_message import Message
from conformance.dialects.sink import Sink
from conformance.dialects.wire_keys import AnswerBounds

LINE_EVENTS: Final = frozenset(
    {
        "request",
        "request.item",
        "ollama.chunk",
        "ollama.last",
        "ollama.body",
        "ollama.tool",
        "ollama.error",
        "models",
        "models.entry",
        "ollama.unknown",
    }
)
BOUNDS: Final = AnswerBounds(first=frozenset({"ollama.chunk"}), last=frozenset({"ollama.last"}))
_COUNTS: Final = {"input": "prompt_eval_count", "output": "eval_count"}


class LineReader:
    """Reader of one exchange; a dialect says where a line has what the model says."""

    history: ClassVar[str]  # the field of a request that holds what was said before
    holder: ClassVar[str]  # a key that shows a line of an answer

    def __init__(self, reading: Reading) -> None:
        self._sink = Sink()
        self._reading = reading
        self._message = Message(self._sink, reading)
        self._is_whole = False  # a body has come
        self._is_done = False
        self._may_be_over = False  # it is done, or has failed
        self._is_asked = False
        self._last_line: Mapping[str, Any] = {}
        self._lists_models = False

    def _said(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The message of a line: role, thinking, content and calls."""
        raise NotImplementedError

    def request(self, request: Request) -> list[Event]:
        self._is_asked = True
        return request_events(request, self.history)

    def read(self, frame: Frame, payload: Any, number: int) -> list[Event]:
        self._sink.begin(number)
        if payload is NOT_JSON:
            self._sink.wire("ollama.unknown", {"text": frame.data})
        else:
            self._value(mapping(payload), payload, is_body=frame.kind == "body")
        return self._sink.events()

    def end(self, how: Ending, number: int) -> list[Event]:
        self._sink.begin(number)
        if self._lists_models:  # nobody speaks in a list of models: it is neither done nor cut
            return []
        self._message.close()
        if how == "eof" and self._is_whole and not self._is_done:
            self._done(explicit=False)
        elif not self._is_done:
            self._sink.say("cut", {"choice": 0, "how": how})
        return self._sink.events()

    def echo(self, answer: int) -> Mapping[str, Any] | None:
        del answer
        return None

    def _value(self, fields: dict[str, Any], payload: Any, *, is_body: bool) -> None:
        self._is_whole = self._is_whole or is_body
        if fields == {"models": []} or ("models" in fields and lists_models(fields)):
            self._models(fields)
        elif self.holder in fields or "done" in fields:
            self._line(fields, is_body=is_body)
        elif not fields.get("error"):
            self._sink.wire("ollama.unknown", event_data(payload))
        if error := fields.get("error"):
            self._sink.wire("ollama.error", fields)
            self._message.close()
            self._may_be_over = True
            self._sink.say_error(outcome.error(error))

    def _line(self, fields: dict[str, Any], *, is_body: bool) -> None:
        is_last = fields.get("done") is True
        if self._may_be_over and not (is_last or self._is_asked):
            self._begin_answer(string(fields.get("created_at")))
        self._last_line = fields
        kind = "ollama.last" if is_last else "ollama.chunk"
        self._sink.wire("ollama.body" if is_body else kind, fields)
        message = self._said(fields)
        if "tool_calls" in message:
            for call in elements(message["tool_calls"]):
                self._sink.wire("ollama.tool", event_data(call))
        self._message.read(message, is_whole=is_body)
        if is_last:
            self._finish(fields)

    def _begin_answer(self, created: str) -> None:
        """Rule 4."""
        if created > string(self._last_line.get("created_at")):
            if not self._is_done:
                self._sink.say("cut", {"choice": 0, "how": "eof"})
            self._sink.next_answer()
            self._message = Message(self._sink, self._reading)
            self._is_done = self._may_be_over = False

    def _finish(self, fields: dict[str, Any]) -> None:
        self._message.close()
        if reason := string(fields.get("done_reason")):
            self._sink.finish(reason, marked=bool(self._reading.markers))
        self._sink.say_usage(whole_counts(fields, _COUNTS))
        self._done(explicit=True)

    def _done(self, *, explicit: bool) -> None:
        self._is_done = self._may_be_over = True
        self._sink.say("done", {"choice": 0, "explicit": explicit})

    def _models(self, fields: dict[str, Any]) -> None:
        self._lists_models = True
        self._sink.wire("models", fields)
        for element in elements(fields.get("models")):
            self._sink.wire("models.entry", event_data(element))


def lists_models(fields: dict[str, Any]) -> bool:
    """Whether a payload is the answer to `/api/tags`."""
    entries = elements(fields.get("models"))
    return bool(entries) and {"name", "model"} <= mapping(entries[0]).keys()
