"""What a client reports: one kind of event for every API.

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
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .surrogates import Halves

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
        """The event as JSON."""
        return {"type": self.type, "choice": self.choice, **self.data}


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

    def tell(self, kind: str, choice: int = 0, /, **fields: Any) -> None:
        """Add an event; fields that are None are left out."""
        data = {name: value for name, value in fields.items() if value is not None}
        added = _DELTAS.get(kind)
        if added is None:
            if kind in _ENDS:
                self._release()
        else:
            place = (kind, choice, *(item for item in data.items() if item[0] != added))
            data[added] = self._halves.join(place, data[added])
            if not data[added]:
                return
        self._events.append(Event(kind, data, choice))

    def _release(self) -> None:
        """Tell half a character that was held back: something else comes."""
        for kind, choice, *fields in self._halves.release():
            data = {**dict(fields), _DELTAS[kind]: "\ufffd"}
            self._events.append(Event(kind, data, choice))

    def take(self) -> list[Event]:
        """Hand over what was reported since the last time."""
        events, self._events = self._events, []
        return events
