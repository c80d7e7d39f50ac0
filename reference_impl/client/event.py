"""The events that a client reports: one kind for every API.

The fields beside `type` and `choice`, those with `?` only where the wire gave them:

    message.start   role, id?                     thinking.start  block, channel, explicit, id?
    thinking.delta  block, channel, part?, text   thinking.part   block, part
    thinking.end    block, explicit               thinking.opaque block?, kind, data
    text.start      block                         text.delta      block, text, phase?
    text.end        block                         refusal.delta   text
    tool.start      index, id?, name?, hosted?    tool.delta      index, arguments
    tool.end        index, id?, name?, hosted?, arguments
    finish          reason
    usage           input?, output?, reasoning?, total?
    error           code, message, status?        done            explicit
    cut             how

Rule 1: null and empty strings never open, extend or close anything.
Rule 2: thinking that the wire never announced is started before its first delta, once per block.
Rule 3: a block ends at text, at a tool call, at the finish, or where the stream breaks off.

A server that counts in UTF-16 may end a delta in the middle of a character, and JSON lets it. Half
a character is held back until the other half comes, and is U+FFFD where none does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .payload import count_of, object_of, text_of

_HALF: Final = re.compile("[\ud800-\udfff]")
Place = tuple[Any, ...]
_FIRST: Final = re.compile("[\ud800-\udbff]\\Z")


def whole(text: str) -> str:
    """The text with halves joined, or replaced where they stand alone."""
    if text.isascii() or not _HALF.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Halves:
    """First halves that wait for the next delta of the same place."""

    def __init__(self) -> None:
        self._held: dict[Place, str] = {}

    def join(self, place: Place, text: str) -> str:
        """The text of a delta, without a half at its end and with the one before it."""
        text = self._held.pop(place, "") + text if self._held else text
        if not text.isascii() and _FIRST.search(text):
            self._held[place], text = text[-1], text[:-1]
        return whole(text)

    def release(self) -> list[Place]:
        """The places at which a half is still waiting; none afterwards."""
        places = list(self._held)
        self._held.clear()
        return places


TYPES: Final = (
    "message.start",
    "thinking.start",
    "thinking.delta",
    "thinking.part",
    "thinking.end",
    "thinking.opaque",
    "text.start",
    "text.delta",
    "text.end",
    "refusal.delta",
    "tool.start",
    "tool.delta",
    "tool.end",
    "usage",
    "finish",
    "error",
    "done",
    "cut",
)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. `data` has the fields of its type, never null."""

    type: str
    data: Mapping[str, Any]
    choice: int = 0

    def plain(self) -> dict[str, Any]:
        return {"type": self.type, "choice": self.choice, **self.data}


REASONS: Final = {
    "function_call": "tool_calls",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
    # Converse
    "model_context_window_exceeded": "length",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
    # Cohere
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "TOOL_CALL": "tool_calls",
    # Interactions, whose status says why
    "requires_action": "tool_calls",
    "budget_exceeded": "length",
    # Gemini
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(
        (
            *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
            *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR"),
        ),
        "content_filter",
    ),
}
# Codes between these are statuses of HTTP.
_STATUSES: Final = range(100, 600)


# Deltas -> the field that says what is added; halves of characters are joined there.
_DELTAS: Final = {
    "thinking.delta": "text",
    "text.delta": "text",
    "refusal.delta": "text",
    "tool.delta": "arguments",
}
_ENDS: Final = frozenset({"thinking.end", "text.end", "tool.end", "finish", "done", "cut"})


class Report:
    """The events that one piece of the stream gives, in order."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._halves = Halves()

    def add(self, kind: str, choice: int = 0, /, **fields: Any) -> None:
        """Add an event; fields that are None are left out."""
        data = {name: value for name, value in fields.items() if value is not None}
        added = _DELTAS.get(kind)
        if added is None:
            if kind in _ENDS:
                self._release_held()
        else:
            place = (kind, choice, *(item for item in data.items() if item[0] != added))
            data[added] = self._halves.join(place, data[added])
            if not data[added]:
                return
        self._events.append(Event(kind, data, choice))

    def _release_held(self) -> None:
        """Report half a character that was held back: something else comes."""
        for kind, choice, *fields in self._halves.release():
            data = {**dict(fields), _DELTAS[kind]: "\ufffd"}
            self._events.append(Event(kind, data, choice))

    def take(self) -> list[Event]:
        """Hand over what was reported since the last time."""
        events, self._events = self._events, []
        return events

    def finish(self, reason: Any, choice: int = 0) -> None:
        """Report why the answer ends; reasons that nobody knows are reported as they are."""
        if text_of(reason):
            self.add("finish", choice, reason=REASONS.get(reason, reason))

    def usage(self, given: Any) -> None:
        """Report the tokens that an API counted, under whichever names it has for them."""
        counts = object_of(given)
        self.tokens(
            input=_first_count(counts, "prompt_tokens", "input_tokens"),
            output=_first_count(counts, "completion_tokens", "output_tokens"),
            reasoning=_reasoning_count(counts),
            total=_first_count(counts, "total_tokens"),
        )

    def tokens(self, **given: Any) -> None:
        """Report counts that have the client's names; what is no count is left out."""
        counts = {name: count_of(value) for name, value in given.items()}
        if any(value is not None for value in counts.values()):
            self.add("usage", **counts)

    def error(self, given: Any) -> None:
        """Report an error: an object with code or type and message, or a bare string."""
        if isinstance(given, str):
            self.add("error", code="", message=given)
            return
        fields = object_of(given)
        code = next((fields[key] for key in ("code", "type") if _is_code(fields.get(key))), "")
        codes = (fields.get("status_code"), fields.get("status"), code)
        status = next((value for value in codes if count_of(value) in _STATUSES), None)
        self.add("error", code=code, message=text_of(fields.get("message")), status=status)


def _first_count(counts: Mapping[str, Any], *names: str) -> int | None:
    found = (count_of(counts.get(name)) for name in names)
    return next((value for value in found if value is not None), None)


def _reasoning_count(counts: Mapping[str, Any]) -> int | None:
    details = (counts.get("output_tokens_details"), counts.get("completion_tokens_details"))
    places = (*map(object_of, details), counts)
    found = (_first_count(place, "reasoning_tokens", "thinking_tokens") for place in places)
    return next((value for value in found if value is not None), None)


def _is_code(value: Any) -> bool:
    return bool(text_of(value)) or count_of(value) is not None
