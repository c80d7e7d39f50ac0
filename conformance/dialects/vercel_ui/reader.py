"""Dialect `vercel.ui`: the UI message stream of the AI SDK, versions 5 to 7.

Rule 1: a part is a wire event of its `type`, with the payload as it stands; `data-<name>` are all
        `data`, with their type as `name`. A type that the SDK does not know is `part.unknown`.
Rule 2: `[DONE]` is `done`; before it `finish` says the reason. Without `[DONE]` the stream was cut,
        whatever else it said.
Rule 3: an `error` is a part like others: steps and message are finished after it. An `abort`
        ends what is open; nothing that comes after it is an answer.
Rule 4: a `start` of another message, or after `[DONE]`, begins the next answer.
Rule 5: beyond `MOST_OPEN` open parts a wire event `vercel.ui.overflow` ends the semantic events.
Rule 6: what belongs to a call says whether that call is known (`call_known`), and a whole input
        whether it is what its pieces say together (`input_streamed`), where this is known.
Rule 7: a `start` that gives a message another id than it has `renames` it; one whose message is
        another one than the interface continues, or has the id of an earlier one, is `astray`.
Rule 8: at the end of the stream the seals and outputs that an interface holds are `ui.held`, one
        for each part, and those that it sends in a message are `request.part`.

Calls of a UI message stream that an output may belong to.

A call is known once its input is whole, or where a message of the request has it. Where the request
is not known, the first parts of a message may go on with a call of the message before; once the
model has shown anything, an output of an unknown call is astray.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.events import Ending, Event, Frame, Request
from conformance.core.json_values import NOT_JSON
from conformance.core.reading import Reading
from conformance.dialects.history import vocabulary
from conformance.dialects.json_edge import event_data, mapping, objects, string
from conformance.dialects.open_parts import MOST_OPEN, PartKind
from conformance.dialects.typed import TypedReader
from conformance.dialects.vercel_ui.held import HeldParts, sent_parts
from conformance.dialects.vercel_ui.parts import OVERFLOW, UiParts
from conformance.dialects.vercel_ui.wire_keys import PARTS

_WHOLE: Final = frozenset({"tool-input-available", "tool-input-error"})
_AFTERWARDS: Final = frozenset(
    {
        *("tool-output-available", "tool-output-error", "tool-output-denied"),
        "tool-approval-request",
    }
)


class KnownCalls:
    """Ids of the calls that came so far; `has_shown` once the message has text or a call."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._has_request = False
        self.has_shown = False

    def read_request(self, request: Request) -> None:
        messages = mapping(request.json).get("messages")
        if isinstance(messages, list):
            self._has_request = True
            for message in objects(messages):
                for part in objects(message.get("parts")):
                    self._add(string(part.get("toolCallId")))

    def next_message(self) -> None:
        """Another message begins; it may go on with a call of the one before."""
        self.has_shown = False

    def about(self, kind: str, part: Mapping[str, Any]) -> dict[str, bool]:
        """`call_known` of a part that belongs to a call; nothing where that is not known."""
        call_id = string(part.get("toolCallId"))
        if kind in _WHOLE:
            self._add(call_id)
        self.has_shown = self.has_shown or kind not in _AFTERWARDS
        if kind not in _AFTERWARDS or not call_id or len(self._ids) >= MOST_OPEN:
            return {}
        is_known = call_id in self._ids
        return {"call_known": is_known} if is_known or self._has_request or self.has_shown else {}

    def _add(self, call_id: str) -> None:
        if call_id and len(self._ids) < MOST_OPEN:
            self._ids.add(call_id)


NAME: Final = "vercel.ui"
_PARTS: Final = PARTS.types
_OF_TOOLS: Final = frozenset(kind for kind in _PARTS if kind.startswith("tool-"))
_OF_TEXTS: Final = frozenset(
    kind for kind in _PARTS if kind.startswith(("reasoning-", "text-"))
) - {"reasoning-file"}
_OF_HISTORY: Final = ("ui.held", "request.part")
VOCABULARY: Final = vocabulary(
    NAME, *_PARTS, "error", "data", "part.unknown", *_OF_HISTORY, OVERFLOW
)
_REASONS: Final = {"tool-calls": "tool_calls", "content-filter": "content_filter"}


