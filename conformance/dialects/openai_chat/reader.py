"""Dialect `openai.chat`: Chat Completions, streamed or whole.

Rule 1: a chunk is `chat.chunk`, then per choice `chat.choice`, `chat.tool`, `chat.detail`; a body
        is `chat.completion`, then per choice `chat.message`, `chat.tool`, `chat.detail`; a list of
        models is `models`, then `models.entry` per model. `choice` is the element's own `index`,
        whatever it holds; semantic events fall back to its position. A choice has `again` where
        one before it in the chunk has its index.
Rule 2: choices of one chunk come one after the other, then usage, error and done.
Rule 3: every finish, usage object and `[DONE]` is reported, however often it comes.
Rule 4: a stream that ends by itself with every choice finished but without `[DONE]` is done, not
        explicitly; any other end without `[DONE]` is a cut. A body is done when it is there.
Rule 5: beyond `MOST_CHOICES` choices (or tool calls of a choice) one wire event
        `openai.chat.overflow` ends the semantic events.
Rule 6: where the one request is not known, a chunk of another id begins the next answer after
        `[DONE]`; where it brings a role or a text, once the one before has finished or failed;
        where it brings a role, also when the id had not changed before. So does a role after
        `[DONE]` or an error, whatever its id. What has no id begins none there: a gateway's bill.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.events import Ending, Event, Frame, Request
from conformance.core.json_values import NOT_JSON
from conformance.dialects import outcome
from conformance.dialects.base import Reading
from conformance.dialects.history import request_events, vocabulary
from conformance.dialects.history_calls import OF_CHAT
from conformance.dialects.json_edge import (
    NO_FIELDS,
    elements,
    event_data,
    mapping,
    objects,
    string,
)
from conformance.dialects.openai_chat.choice import Choice
from conformance.dialects.sink import Sink
from conformance.dialects.unsupported import COMPLETIONS, is_on_your_data

NAME: Final = "openai.chat"
OVERFLOW: Final = "openai.chat.overflow"
MOST_CHOICES: Final = 4096
_DELETED: Final = "chat.completion.deleted"

VOCABULARY: Final = vocabulary(
    NAME,
    *("request.call", "request.result", "chat.chunk", "chat.choice", "chat.tool", "chat.detail"),
    *("chat.completion", "chat.message", "chat.error", "models", "models.entry", "chat.unknown"),
    OVERFLOW,
)

_FILTER_KEYS: Final = frozenset({"content_filter_results", "content_filter_result"})
_NOTHING: Final[tuple[object, ...]] = (None, "", {})  # what a field holds that says nothing
_UNROLLED: Final = {"tool_calls": "chat.tool", "reasoning_details": "chat.detail"}


class ChatReader:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._sink = Sink()
        self._has_request = False
        self._id: str | None = None  # of the chunks
        self._is_steady = False  # two chunks had the id: it is not made anew for every chunk
        self._renew()

    def _renew(self) -> None:
        self._choices: dict[int, Choice] = {}
        self._open: dict[int, Choice] = {}  # those that said something since the last end
        self._is_body = False
        self._is_done = False
        self._is_over = False  # rule 5
        self._may_be_over = False  # it is done, or has failed

    def request(self, request: Request) -> list[Event]:
        self._has_request = True
        return request_events(request, "messages", OF_CHAT)

    def read(self, frame: Frame, payload: Any, number: int) -> list[Event]:
        sink = self._sink
        sink.begin(number)
        if payload is NOT_JSON:
            self._read_text(frame)
        elif frame.kind == "body":
            self._is_body = True
            self._read_payload(payload, "message", is_error=False)
        else:
            self._read_payload(payload, "delta", is_error=frame.event == "error")
        return sink.wired + sink.semantic if sink.answer == 1 else sink.events()

    def _read_text(self, frame: Frame) -> None:
        if frame.data.rstrip() == "[DONE]" and frame.kind != "body":
            self._sink.wire("[DONE]", {})
            self._say_done(explicit=True)
        else:
            self._sink.wire("chat.unknown", {"text": frame.data})

    def end(self, how: Ending, number: int) -> list[Event]:
        self._sink.begin(number)
        if self._is_over:
            return []
        self._say_end(how)
        return self._sink.events()

    def _say_end(self, how: Ending) -> None:
        if how == "eof" and not self._is_done and self._has_all():
            self._say_done(explicit=False)
        self._close_choices()
        if not self._is_done:
            self._sink.emit("cut", {"choice": 0, "how": how})

    def _see_id(self, fields: dict[str, Any], field: str) -> None:
        """Another id, or a chunk after the end: maybe the next answer (rule 6)."""
        name = string(fields.get("id"))
        if field == "message":
            return
        if self._id and not self._has_request and self._begins_answer(name, fields):
            if not self._is_over:
                self._say_end("eof")
            self._sink.next_answer()
            self._renew()
            self._id = None
        if name and name != self._id:
            self._id, self._is_steady = name, False

    def _begins_answer(self, name: str, fields: dict[str, Any]) -> bool:
        deltas = [mapping(each.get("delta")) for each in objects(fields.get("choices"))]
        has_role = any(delta.get("role") for delta in deltas)
        if name == self._id:
            return has_role and self._may_be_over
        if self._is_done:
            return bool(name)
        if self._has_all() or self._sink.has_failed:
            return bool(name) and (has_role or any(delta.get("content") for delta in deltas))
        return bool(name) and has_role and self._is_steady

    def echo(self, answer: int) -> Mapping[str, Any] | None:
        del answer
        return None

    def _has_all(self) -> bool:
        finished = bool(self._choices) and all(c.is_finished for c in self._choices.values())
        return finished or self._is_body

    def _say_done(self, *, explicit: bool) -> None:
        if not self._is_over:
            self._close_choices()
            self._is_done = self._may_be_over = True
            self._sink.emit("done", {"choice": 0, "explicit": explicit})

    def _close_choices(self) -> None:
        for choice in self._open.values():
            choice.close()
        self._open.clear()

    def _read_payload(self, payload: Any, field: str, *, is_error: bool) -> None:
        fields, fits = mapping(payload), True
        error = fields.get("error")
        is_error = is_error or bool(error)
        if "choices" in fields:
            if fields.get("id") != self._id or self._may_be_over:
                self._see_id(fields, field)
            else:
                self._is_steady = True
            self._sink.wire("chat.chunk" if field == "delta" else "chat.completion", fields)
            fits = self._read_choices(fields, field)
        elif not is_error:
            self._read_other(payload, fields)
            return
        if is_error:
            self._sink.wire("chat.error", event_data(payload))
        if not fits:
            self._is_over = True
            self._sink.wire(OVERFLOW, {"choices": len(self._choices)})
        if self._is_over:
            return
        if (usage := fields.get("usage")) is not None:
            self._say_usage(usage)
        if is_error:
            self._may_be_over = True
            self._sink.say_error(outcome.error(self._stated_error(payload)))

    def _stated_error(self, payload: Any) -> Any:
        """What a payload that is an error says of it."""
        return mapping(payload).get("error") or payload

    def _say_usage(self, usage: Any) -> None:
        if (counts := outcome.usage(usage)) is not None:
            self._sink.emit("usage", counts)

    def _read_other(self, payload: Any, fields: dict[str, Any]) -> None:
        # An empty list might be one of anything; among answers it is of models.
        if not _lists_models(fields) and fields != {"object": "list", "data": []}:
            is_bare = not isinstance(payload, dict) or all(x in _NOTHING for x in payload.values())
            bare = {"bare": True} if is_bare else NO_FIELDS
            self._sink.wire("chat.unknown", event_data(payload, **bare))
            return
        self._is_over = True  # a list of models is no answer: it is neither done nor cut
        self._sink.wire("models", fields)
        for element in elements(fields.get("data")):
            self._sink.wire("models.entry", event_data(element))

    def _read_choices(self, fields: dict[str, Any], field: str) -> bool:
        """Events of every choice; False where there are more than are kept."""
        sink, fits = self._sink, True
        choices = elements(fields.get("choices"))
        again = _repeated(choices) if len(choices) > 1 else ()
        for position, element in enumerate(choices):
            if not isinstance(element, dict):
                self._wire_stray(element, field)
                continue
            index, inner = element.get("index"), element.get(field)
            if field == "delta":
                own = {"again": True} if position in again else NO_FIELDS
                sink.wire("chat.choice", {**element, "choice": index, **own})
            else:
                self._wire_message(inner, element)
            if not isinstance(inner, dict):
                inner = NO_FIELDS
            else:
                self._wire_inner(inner, index)
            if fits and not self._is_over:
                choice = self._choice_at(index, position, field)
                fits = choice is not None and choice.read(inner, element, fields)
        return fits

    def _wire_stray(self, element: Any, field: str) -> None:
        """What stands among the choices and is none."""
        if field == "delta":
            self._sink.wire("chat.choice", event_data(element, choice=None))
        else:
            self._wire_message(None, NO_FIELDS)

    def _wire_message(self, message: Any, element: dict[str, Any]) -> None:
        """A message stands for itself, with its choice's outcome and what Azure's filter said."""
        index, reason = element.get("index"), element.get("finish_reason")
        data = event_data(message, choice=index, finish_reason=reason)
        if reason == "content_filter" and not _FILTER_KEYS.isdisjoint(element):
            data["filtered"] = True
        self._sink.wire("chat.message", data)

    def _wire_inner(self, inner: dict[str, Any], choice: Any) -> None:
        """Tells the elements of the lists in a delta or message."""
        if "tool_calls" not in inner and "reasoning_details" not in inner:
            return
        for name, kind in _UNROLLED.items():
            for part in elements(inner.get(name)):
                self._sink.wire(kind, event_data(part, choice=choice))

    def _choice_at(self, index: Any, position: int, field: str) -> Choice | None:
        """The choice of that index, which is open from here on; None where there are too many."""
        number = index if type(index) is int and index >= 0 else position
        choice = self._choices.get(number)
        if choice is None:
            if len(self._choices) >= MOST_CHOICES:
                return None
            choice = Choice(number, self._sink, self._reading, whole=field == "message")
            self._choices[number] = choice
        self._open[number] = choice
        return choice


def recognises(frame: Frame, payload: Any) -> bool:
    """A chunk, a completion or a list of models; an error or `[DONE]` alone names no dialect.

    Without its name a choice has to hold a delta or a message: others have choices, too. Together
    has deltas in streams of the API before this one.
    """
    del frame
    fields = mapping(payload)
    kind = string(fields.get("object"))
    if kind in COMPLETIONS or is_on_your_data(fields):
        return False
    named = kind.startswith("chat.completion") and kind != _DELETED
    choices = map(mapping, elements(fields.get("choices")))
    speaks = any("delta" in choice or "message" in choice for choice in choices)
    return named or speaks or _lists_models(fields)


def is_piece(payload: Any) -> bool:
    """A payload that calls itself a chunk and holds no message."""
    fields = mapping(payload)
    choices = map(mapping, elements(fields.get("choices")))
    is_chunk = fields.get("object") == "chat.completion.chunk"
    return is_chunk and not any("message" in choice for choice in choices)


def _repeated(choices: list[Any]) -> set[int]:
    """The positions of those that have the index of one before them."""
    met: set[int] = set()
    found: set[int] = set()
    for position, choice in enumerate(choices):
        index = mapping(choice).get("index")
        if type(index) is int:
            if index in met:
                found.add(position)
            met.add(index)
    return found


def _lists_models(fields: dict[str, Any]) -> bool:
    entries = elements(fields.get("data"))
    is_model = bool(entries) and string(mapping(entries[0]).get("object")) == "model"
    return fields.get("object") == "list" and is_model
