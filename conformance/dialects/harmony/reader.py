"""Dialect `harmony`: the token text of gpt-oss, raw or as the `text` of completions.

Rule 1: every marker is `harmony.marker`, text between markers `harmony.text`, both with their
        `place` (header, content, between, after); the end of a header is `harmony.message`, that
        of a message `harmony.end`. All bear `choice` and `message`, counted from 0.
Rule 2: a chunk of `/v1/completions` is `harmony.chunk`, a body `harmony.body`, each followed by
        `harmony.choice` per choice and then by what its text holds. An error is `harmony.error`.
Rule 3: raw text is finished and done by `<|return|>` or `<|call|>`. A completion is finished by its
        finish reason and done by `[DONE]`, since servers cut the last marker off; a body is done
        when it is there. Any other end is a cut.
Rule 4: beyond `MOST_CHOICES` choices one wire event `harmony.overflow` ends the semantic events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.core.events import Ending, Event, Frame, Request
from conformance.core.excerpts import clipped
from conformance.core.json_values import NOT_JSON
from conformance.core.reading import Reading
from conformance.dialects import outcome
from conformance.dialects.harmony.markers import SPECIAL_TOKENS
from conformance.dialects.harmony.message import Messages
from conformance.dialects.harmony.prompt import prompt_events
from conformance.dialects.history import vocabulary
from conformance.dialects.json_edge import elements, event_data, mapping, string
from conformance.dialects.sink import Sink

NAME: Final = "harmony"
MOST_CHOICES: Final = 4096
VOCABULARY: Final = vocabulary(
    NAME,
    *("harmony.marker", "harmony.text", "harmony.message", "harmony.end", "harmony.chunk"),
    *("harmony.body", "harmony.choice", "harmony.error", "harmony.unknown", "harmony.overflow"),
)
_MARKERS: Final = tuple(SPECIAL_TOKENS.values())
_START: Final = "<|start|>"
_LONGEST: Final = 40  # characters of a header


class HarmonyReader:
    def __init__(self, _reading: Reading) -> None:
        self._sink = Sink()
        self._choices: dict[int, Messages] = {}
        self._is_whole = False  # a body has come
        self._is_done = False
        self._is_over = False  # rule 4

    def request(self, request: Request) -> list[Event]:
        return prompt_events(request)

    def read(self, frame: Frame, payload: Any, number: int) -> list[Event]:
        sink = self._sink
        sink.begin(number)
        if frame.kind == "text":
            self._read_raw(payload)
        elif payload is NOT_JSON and frame.data == "[DONE]" and frame.kind != "body":
            sink.wire("[DONE]", {})
            self._say_done(explicit=True)
        elif payload is NOT_JSON:
            sink.wire("harmony.unknown", {"text": frame.data})
        else:
            self._read_completion(payload, is_body=frame.kind == "body")
        return sink.events()

    def end(self, how: Ending, number: int) -> list[Event]:
        self._sink.begin(number)
        if self._is_over:
            return []
        if how == "eof" and self._is_whole and not self._is_done:
            self._say_done(explicit=False)
        self._close_choices()
        if not self._is_done:
            self._sink.emit("cut", {"choice": 0, "how": how})
        return self._sink.events()

    def echo(self, _answer: int) -> Mapping[str, Any] | None:
        return None

    def _read_raw(self, text: str) -> None:
        messages = self._messages_of(0)
        if messages is None:
            return
        was_stopped = bool(messages.stopped_by)
        messages.read(text)
        if messages.stopped_by and not was_stopped:
            self._sink.emit("finish", {"choice": 0, "reason": messages.stopped_by})
            self._say_done(explicit=True)

    def _read_completion(self, payload: Any, *, is_body: bool) -> None:
        fields = mapping(payload)
        error = fields.get("error")
        if "choices" in fields:
            self._is_whole = self._is_whole or is_body
            self._sink.wire("harmony.body" if is_body else "harmony.chunk", fields)
            for position, element in enumerate(elements(fields["choices"])):
                self._read_choice(mapping(element), position)
        elif not error:
            self._sink.wire("harmony.unknown", event_data(payload))
        if error:
            self._sink.wire("harmony.error", event_data(payload, is_whole=is_body))
        if self._is_over:
            return
        if (counts := outcome.usage(fields.get("usage"))) is not None:
            self._sink.emit("usage", counts)
        if error:
            self._close_choices()
            self._sink.say_error(outcome.error(error))

    def _read_choice(self, element: dict[str, Any], position: int) -> None:
        index = element.get("index")
        number = index if type(index) is int and index >= 0 else position
        self._sink.wire("harmony.choice", {**element, "choice": number})
        messages = None if self._is_over else self._messages_of(number)
        if messages is None:
            return
        if text := string(element.get("text")):
            messages.read(text)
        if reason := string(element.get("finish_reason")):
            messages.close()
            self._sink.emit("finish", {"choice": number, "reason": reason})

    def _messages_of(self, number: int) -> Messages | None:
        """The messages of a choice; None where there are too many choices."""
        messages = self._choices.get(number)
        if messages is None:
            if len(self._choices) >= MOST_CHOICES:
                self._is_over = True
                self._sink.wire("harmony.overflow", {"choices": len(self._choices)})
                return None
            messages = self._choices[number] = Messages(number, self._sink)
        return messages

    def _say_done(self, *, explicit: bool) -> None:
        if not self._is_over:
            self._close_choices()
            self._is_done = True
            self._sink.emit("done", {"choice": 0, "explicit": explicit})

    def _close_choices(self) -> None:
        for messages in self._choices.values():
            messages.close()


def recognises(frame: Frame, payload: Any) -> bool:
    """Raw text that begins with a marker, or a completion whose text does.

    Only with one of its own: prompts of agents begin with markers that their authors made up.
    """
    if frame.kind == "text":
        return string(payload).startswith(_MARKERS)
    choices = map(mapping, elements(mapping(payload).get("choices")))
    return any(string(choice.get("text")).startswith(_MARKERS) for choice in choices)


def doubts(payloads: Sequence[Mapping[str, Any]]) -> str | None:
    """A text that begins with what a model is given, as a rendered prompt does, is no answer."""
    start, header = (string(each.get("text")) for each in (*payloads, {}, {})[:2])
    if start != _START or not header or header.startswith("assistant"):
        return None
    return f"its first message is of {clipped(header, _LONGEST)}, not of the model"