class UiMessageReader(TypedReader[UiParts]):
    """Reader of one exchange."""

    content_type = UiParts
    unknown = "part.unknown"
    history = "messages"

    def __init__(self, reading: Reading) -> None:
        self._known = KnownCalls()
        self._asked: list[dict[str, Any]] = []  # messages of the request
        super().__init__(reading)

    def _renew(self) -> None:
        super()._renew()
        self._held = HeldParts()
        self._is_finished = False
        self._message_id = ""
        self._known.next_message()

    def request(self, request: Request) -> list[Event]:
        self._known.read_request(request)
        self._asked = list(objects(mapping(request.json).get("messages")))
        parts = (
            Event("request.part", {"position": position, **part}, 0, "wire")
            for position, each in enumerate(self._asked)
            if each.get("role") == "assistant"
            for part in sent_parts(each)
        )
        return [*super().request(request), *parts]

    def end(self, how: Ending, number: int) -> list[Event]:
        said = super().end(how, number)
        self._sink.begin(number)
        for held in self._held.events():
            self._sink.wire("ui.held", held)
        return [*said, *self._sink.events()]

    def read(self, frame: Frame, payload: Any, number: int) -> list[Event]:
        events = super().read(frame, payload, number)
        if payload is NOT_JSON and frame.data == "[DONE]" and frame.kind != "body":
            self._content.close()
            self._say_done()
            return self._sink.events()
        return events

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        kind = string(fields.get("type"))
        if kind.startswith("data-"):
            self._sink.wire("data", {**fields, "name": kind})
            return
        about = self._about_call(kind, fields) if kind in _OF_TOOLS else {}
        if kind == "start":
            self._announce(string(fields.get("messageId")), has_spoken=self._is_finished)
            about = self._about_start(string(fields.get("messageId")))
        known = kind in _PARTS or kind == "error"
        self._sink.wire(kind if known else self.unknown, event_data(payload, **about))
        self._held.take(kind, fields)
        if not self._content.is_over:
            self._read_part(kind, fields)

    def _about_start(self, message_id: str) -> dict[str, Any]:
        """`renames` where a message that has begun is given another id."""
        if not self._message_id:
            self._message_id = message_id
            return {"astray": self._is_astray(message_id)} if message_id and self._asked else {}
        return {"renames": True} if message_id not in ("", self._message_id) else {}

    def _is_astray(self, message_id: str) -> bool:
        """Whether the message is none that can follow those of the request (rule 7)."""
        last = self._asked[-1]
        if last.get("role") == "assistant" and last.get("id"):
            return message_id != string(last["id"])
        return any(message_id == each.get("id") for each in self._asked)

    def _about_call(self, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
        """How a part of a call fits those before it (rule 6)."""
        about = self._known.about(kind, fields)
        if kind == "tool-input-available" and "input" in fields:
            streamed = self._content.streamed_input(string(fields.get("toolCallId")))
            if streamed is not NOT_JSON:
                about["input_streamed"] = streamed == fields["input"]
        return about

    def _read_part(self, kind: str, fields: dict[str, Any]) -> None:
        if kind in _OF_TEXTS:
            self._read_text(kind, fields)
        elif kind in _OF_TOOLS:
            self._read_call(kind, fields)
        elif kind == "start":
            self._sink.start_message(message_id=string(fields.get("messageId")))
        elif kind == "start-step":
            self._content.start_step()
        elif kind == "finish-step":
            self._content.finish_step()
        elif kind in ("finish", "abort"):
            self._is_finished = True
            self._content.close()
            reason = string(fields.get("finishReason")) if kind == "finish" else kind
            if reason:
                finish = {"choice": 0, "reason": _REASONS.get(reason, reason)}
                self._sink.emit("finish", finish)
        elif kind == "error":
            message = string(fields.get("errorText"))
            self._sink.emit("error", {"choice": 0, "code": "", "message": message, "final": False})

    def _read_text(self, kind: str, fields: dict[str, Any]) -> None:
        text: PartKind = "reasoning" if kind.startswith("reasoning") else "text"
        if kind.endswith("start"):
            self._known.has_shown = True
            self._content.start_text(text, fields)
        elif kind.endswith("delta"):
            self._content.add_text(text, fields)
        else:
            self._content.end_text(text, fields)

    def _read_call(self, kind: str, fields: dict[str, Any]) -> None:
        if kind == "tool-input-start":
            self._content.start_call(fields)
        elif kind == "tool-input-delta":
            self._content.add_input(fields)
        elif kind.startswith("tool-input"):
            self._content.end_call(fields)


def recognises(_frame: Frame, payload: Any) -> bool:
    """A part that no other dialect has; `start`, `finish` and `error` without a text are any's."""
    fields = mapping(payload)
    kind = string(fields.get("type"))
    if kind in _OF_TEXTS:
        return isinstance(fields.get("id"), str)
    if kind in _OF_TOOLS:
        return isinstance(fields.get("toolCallId"), str)
    return kind == "error" and isinstance(fields.get("errorText"), str)
