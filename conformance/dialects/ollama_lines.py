"""What both native APIs of Ollama have in common: answers as lines of JSON, or whole.

Rule 1: a line of an answer is `ollama.chunk`, the one that says `done` is `ollama.last`, a body is
        `ollama.body`; each is followed by `ollama.tool` per call. An error is `ollama.error`; a
        list of models is `models`, then `models.entry` per model.
Rule 2: fields of one line are taken in the order of semantic events: thinking, content, calls,
        finish, usage, error, done. A call comes whole, and is one whatever its number says.
Rule 3: every line that says `done` finishes, counts and is done, however often it comes. Any end
        without one is a cut; a body is done when it is there.
Rule 4: after a line that says `done`, or an error, one that was made later and does not say it
        begins the next answer, where the one request is not known.

The message of one answer:

Rule 5: thinking and text form runs; a run ends when anything else comes.
Rule 6: a call comes whole: it starts, has its arguments and ends at once. It is numbered by its
        place among the calls of the answer, since servers may give all of them the number 0.
        Nothing is kept of a call, so there may be any number of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from conformance.core.events import Ending, Event, Frame, Request
from conformance.core.json_values import NOT_JSON, text_at
from conformance.core.reading import Reading
from conformance.dialects import outcome
from conformance.dialects.blocks import Block, Blocks
from conformance.dialects.history import request_events
from conformance.dialects.history_calls import CallPairing
from conformance.dialects.json_edge import (
    arguments_text,
    elements,
    event_data,
    mapping,
    objects,
    string,
    whole_counts,
)
from conformance.dialects.markers import MarkerPiece, Markers
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall
from conformance.dialects.wire_keys import AnswerBounds


class Message:
    """State of the one message of an exchange."""

    def __init__(self, sink: Sink, reading: Reading) -> None:
        self._sink = sink
        paths = (*reading.fields.get("thinking", ()), "thinking")
        self._thinking = tuple(tuple(path.split(".")) for path in paths)
        self._blocks = Blocks(0, sink)
        self._run: Block | None = None
        self._calls = 0
        self._has_started = False
        self._markers: Markers | None = None
        if reading.markers:
            self._markers = Markers(
                reading.markers,
                opened_by_prompt=reading.opened_by_prompt,
                last_close=reading.last_close,
                first_only=reading.first_block_only,
            )

    def read(self, message: dict[str, Any], *, is_whole: bool) -> None:
        """Reports what a piece of the message says."""
        thought = self._thought(message)
        text = string(message.get("content"))
        calls = objects(message["tool_calls"]) if "tool_calls" in message else []
        if not self._has_started:
            role = string(message.get("role"))
            if thought or text or calls or role:
                self._has_started = True
                self._sink.start_message(role)
        if thought:
            self._flush()
            self._think(thought)
        if text and self._markers is None:
            self._write(text)
        elif text and self._markers is not None:
            self._pieces(self._markers.feed(text, last=is_whole))
        for call in calls:
            self._call(call)

    def _thought(self, message: dict[str, Any]) -> str:
        for path in self._thinking:
            if text := text_at(message, *path):
                return text
        return ""

    def close(self) -> None:
        """Ends still owed: another thing comes, or the answer is over."""
        self._flush()
        self._end_run()

    def _think(self, text: str, *, explicit: bool = False) -> None:
        """Reports thinking; with `explicit` the start of a block, which may stay empty."""
        if self._run is None or self._run.channel is None or explicit:
            self._end_run()
            self._run = self._blocks.think("raw", explicit=explicit)
        if text:
            self._blocks.thought(self._run, "raw", text)

    def _write(self, text: str) -> None:
        if self._run is None or self._run.channel is not None:
            self._end_run()
            self._run = self._blocks.write()
        self._blocks.text(self._run, text)

    def _end_run(self, *, explicit: bool = False) -> None:
        self._blocks.close(self._run, explicit=explicit and self._run is not None)
        self._run = None

    def _flush(self) -> None:
        """Says what the markers held back: no more visible text comes just now."""
        if self._markers is not None:
            self._pieces(self._markers.flush())

    def _pieces(self, pieces: list[MarkerPiece]) -> None:
        for kind, text in pieces:
            if kind == "text":
                self._write(text)
            elif kind == "close":
                self._end_run(explicit=True)
            else:
                self._think(text if kind == "thinking" else "", explicit=kind == "open")

    def _call(self, element: dict[str, Any]) -> None:
        self.close()
        function = mapping(element.get("function"))
        name = string(function.get("name"))
        call = ToolCall(0, self._calls, string(element.get("id")), name)
        self._calls += 1
        call.start(self._sink)
        if arguments := arguments_text(function.get("arguments")):
            call.add(self._sink, arguments)
        call.end(self._sink)


LINE_EVENTS: Final = frozenset(
    {
        *("request", "request.item", "ollama.chunk", "ollama.last", "ollama.body", "ollama.tool"),
        *("ollama.error", "models", "models.entry", "ollama.unknown"),
    }
)
BOUNDS: Final = AnswerBounds(first=frozenset({"ollama.chunk"}), last=frozenset({"ollama.last"}))
_COUNTS: Final = {"input": "prompt_eval_count", "output": "eval_count"}


class LineReader:
    """Reader of one exchange; a dialect says where a line has what the model says."""

    history: ClassVar[str]  # the field of a request that holds the history
    holder: ClassVar[str]  # a key that shows a line of an answer
    call_pairing: ClassVar[CallPairing | None] = None  # of calls and results in that history

    def __init__(self, reading: Reading) -> None:
        self._sink = Sink()
        self._reading = reading
        self._message = Message(self._sink, reading)
        self._is_whole = False  # a body has come
        self._is_done = False
        self._may_be_over = False  # it is done, or has failed
        self._has_request = False
        self._last_line: Mapping[str, Any] = {}
        self._lists_models = False

    def _message_of(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The message of a line: role, thinking, content and calls."""
        raise NotImplementedError

    def request(self, request: Request) -> list[Event]:
        self._has_request = True
        return request_events(request, self.history, self.call_pairing)

    def read(self, frame: Frame, payload: Any, number: int) -> list[Event]:
        self._sink.begin(number)
        if payload is NOT_JSON:
            self._sink.wire("ollama.unknown", {"text": frame.data})
        else:
            self._value(mapping(payload), payload, is_body=frame.kind == "body")
        return self._sink.events()

    def end(self, how: Ending, number: int) -> list[Event]:
        self._sink.begin(number)
        if self._lists_models:  # a list of models is no answer: it is neither done nor cut
            return []
        self._message.close()
        if how == "eof" and self._is_whole and not self._is_done:
            self._done(explicit=False)
        elif not self._is_done:
            self._sink.emit("cut", {"choice": 0, "how": how})
        return self._sink.events()

    def echo(self, _answer: int) -> Mapping[str, Any] | None:
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
        if self._may_be_over and not (is_last or self._has_request):
            self._begin_answer(string(fields.get("created_at")))
        self._last_line = fields
        kind = "ollama.last" if is_last else "ollama.chunk"
        self._sink.wire("ollama.body" if is_body else kind, fields)
        message = self._message_of(fields)
        if "tool_calls" in message:
            for call in elements(message["tool_calls"]):
                self._sink.wire("ollama.tool", event_data(call))
        if message.get("images"):
            self._sink.show()
        self._message.read(message, is_whole=is_body)
        if is_last:
            self._finish(fields)

    def _begin_answer(self, created: str) -> None:
        """Rule 4."""
        if created > string(self._last_line.get("created_at")):
            if not self._is_done:
                self._sink.emit("cut", {"choice": 0, "how": "eof"})
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
        self._sink.emit("done", {"choice": 0, "explicit": explicit})

    def _models(self, fields: dict[str, Any]) -> None:
        self._lists_models = True
        self._sink.wire("models", fields)
        for element in elements(fields.get("models")):
            self._sink.wire("models.entry", event_data(element))


def lists_models(fields: dict[str, Any]) -> bool:
    """Whether a payload is the answer to `/api/tags`."""
    entries = elements(fields.get("models"))
    return bool(entries) and {"name", "model"} <= mapping(entries[0]).keys()
